package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"buddy/agent/event"
)

// maxPrompt bounds a prompt that comes from stdin, in bytes.
const maxPrompt = 4 << 20

// readPrompt returns the prompt, which "-" takes from stdin.
func readPrompt(arg string, stdin io.Reader) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxPrompt+1))
	if err != nil {
		return "", exit{code: exitFailed, text: fmt.Sprintf("stdin: %v", err)}
	}
	if len(data) > maxPrompt {
		return "", usage("the prompt on stdin is larger than %d MiB", maxPrompt>>20)
	}
	return string(data), nil
}

// execute answers one prompt (I03): the answer on stdout, all else on stderr.
func execute(f *flags, prompt string, stdout, stderr *os.File) error {
	if strings.TrimSpace(prompt) == "" {
		return usage("the prompt is empty")
	}
	images, err := attached(prompt)
	if err != nil {
		return exit{code: exitFailed, text: err.Error()}
	}
	t, err := newTarget(f)
	if err != nil {
		return err
	}
	defer func() { _ = t.close() }() // whatever it says, the answer is there
	if err := t.connect(stderr); err != nil {
		return err
	}
	if t.away != nil {
		return exit{code: exitFailed, text: t.away.Error()}
	}
	p, err := compose(f, t, f.resume, f.approve)
	if err != nil {
		return err
	}
	if err := p.journal.readOnly(); err != nil {
		p.close(stderr)
		return exit{code: exitFailed, text: err.Error()}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	events, err := p.begin(ctx)
	if err != nil {
		p.close(stderr)
		return exit{code: exitFailed, text: err.Error()}
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)

	p.live.send(event.Submit{Text: prompt, Images: images})
	l := &line{program: p, out: stdout, err: stderr, json: f.json, style: newPlainText(stdout, stderr)}
	outcome := l.follow(events, interrupts)
	p.close(stderr)
	if err := l.broken; err != nil && outcome == event.Completed {
		return exit{code: exitFailed, text: fmt.Sprintf("stdout: %v", err)}
	}
	switch outcome {
	case event.Completed:
		return nil
	case event.Cancelled:
		return exit{code: exitCancelled}
	default:
		return exit{code: exitFailed}
	}
}

// line prints a session as lines.
type line struct {
	program *program
	out     io.Writer
	err     io.Writer
	json    bool
	style   plainText
	broken  error  // of out
	task    int    // that works on it
	text    string // of the last answer
}

// follow prints events until the exchange of our prompt has ended.
func (l *line) follow(events <-chan event.Envelope, interrupts <-chan os.Signal) event.Outcome {
	cancelled := false
	for {
		select {
		case <-interrupts:
			if cancelled || l.task == 0 { // nothing that could be cancelled in order
				return event.Cancelled
			}
			cancelled = true
			l.program.live.send(event.Cancel{})
		case env, open := <-events:
			if !open {
				return event.Failed
			}
			if outcome := l.take(env); outcome != "" {
				return outcome
			}
		}
	}
}

// take prints one event; it returns the outcome when it was the last of the exchange.
func (l *line) take(env event.Envelope) event.Outcome {
	if l.json {
		l.printJSON(env)
	}
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if !p.Queued {
			l.task = env.Task
		}
	case event.Error:
		l.remark(p)
		if p.Code == "bad_command" && l.task == 0 {
			return event.Failed // the prompt was not taken
		}
	case event.QuestionAsked:
		l.say("? %s (answered with nothing: nobody is there)", p.Text)
		l.program.live.send(event.Answer{ID: p.ID})
	case event.ModelMessage:
		l.message(p)
	case event.ApprovalAsked:
		go l.approve(p)
	case event.TaskFinished:
		if p.ID == l.task {
			l.answer(p.Outcome)
			return p.Outcome
		}
	default:
		l.remark(env.Payload)
	}
	return ""
}

// printJSON prints durable events and the deltas of text and tool output (EVENTS).
func (l *line) printJSON(env event.Envelope) {
	switch env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.ToolOutput:
	default:
		if !env.Payload.Durable() {
			return
		}
	}
	enc := json.NewEncoder(l.out)
	enc.SetEscapeHTML(false)
	l.note(enc.Encode(env))
}

// note keeps the first error of stdout and stops the work that nobody will read.
func (l *line) note(err error) {
	if err != nil && l.broken == nil {
		l.broken = err
		l.program.live.send(event.Cancel{})
	}
}

// message remembers an answer; one that calls tools is not the last and is a remark.
func (l *line) message(m event.ModelMessage) {
	if m.Reasoning != "" {
		l.say("✎ %s", m.Reasoning)
	}
	l.text = m.Message.Content
	if len(m.Message.ToolCalls) > 0 && strings.TrimSpace(l.text) != "" {
		l.say("%s", l.text)
	}
}

// answer prints the answer alone. What an exchange that did not complete had said goes
// to stderr: it is not an answer.
func (l *line) answer(o event.Outcome) {
	if o != event.Completed {
		if l.text != "" {
			l.say("%s", l.text)
		}
		l.say("%s", map[event.Outcome]string{
			event.Cancelled: "cancelled", event.MaxTurns: "stopped: the limit of turns is reached",
			event.MaxCost:      "stopped: the limit of cost is reached",
			event.ContextLimit: "stopped: the context is full", event.Failed: "failed",
		}[o])
		return
	}
	if l.json {
		return
	}
	text := l.style.out(l.text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(l.out, text)
	l.note(err)
}

// remark prints what is neither the answer nor a question.
func (l *line) remark(e event.Event) {
	switch p := e.(type) {
	case event.ToolRequested:
		l.requested(p)
	case event.ToolResult:
		switch {
		case p.ExitCode != nil:
			l.say("← exit %d  %.1f s", *p.ExitCode, float64(p.DurationMS)/1000)
		case p.IsError:
			l.say("← %s", shorten(p.Result, 120))
		default:
			l.say("← %s", shorten(p.Tail, 120))
		}
	case event.ModelRetry:
		l.say("attempt %d failed: %s; trying again in %.1f s", p.Attempt, p.Why, float64(p.WaitMS)/1000)
	case event.ModelFallback:
		l.say("%s; %s (%s) answers instead", p.Why, p.Model, p.To)
	case event.BudgetWarning:
		l.say("this prompt has used %s", p.Text())
	case event.BudgetExceeded:
		l.say("this prompt has used %s", event.BudgetWarning(p).Text())
	case event.Notice:
		l.say("%s", p.Text)
	case event.Warning:
		l.say("%s", withNext(p.Text, p.NextStep))
	case event.Error:
		l.say("%s", withNext(p.Text, p.NextStep))
	}
}

// requested prints a call, and where it works if that is not where the session began.
func (l *line) requested(p event.ToolRequested) {
	what := p.Action.Command + p.Action.Path
	if what == "" {
		what = p.Arguments
	}
	where := ""
	if p.Target != "" && p.Target != l.program.first.target.name {
		where = " on " + p.Target
	}
	l.say("▶ %s(%s)%s", p.Name, shorten(what, 80), where)
}

func (l *line) say(format string, args ...any) {
	_, _ = fmt.Fprintln(l.err, "buddy: "+l.style.err(fmt.Sprintf(format, args...)))
}

// approve asks y/N on the terminal; without one it denies and says so (DECISIONS 30).
func (l *line) approve(a event.ApprovalAsked) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		l.say("denied, because there is no terminal to ask on: %s (--approve all allows everything)", shorten(a.Action.Command+a.Action.Path, 80))
		l.program.live.send(event.Approve{ID: a.ID, Decision: event.Reject, Reason: "there is no terminal to ask on"})
		return
	}
	defer func() { _ = tty.Close() }()
	what := a.Action.Command
	if what == "" {
		what = strings.TrimSpace(a.Action.Path + "\n" + a.Action.Preview)
	}
	_, _ = fmt.Fprintf(tty, "%s on %s · %s\nwhy: %s\n\n%s\n\nRun: [y/N] ", plain(a.Action.Tool), plain(a.Action.Target), plain(a.Verdict.Reason), plain(a.Action.Why), plain(what))
	reply, _ := bufio.NewReader(tty).ReadString('\n')
	answer := event.Approve{ID: a.ID, Decision: event.Reject}
	if reply = strings.ToLower(strings.TrimSpace(reply)); reply == "y" || reply == "yes" {
		answer.Decision = event.Once
	}
	l.program.live.send(answer)
}

func withNext(text, next string) string {
	if next == "" {
		return text
	}
	return text + " · " + next
}

// shorten puts s on one line of at most n characters.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
