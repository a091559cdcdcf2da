// Package plain prints what happens as lines of text, for terminals, files and pipes.
//
//	r := plain.Remarks{Err: os.Stderr, Prefix: "buddy: "}
//	r.Remark(event.Notice{Text: "the session goes on"})
package plain

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/views/markup"
)

// Remarks prints what happens in a session as lines, one an event.
type Remarks struct {
	Send     func(event.Command) bool // to the runtime; only Approve uses it
	Target   string                   // where the session began
	Err      io.Writer
	Prefix   string // of each line
	Quiet    bool   // only errors are printed
	Unstored bool   // the session file could not take all that happened
}

// Ended says how an exchange without an answer ended.
func Ended(o event.Outcome) string {
	switch o {
	case event.Cancelled:
		return "cancelled"
	case event.MaxTurns:
		return "stopped: the limit of turns is reached"
	case event.MaxCost:
		return "stopped: the limit of cost is reached"
	case event.ContextLimit:
		return "stopped: the context is full"
	}
	return "failed"
}

// Remark prints what is neither the answer nor a question.
func (m *Remarks) Remark(e event.Event) {
	switch p := e.(type) {
	case event.ToolRequested:
		m.requested(p)
	case event.ToolResult:
		switch {
		case p.ExitCode != nil:
			m.Say("← exit %d  %.1f s", *p.ExitCode, float64(p.DurationMS)/1000)
		case p.IsError:
			m.Say("← %s", markup.Shorten(p.Result, 120))
		default:
			m.Say("← %s", markup.Shorten(p.Tail, 120))
		}
	case event.ModelRetry:
		m.Say("attempt %d failed: %s; trying again in %.1f s", p.Attempt, p.Why, float64(p.WaitMS)/1000)
	case event.ModelFallback:
		m.Say("%s; %s (%s) answers instead", p.Why, p.Model, p.To)
	case event.BudgetWarning:
		m.Say("this prompt has used %s", p.Text())
	case event.BudgetExceeded:
		m.Say("this prompt has used %s", event.BudgetWarning(p).Text())
	case event.Notice:
		m.Say("%s", p.Text)
	case event.Warning:
		m.Say("%s", withNext(p.Text, p.NextStep))
	case event.Error:
		m.Unstored = m.Unstored || p.Code == "journal_broken"
		m.Fail("%s", withNext(p.Text, p.NextStep))
	}
}

// requested prints a call, and where it works if that is not where the session began.
func (m *Remarks) requested(p event.ToolRequested) {
	where := ""
	if p.Target != "" && p.Target != m.Target {
		where = " on " + p.Target
	}
	m.Say("▶ %s(%s)%s", p.Name, markup.Shorten(Subject(p.Action, p.Arguments), 80), where)
}

// Subject returns what a call is about: its command or file, else its arguments.
func Subject(a action.Action, arguments string) string {
	return cmp.Or(a.Command+a.Path, arguments)
}

// Say prints what is no error.
func (m *Remarks) Say(format string, args ...any) {
	if !m.Quiet {
		m.Fail(format, args...)
	}
}

// Fail prints what is said with Quiet, too.
func (m *Remarks) Fail(format string, args ...any) {
	_, _ = fmt.Fprintln(m.Err, m.Prefix+markup.Plain(fmt.Sprintf(format, args...)))
}

// withoutTerminal returns how to allow what was denied because nobody could be asked.
func withoutTerminal(v action.Verdict) string {
	if v.Rule == action.OwnKeys {
		return v.Reason
	}
	return "--approve all allows everything"
}

// Approve asks y/N on the terminal of the process, which takes as long as the person does; without
// one it denies and says so.
func (m *Remarks) Approve(a event.ApprovalAsked) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		if closed(os.Stdin, os.Stdout, os.Stderr) { // between the question and its text
			time.Sleep(hangupTime) // which ends the program, and the approval stays open
		}
		m.Say("denied, because there is no terminal to ask on: %s (%s)", markup.Shorten(a.Action.Command+a.Action.Path, 80), withoutTerminal(a.Verdict))
		m.Send(event.AnswerApproval{ID: a.ID, Decision: event.Deny, Nobody: true})
		return
	}
	defer func() { _ = tty.Close() }()
	what := a.Action.Command
	if what == "" {
		what = strings.TrimSpace(a.Action.Path + "\n" + a.Action.Preview)
	}
	_, _ = fmt.Fprintf(tty, "%s on %s · %s\n%s\n%s\n\nRun: [y/N] ", markup.Plain(a.Action.Tool), markup.Plain(a.Action.Target), markup.Plain(a.Verdict.Reason), whyLine(a.Action.Why)+failedLine(a.Context.Failed), markup.Plain(what))
	reply, err := bufio.NewReader(tty).ReadString('\n')
	answer := event.AnswerApproval{ID: a.ID, Decision: event.Deny}
	if err != nil && HungUp(tty) {
		time.Sleep(hangupTime) // which ends the program, unless nobody sends it SIGHUP
		answer.Reason = "the terminal was closed"
	}
	if reply = strings.ToLower(strings.TrimSpace(reply)); reply == "y" || reply == "yes" {
		answer.Decision = event.Once
	}
	m.Send(answer)
}

func withNext(text, next string) string {
	if next == "" {
		return text
	}
	return text + " · " + next
}

// whyLine is the line with the model's reason, "" when it gave none.
func whyLine(why string) string {
	if strings.TrimSpace(why) == "" {
		return ""
	}
	return "why: " + markup.Plain(why) + "\n"
}

// failedLine is the line about the last call of the tool, "" when nothing went wrong.
func failedLine(failed string) string {
	if failed == "" {
		return ""
	}
	return "last: " + markup.Plain(failed) + "\n"
}
