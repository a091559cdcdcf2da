// Package plain prints the events of a session as lines of text, for output that is not a full screen.
//
//	r := plain.Remarks{Err: os.Stderr, Prefix: "buddy: ", ShowToolCalls: true}
//	r.Remark(event.Notice{Text: "the session keeps running"})
package plain

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/record"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/views/markup"
	"buddy/views/words"
)

// Remarks prints the events of a session as lines, one per event.
type Remarks struct {
	Send          func(event.Command) bool // to the runtime; only Approve uses it
	Target        string                   // the target of the session at its start
	Err           io.Writer
	Prefix        string              // of each line
	Reword        func(string) string // rewords buddy's texts for places where nobody can type; nil: unchanged
	Quiet         bool                // print only errors and warnings about inactive restrictions
	Unattended    bool                // nobody is asked: calls that need approval are denied
	ShowToolCalls bool                // else tool calls are printed only if they fail or do not run
	Unstored      bool                // the session file misses some events
	blamed        bool                // an error has explained why the exchange fails

	asking sync.Mutex          // held while a question is on the terminal
	health event.Health        // of the context
	fates  map[string]fate     // by call id
	items  map[string][]string // of the steps of the running workflow
}

// Ended describes how an exchange without an answer ended.
func Ended(o event.Outcome) string {
	switch o {
	case event.Cancelled:
		return "cancelled"
	case event.GoalLimit:
		return "stopped: the goal's limit is reached"
	case event.MaxTurns:
		return "stopped: the turn limit is reached"
	case event.MaxCost:
		return "stopped: the cost limit is reached"
	case event.ContextLimit:
		return "stopped: the context is full"
	}
	return "failed"
}

// End returns the message to print when an exchange has ended without an answer, "" if an error has already explained
// the failure.
func (m *Remarks) End(o event.Outcome) string {
	blamed := m.blamed
	m.blamed = false
	if blamed && o == event.Failed {
		return ""
	}
	return Ended(o)
}

// Remark prints events other than answers and questions.
func (m *Remarks) Remark(e event.Event) {
	switch p := e.(type) {
	case event.ToolRequested:
		m.requested(p)
	case event.ApprovalAnswered:
		if p.Decision == event.Deny {
			m.note(p.CallID, func(f *fate) { f.denied = denial(p) })
		}
	case event.ToolStarted:
		m.note(p.CallID, func(f *fate) { f.started, f.denied = true, "" })
	case event.ToolResult:
		m.result(p)
	case event.ModelRetry:
		m.retry(p)
	case event.ModelFallback:
		m.Say("%s · using %s (%s) for some minutes", p.Reason(), p.Model, p.To)
	case event.ToolOutput:
		m.progress(p)
	case event.ToolWaits:
		m.waits(p)
	case event.WorkflowStarted, event.WorkflowStepped, event.WorkflowChanged:
		m.workflow(p)
	case event.ContextUsage, event.ContextCompacting:
		m.context(p)
	case event.BudgetWarning, event.BudgetExceeded, event.ReviewFinished, event.GoalChanged, event.Warning, event.Remark, event.FallbackEnded:
		m.printDirect(p)
	case event.Error:
		m.Unstored, m.blamed = m.Unstored || p.Code == record.Broken, true
		m.Fail("%s", m.reworded(texts.WithNext(p.Text, p.NextStep)))
	}
}

// reworded applies Reword to one of buddy's texts.
func (m *Remarks) reworded(text string) string {
	if m.Reword == nil {
		return text
	}
	return m.Reword(text)
}

// retry prints that a request is sent again, the first time with the whole reason.
func (m *Remarks) retry(p event.ModelRetry) {
	why := p.Why
	if p.Attempt > 1 {
		why = cmp.Or(p.Short, p.Why)
	}
	attempt := fmt.Sprintf("attempt %d", p.Attempt+1)
	if p.Of > 0 {
		attempt += fmt.Sprintf(" of %d", p.Of)
	}
	m.Say("%s · %s in %.1f s", m.reworded(why), attempt, float64(p.WaitMS)/1000)
}

// context prints that the context starts to fill up, or that the model starts to summarise it. More urgent messages
// come as warnings.
func (m *Remarks) context(e event.Event) {
	if p, ok := e.(event.ContextCompacting); ok {
		if p.By == "summary" {
			m.Say("compacting the context: the model is writing a summary")
		}
		return
	}
	p, _ := e.(event.ContextUsage)
	if begins := p.Health == event.Hint && m.health == event.Healthy; begins {
		m.Say("%s", m.reworded(fmt.Sprintf("the context window is %d %% full (about %d of %d tokens) · %s", p.Percent, p.Estimated, p.Limit, p.NextStep)))
	}
	m.health = p.Health
}

// printDirect prints events that are messages to the user.
func (m *Remarks) printDirect(e event.Event) {
	switch p := e.(type) {
	case event.BudgetWarning:
		m.Say("this prompt has used %s", p.Text())
	case event.BudgetExceeded:
		m.Say("this prompt has used %s", event.BudgetWarning(p).Text())
	case event.ReviewFinished:
		m.Say("%s", p.Summary())
	case event.GoalChanged:
		if text := p.Text(); text != "" {
			m.Say("%s", m.reworded(text))
		}
	case event.Notice:
		m.Say("%s", m.reworded(p.Text))
	case event.Remark:
		m.Say("%s", p.Line())
	case event.FallbackEnded:
		m.Say("%s answers again", p.To)
	case event.Warning:
		say := m.Say
		if p.Code == event.LostLimit {
			say = m.Fail
		}
		say("%s", m.reworded(texts.WithNext(p.Text, p.NextStep)))
	}
}

// workflow prints the progress of a workflow run or of one of its steps.
func (m *Remarks) workflow(e event.Event) {
	switch p := e.(type) {
	case event.WorkflowStarted:
		m.items = make(map[string][]string)
		m.Say("workflow %s, %d steps", p.Name, len(p.Steps))
	case event.WorkflowStepped:
		if p.Items != nil && m.items != nil {
			m.items[p.Step] = p.Items
		}
		what := p.Step
		if all := m.items[p.Step]; p.Item > 0 && p.Item <= len(all) {
			what += " for " + all[p.Item-1]
		} else if p.Item > 0 {
			return // the step's own line shows it
		}
		if p.Attempt > 1 {
			what += fmt.Sprintf(" (try %d)", p.Attempt)
		}
		text := p.State.Sign() + " " + what + ": " + string(p.State)
		if p.Why != "" {
			text += " (" + p.Why + ")"
		}
		m.Say("%s", text)
	case event.WorkflowChanged:
		text := "workflow " + string(p.State)
		if p.Why != "" {
			text += ": " + p.Why
		}
		m.Say("%s", text)
	}
}

// fate describes a call that has no result yet.
type fate struct {
	call    words.Call
	started bool
	denied  string    // why it does not run, "" if nobody denied it
	server  bool      // a server runs it, whose output is progress
	printed time.Time // when progress was last printed
}

// note updates the fate of a call.
func (m *Remarks) note(call string, change func(*fate)) {
	if m.fates == nil {
		m.fates = make(map[string]fate)
	}
	f := m.fates[call]
	change(&f)
	m.fates[call] = f
}

// result prints how a call ended. An error of a call that never started is printed as "not run".
func (m *Remarks) result(p event.ToolResult) {
	was := m.fates[p.CallID]
	delete(m.fates, p.CallID)
	said := p.Text()
	switch {
	case was.denied != "":
		m.Say("⊘ not run (%s)", was.denied)
	case p.IsError && !was.started && !strings.HasPrefix(p.Result, "interrupted"): // an earlier process started it
		m.Say("⊘ not run: %s", markup.Shorten(strings.TrimPrefix(said, "not run: "), maxRefusal))
	case !m.ShowToolCalls && !p.IsError && (p.ExitCode == nil || *p.ExitCode == 0):
	case p.ExitCode != nil:
		m.Say("← exit %d  %.1f s", *p.ExitCode, float64(p.DurationMS)/1000)
	case p.IsError:
		m.Say("← %s", markup.Shorten(said, maxCall))
	default:
		m.Say("← %s", markup.Shorten(cmp.Or(was.call.Outcome(p.Outcome), p.Tail, said, "done"), maxCall))
	}
}

const maxRefusal = 500 // characters of the reason why a call was not run

// waits prints that a command waits for keys.
func (m *Remarks) waits(p event.ToolWaits) {
	if p.Waits {
		m.Say("the command is waiting for your input: type in its terminal pane")
	}
}

// progressPause is the least time between two printed lines of progress of a call.
const progressPause = 2 * time.Second

// progress prints the last line of progress that a server has reported, unless one was printed just before.
func (m *Remarks) progress(p event.ToolOutput) {
	was, now := m.fates[p.CallID], time.Now()
	if !m.ShowToolCalls || !was.server || now.Sub(was.printed) < progressPause {
		return
	}
	lines := strings.TrimRight(p.Text, "\n")
	last := strings.TrimSpace(ansi.Strip(lines[strings.LastIndexByte(lines, '\n')+1:]))
	if last == "" {
		return
	}
	m.note(p.CallID, func(f *fate) { f.printed = now })
	m.Say("… %s", markup.Shorten(last, maxCall))
}

// requested prints a call, and its target if it differs from the session's.
func (m *Remarks) requested(p event.ToolRequested) {
	m.note(p.CallID, func(f *fate) { f.call, f.server = words.Of(p), p.Action.Kind == action.MCP })
	if !m.ShowToolCalls {
		return
	}
	where := ""
	if p.Target != "" && p.Target != m.Target {
		where = " on " + p.Target
	}
	m.Say("▶ %s%s", markup.Shorten(words.Of(p).Line(), maxCall), where)
}

const maxCall = 120 // characters of a call, and of its outcome

// Say prints a message that is not an error.
func (m *Remarks) Say(format string, args ...any) {
	if !m.Quiet {
		m.Fail(format, args...)
	}
}

// Fail prints a message, even with Quiet.
func (m *Remarks) Fail(format string, args ...any) {
	_, _ = fmt.Fprintln(m.Err, m.Prefix+markup.Plain(fmt.Sprintf(format, args...)))
}

// withoutTerminal explains how to allow a call that was denied because nobody could be asked.
func withoutTerminal(a event.ApprovalAsked) string {
	switch {
	case a.Verdict.Rule == action.OwnKeys:
		return a.Verdict.Reason
	case a.Verdict.Rule == policy.ChangedUnseen:
		return a.Verdict.Reason + "; approve it in a session that can ask you"
	case a.Verdict.Rule == policy.Production, a.Verdict.Rule == policy.ChangedTool:
		return a.Verdict.Reason + ", even with --approve all"
	case a.Verdict.Rule == policy.HardLinks, a.Verdict.Rule == policy.ReadOnlyFile:
		return a.Verdict.Reason + ": buddy always asks about this, even with --approve all"
	case a.Context.AskedBy != "":
		return "the hook " + a.Context.AskedBy + " asks about it, even with --approve all"
	}
	return "--approve auto lets commands run in a sandbox, --approve all allows everything"
}
