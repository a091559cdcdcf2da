package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/views/markup"
)

// execute answers one prompt (I03): the answer on stdout, all else on stderr. end tells
// when it has taken too long, nil is never.
func execute(f *flags, prompt request, end <-chan time.Time, stdout, stderr *os.File) error {
	schema, err := readSchema(f.once.schema)
	if err != nil {
		return err
	}
	t, err := newDestination(f)
	if err != nil {
		return err
	}
	defer func() { _ = t.close() }() // whatever it says, the answer is there
	p, err := composeOnce(f, t, schema, stderr)
	if err != nil {
		return err
	}
	ctx, stop := untilEnded()
	defer stop()
	events, err := p.begin(ctx)
	if err != nil {
		p.close(stderr)
		return exit{code: exitFailed, text: err.Error()}
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	l := &line{
		program: p, out: stdout, err: stderr, style: newPlainText(stdout, stderr), prefix: "buddy: ", flags: f.once,
		limits: bounds{end: end, cost: p.options.MaxCost}, schema: schema,
	}
	p.live.send(event.Submit{Text: prompt.text, Images: prompt.images})
	outcome := l.follow(events, interrupts) // ends with ctx, too: then the events do
	if ctx.Err() != nil {
		p.desert(stderr)
		return context.Cause(ctx)
	}
	stored := p.end(stderr, f.once.said(stderr)) && !l.unstored
	return l.exit(outcome, stored)
}

// composeOnce is compose for one prompt: on a target that is there, with the limits of the
// command line, and in a session that can be written.
func composeOnce(f *flags, d *destination, schema *answerSchema, stderr *os.File) (*program, error) {
	if err := d.connect(f.once.said(stderr)); err != nil {
		return nil, err
	}
	if d.Away != nil {
		return nil, exit{code: exitFailed, text: d.Away.Error()}
	}
	p, err := compose(f, d, f.resume, f.approve)
	if err != nil {
		return nil, err
	}
	f.once.limit(&p.options)
	if schema != nil {
		p.options.System += schema.told() // not in the prompt, which gives the session its title
	}
	if err := p.journal.readOnly(); err != nil {
		p.close(stderr)
		return nil, failed(trustFirst(p.id, err))
	}
	return p, nil
}

// exit is what the process ends with.
func (l *line) exit(outcome event.Outcome, stored bool) error {
	switch {
	case outcome == event.Completed && l.broken != nil:
		return exit{code: exitFailed, text: fmt.Sprintf("stdout: %v", l.broken)}
	case outcome == event.Completed && stored:
		return nil
	case outcome == event.Cancelled:
		return exit{code: exitCancelled}
	}
	return exit{code: exitFailed}
}

// said is where goes what is no error.
func (o onceFlags) said(stderr io.Writer) io.Writer {
	if o.quiet {
		return io.Discard
	}
	return stderr
}

// limit puts the limits of the command line in place of those of the configuration.
func (o onceFlags) limit(to *agent.Options) {
	if o.turns.set {
		to.MaxTurns = o.turns.n
	}
	if o.cost.set {
		to.MaxCost = o.cost.max
	}
}

// bounds are those of all that exec asks of the model. The runtime's are for one exchange.
type bounds struct {
	end   <-chan time.Time
	cost  model.Money // 0 is no limit
	spent model.Money
	hit   string // what is said of the limit that was reached
}

// line prints a session as lines.
type line struct {
	program *program
	out     io.Writer
	err     io.Writer
	flags   onceFlags
	style   plainText
	prefix  string // of what goes to err
	limits  bounds
	schema  *answerSchema // nil: the answer may be anything
	answers int           // that did not fit it
	broken  error         // of out
	task    int           // that works on it
	text    string        // of the last answer

	unstored bool // the session file could not take all that happened
}

// follow prints events until there is an answer, or there will be none.
func (l *line) follow(events <-chan event.Envelope, interrupts <-chan os.Signal) event.Outcome {
	cancelled := false
	var late <-chan time.Time // when what was told to stop has not
	for {
		select {
		case <-interrupts:
			if cancelled || l.task == 0 { // nothing that could be cancelled in order
				return event.Cancelled
			}
			cancelled = true
			l.program.live.send(event.Cancel{})
		case <-l.limits.end:
			late = time.After(closeTime)
			l.stop("the timeout of " + time.Duration(l.flags.timeout).String() + " is over")
		case <-late:
			l.fail("stopped: %s", l.limits.hit)
			return event.Failed
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

// stop cancels the work because of a limit.
func (l *line) stop(why string) {
	l.limits.hit = why
	l.program.live.send(event.Cancel{})
}

// take prints one event; it returns the outcome when it was the last of the exchange.
func (l *line) take(env event.Envelope) event.Outcome {
	if l.flags.json {
		l.printJSON(env)
	}
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		l.submitted(env.Task, p)
	case event.Error:
		l.remark(p)
		if p.Code == "bad_command" && l.task == 0 {
			return event.Failed // the prompt was not taken
		}
	case event.QuestionAsked:
		l.say("? %s (nobody is there to answer)", p.Text)
		l.program.live.send(event.Answer{ID: p.ID, Nobody: true})
	case event.ModelMessage:
		l.message(p)
	case event.MetricsUsage:
		l.spend(p.Cost)
	case event.ApprovalAsked:
		if l.task == 0 && env.Branch == 0 {
			break // an earlier process asked; the prompt, which comes now, drops it
		}
		go l.approve(p)
	case event.TaskFinished:
		if p.ID == l.task {
			return l.finish(p.Outcome)
		}
	default:
		l.remark(env.Payload)
	}
	return ""
}

// submitted learns which task works on the prompt.
func (l *line) submitted(task int, p event.PromptSubmitted) {
	if !p.Queued {
		l.task = task
	}
	if l.limits.hit != "" { // before there was anything to cancel
		l.program.live.send(event.Cancel{})
	}
}

// spend counts what requests cost. The runtime ends the first exchange at the limit; one
// that asks for a better answer ends here.
func (l *line) spend(cost model.Money) {
	l.limits.spent += cost
	if max := l.limits.cost; l.answers > 0 && max > 0 && l.limits.spent >= max && l.limits.hit == "" {
		l.stop("the limit of cost is reached")
	}
}

// finish ends an exchange, unless its answer does not fit and the model may try again.
func (l *line) finish(o event.Outcome) event.Outcome {
	if o == event.Completed && l.schema != nil {
		value, err := l.schema.check(l.text)
		switch {
		case err == nil:
			l.text = value
		case l.unfit(err):
			return ""
		default:
			return event.Failed
		}
	}
	if o == event.Cancelled && l.limits.hit != "" {
		l.partial()
		l.fail("stopped: %s", l.limits.hit)
		return event.Failed
	}
	l.answer(o)
	return o
}

// unfit asks for another answer, unless there were enough.
func (l *line) unfit(err error) (again bool) {
	l.answers++
	if l.limits.hit == "" && l.answers < schemaTries {
		l.say("the answer does not fit %s: %v; asking again", l.schema.file, err)
		l.task = 0
		l.program.live.send(event.Submit{Text: l.schema.again(err)})
		return true
	}
	l.partial()
	l.fail("the answer does not fit %s, after %d tries: %v", l.schema.file, l.answers, err)
	if l.limits.hit != "" {
		l.fail("stopped: %s", l.limits.hit)
	}
	return false
}

// partial shows what was said that is not the answer.
func (l *line) partial() {
	if l.text != "" {
		l.say("%s", l.text)
	}
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
		l.partial()
		l.fail("%s", ended(o))
		return
	}
	if l.flags.json {
		return
	}
	text := l.style.out(l.text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(l.out, text)
	l.note(err)
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
func (l *line) remark(e event.Event) {
	switch p := e.(type) {
	case event.ToolRequested:
		l.requested(p)
	case event.ToolResult:
		switch {
		case p.ExitCode != nil:
			l.say("← exit %d  %.1f s", *p.ExitCode, float64(p.DurationMS)/1000)
		case p.IsError:
			l.say("← %s", markup.Shorten(p.Result, 120))
		default:
			l.say("← %s", markup.Shorten(p.Tail, 120))
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
		l.unstored = l.unstored || p.Code == "journal_broken"
		l.fail("%s", withNext(p.Text, p.NextStep))
	}
}

// requested prints a call, and where it works if that is not where the session began.
func (l *line) requested(p event.ToolRequested) {
	where := ""
	if p.Target != "" && p.Target != l.program.dest.Name {
		where = " on " + p.Target
	}
	l.say("▶ %s(%s)%s", p.Name, markup.Shorten(subject(p.Action, p.Arguments), 80), where)
}

// subject is what a call is about: its command or file, else its arguments.
func subject(a action.Action, arguments string) string {
	return cmp.Or(a.Command+a.Path, arguments)
}

// say prints what is no error.
func (l *line) say(format string, args ...any) {
	if !l.flags.quiet {
		l.fail(format, args...)
	}
}

func (l *line) fail(format string, args ...any) {
	_, _ = fmt.Fprintln(l.err, l.prefix+l.style.err(fmt.Sprintf(format, args...)))
}

// approve asks y/N on the terminal; without one it denies and says so (DECISIONS 30).
func (l *line) approve(a event.ApprovalAsked) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		l.say("denied, because there is no terminal to ask on: %s (--approve all allows everything)", markup.Shorten(a.Action.Command+a.Action.Path, 80))
		l.program.live.send(event.AnswerApproval{ID: a.ID, Decision: event.Deny, Nobody: true})
		return
	}
	defer func() { _ = tty.Close() }()
	what := a.Action.Command
	if what == "" {
		what = strings.TrimSpace(a.Action.Path + "\n" + a.Action.Preview)
	}
	_, _ = fmt.Fprintf(tty, "%s on %s · %s\n%s\n%s\n\nRun: [y/N] ", plain(a.Action.Tool), plain(a.Action.Target), plain(a.Verdict.Reason), whyLine(a.Action.Why), plain(what))
	reply, err := bufio.NewReader(tty).ReadString('\n')
	answer := event.AnswerApproval{ID: a.ID, Decision: event.Deny}
	if err != nil && hungUp(tty) {
		time.Sleep(hangupTime) // which ends the program, unless nobody sends it SIGHUP
		answer.Reason = "the terminal was closed"
	}
	if reply = strings.ToLower(strings.TrimSpace(reply)); reply == "y" || reply == "yes" {
		answer.Decision = event.Once
	}
	l.program.live.send(answer)
}

// hangupTime is how long after the end of its terminal the program learns of it at the latest.
const hangupTime = time.Second

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
	return "why: " + plain(why) + "\n"
}
