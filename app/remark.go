package app

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

// remarks prints what happens in a session as lines, one an event.
type remarks struct {
	send     func(event.Command) bool
	target   string // where the session began
	err      io.Writer
	style    plainText
	prefix   string // of each line
	quiet    bool   // only errors are printed
	unstored bool   // the session file could not take all that happened
}

// ended says how an exchange without an answer ended.
func ended(o event.Outcome) string {
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

// remark prints what is neither the answer nor a question.
func (m *remarks) remark(e event.Event) {
	switch p := e.(type) {
	case event.ToolRequested:
		m.requested(p)
	case event.ToolResult:
		switch {
		case p.ExitCode != nil:
			m.say("← exit %d  %.1f s", *p.ExitCode, float64(p.DurationMS)/1000)
		case p.IsError:
			m.say("← %s", markup.Shorten(p.Result, 120))
		default:
			m.say("← %s", markup.Shorten(p.Tail, 120))
		}
	case event.ModelRetry:
		m.say("attempt %d failed: %s; trying again in %.1f s", p.Attempt, p.Why, float64(p.WaitMS)/1000)
	case event.ModelFallback:
		m.say("%s; %s (%s) answers instead", p.Why, p.Model, p.To)
	case event.BudgetWarning:
		m.say("this prompt has used %s", p.Text())
	case event.BudgetExceeded:
		m.say("this prompt has used %s", event.BudgetWarning(p).Text())
	case event.Notice:
		m.say("%s", p.Text)
	case event.Warning:
		m.say("%s", withNext(p.Text, p.NextStep))
	case event.Error:
		m.unstored = m.unstored || p.Code == "journal_broken"
		m.fail("%s", withNext(p.Text, p.NextStep))
	}
}

// requested prints a call, and where it works if that is not where the session began.
func (m *remarks) requested(p event.ToolRequested) {
	where := ""
	if p.Target != "" && p.Target != m.target {
		where = " on " + p.Target
	}
	m.say("▶ %s(%s)%s", p.Name, markup.Shorten(subject(p.Action, p.Arguments), 80), where)
}

// subject is what a call is about: its command or file, else its arguments.
func subject(a action.Action, arguments string) string {
	return cmp.Or(a.Command+a.Path, arguments)
}

// say prints what is no error.
func (m *remarks) say(format string, args ...any) {
	if !m.quiet {
		m.fail(format, args...)
	}
}

func (m *remarks) fail(format string, args ...any) {
	_, _ = fmt.Fprintln(m.err, m.prefix+m.style.err(fmt.Sprintf(format, args...)))
}

// approve asks y/N on the terminal; without one it denies and says so (DECISIONS 30).
func (m *remarks) approve(a event.ApprovalAsked) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		m.say("denied, because there is no terminal to ask on: %s (--approve all allows everything)", markup.Shorten(a.Action.Command+a.Action.Path, 80))
		m.send(event.Approve{ID: a.ID, Decision: event.Reject, Nobody: true})
		return
	}
	defer func() { _ = tty.Close() }()
	what := a.Action.Command
	if what == "" {
		what = strings.TrimSpace(a.Action.Path + "\n" + a.Action.Preview)
	}
	_, _ = fmt.Fprintf(tty, "%s on %s · %s\n%s\n%s\n\nRun: [y/N] ", markup.Plain(a.Action.Tool), markup.Plain(a.Action.Target), markup.Plain(a.Verdict.Reason), whyLine(a.Action.Why), markup.Plain(what))
	reply, err := bufio.NewReader(tty).ReadString('\n')
	answer := event.Approve{ID: a.ID, Decision: event.Reject}
	if err != nil && hungUp(tty) {
		time.Sleep(hangupTime) // which ends the program, unless nobody sends it SIGHUP
		answer.Reason = "the terminal was closed"
	}
	if reply = strings.ToLower(strings.TrimSpace(reply)); reply == "y" || reply == "yes" {
		answer.Decision = event.Once
	}
	m.send(answer)
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
