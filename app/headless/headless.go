// Package headless implements buddy exec: it answers one prompt, and exits, without a user interface.
//
//	err := headless.Run(options, headless.Options{Quiet: true}, []string{"what is this?"}, os.Stdin, os.Stdout, os.Stderr)
package headless

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/plain"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/markup"
)

// Run answers one prompt, from the argument, piped input, or both: the answer goes to stdout, everything else to
// stderr.
func Run(f *compose.Options, once Options, args []string, stdin, stdout, stderr *os.File) error {
	var end <-chan time.Time // nil is never
	if once.Timeout > 0 {
		end = time.After(once.Timeout)
	}
	prompt, err := ReadPrompt(args, stdin, end, once, stderr)
	if err != nil {
		return err
	}
	if c, err := once.workflow(prompt.text); c != nil || err != nil {
		if err != nil {
			return err
		}
		return runWorkflow(f, once, c, end, stdout, stderr)
	}
	begin, err := once.begin(prompt)
	if err != nil {
		return err
	}
	schema, err := readSchema(once.Schema)
	if err != nil {
		return err
	}
	return run(f, once, begin, schema, end, stdout, stderr)
}

// run sends the first command and prints the result.
func run(f *compose.Options, once Options, first event.Command, schema *answerSchema, end <-chan time.Time, stdout, stderr *os.File) error {
	f.Headless = true
	t, err := compose.NewDestination(f)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // an error does not change the answer
	p, err := composeOnce(f, once, t, schema, stderr)
	if err != nil {
		return err
	}
	ctx, stop := exit.UntilEnded()
	defer stop()
	if w, ok := first.(event.RunWorkflow); ok { // otherwise the session of an unknown workflow would become the last one
		if _, err := p.Workflows.Find(ctx, w.Name); err != nil {
			p.Close(stderr)
			return exit.Failure(err)
		}
	}
	events, err := p.Begin(ctx)
	if err != nil {
		p.Close(stderr)
		return exit.Failure(err)
	}
	first, answer, err := meant(ctx, first, extensions{commands: p.Commands, prompt: func(ctx context.Context, words []string) (string, error) {
		p.Servers.Await(ctx)
		return p.Servers.AsPrompt(ctx, words)
	}})
	if err != nil || first == nil {
		p.Close(once.Said(stderr))
		_, _ = io.WriteString(stdout, answer)
		return err
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	l := &line{
		program: p,
		Remarks: plain.Remarks{Send: p.Live.Send, Target: p.Dest.Name, Err: stderr, Prefix: "buddy: ", Reword: slash.OnCommandLine, Quiet: once.Quiet, Unattended: p.Options.Mode == action.ModeAuto, ShowToolCalls: p.Config.UI.ShowToolCalls},
		out:     stdout, flags: once, readings: readings{shown: term.IsTerminal(int(stderr.Fd()))},
		limits: bounds{end: end, cost: p.Options.MaxCost}, schema: schema, passGates: f.Approve == action.ModeAll,
	}
	for _, e := range compose.LeftOut(ctx, p) {
		l.Remark(e)
	}
	p.Live.Send(first)
	outcome := l.follow(events, interrupts) // also returns after ctx ends, because that ends the events
	if ctx.Err() != nil {
		p.Desert(stderr)
		return context.Cause(ctx)
	}
	for _, w := range p.Servers.Unsaid() {
		l.Remark(w)
	}
	stored := p.End(stderr, once.Said(stderr)) && !l.Unstored
	return l.exit(outcome, stored)
}

// composeOnce composes the program for one prompt, with the limits of the command line. It returns an error if the
// target can't be reached or the session is read-only.
func composeOnce(f *compose.Options, once Options, d *compose.Destination, schema *answerSchema, stderr *os.File) (*compose.Program, error) {
	if err := d.Reach(once.Said(stderr)); err != nil {
		return nil, err
	}
	if d.Away != nil {
		return nil, exit.Failure(d.Away)
	}
	p, err := compose.New(f, d, once.Resume)
	if err != nil {
		return nil, err
	}
	once.limit(p)
	if schema != nil {
		p.Options.System += schema.instructions() // not in the prompt, which gives the session its title
	}
	if err := p.Journal.ReadOnly(); err != nil {
		p.Close(stderr)
		return nil, exit.Failure(compose.TrustFirst(p.ID, err))
	}
	return p, nil
}

// exit returns the error to exit with.
func (l *line) exit(outcome event.Outcome, stored bool) error {
	switch {
	case l.broken != nil: // the failed write has cancelled the task
		return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("stdout: %v", l.broken)}
	case outcome == event.Completed && stored && (l.met || !l.flags.goal()):
		return nil
	case outcome == event.Cancelled:
		return exit.Error{Code: exit.Cancelled}
	}
	return exit.Error{Code: exit.Failed}
}

// bounds holds the limits of a whole exec, which may have several exchanges. The runtime's limits apply to each
// exchange.
type bounds struct {
	end   <-chan time.Time
	cost  model.Money // 0 for no limit
	spent model.Money
	hit   string // the message about the exceeded limit
}

// line runs a prompt in a session and prints its events and answer.
type line struct {
	plain.Remarks
	program   *compose.Program
	out       io.Writer
	flags     Options
	limits    bounds
	schema    *answerSchema // nil if any answer is allowed
	answers   int           // answers that did not fit the schema
	met       bool          // whether the goal is met
	broken    error         // the error of writing to out
	task      int           // the task of the prompt
	passGates bool          // approve the gates of workflows
	repeats   repeats       // with --every
	text      string        // the last answer
	readings  readings      // progress of reading a prompt
	cut       bool          // the model's output limit cut the answer, which continues in the next message
}

// follow handles events until the answer is complete or can no longer come, and returns the outcome.
func (l *line) follow(events <-chan event.Envelope, interrupts <-chan os.Signal) event.Outcome {
	cancelled := false
	var late <-chan time.Time // set when a cancelled task does not end
	for {
		select {
		case <-interrupts:
			if cancelled || l.task == 0 { // nothing can be cancelled
				return event.Cancelled
			}
			cancelled = true
			l.program.Live.Send(event.Cancel{})
		case <-l.limits.end:
			if l.repeats.loop != 0 && l.task == 0 {
				return l.repeats.outcome()
			}
			late = time.After(compose.CloseTime)
			l.stop("the timeout of " + l.flags.Timeout.String() + " has expired")
		case <-late:
			l.Fail("stopped: %s", l.limits.hit)
			return event.Failed
		case env, open := <-events:
			if !open {
				return event.Failed
			}
			if outcome := l.handle(env); outcome != "" {
				return outcome
			}
		}
	}
}

// stop cancels the task because a limit was reached. why is the message about the limit.
func (l *line) stop(why string) {
	l.limits.hit = why
	l.program.Live.Send(event.Cancel{})
}

// handle prints one event; it returns the outcome if the event ended the exchange.
func (l *line) handle(env event.Envelope) event.Outcome {
	if l.flags.JSON {
		l.printJSON(env)
	}
	if env.Branch != 0 {
		l.handleParallel(env)
		return ""
	}
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		l.submitted(env.Task, p)
	case event.Error:
		return l.fault(p)
	case event.QuestionAsked:
		l.question(p)
	case event.ModelMessage, event.ResponseFinished:
		l.answering(p)
	case event.WorkflowChanged:
		return l.workflow(p)
	case event.ModelReading:
		l.read(p)
	case event.MetricsUsage:
		l.spend(p.Cost)
	case event.GoalChecked:
		l.met = p.Met
		l.Remark(p)
	case event.ApprovalAsked:
		l.approve(p)
	case event.TaskStarted, event.ExchangeFinished, event.TaskFinished:
		return l.stage(p)
	default:
		l.Remark(p)
	}
	return ""
}

// fault prints an error, and ends the work if the prompt was rejected.
func (l *line) fault(p event.Error) event.Outcome {
	l.Remark(p)
	if p.Code == event.BadCommand && l.task == 0 {
		return event.Failed
	}
	return ""
}

// read prints the server's progress with the prompt from time to time.
func (l *line) read(p event.ModelReading) {
	if text := l.readings.progress(p, time.Now()); text != "" {
		l.Say("%s", text)
	}
}

// approve asks the user about a call. It ignores approvals from before the prompt, which an earlier process left open
// and the prompt withdraws.
func (l *line) approve(p event.ApprovalAsked) {
	if l.task != 0 {
		go l.Approve(p)
	}
}

// question decides or asks about a workflow's gate. It answers any other question with "there is nobody to ask", and
// keeps a plan as the answer that exec prints.
func (l *line) question(q event.QuestionAsked) {
	switch {
	case q.Gate != "" && l.passGates && slices.Contains(q.Choices, event.GatePass):
		l.Say("%s\n  passed because of --approve all", plain.QuestionText(q))
		l.program.Live.Send(event.Answer{ID: q.ID, Text: event.GatePass})
		return
	case q.Gate != "":
		go l.Gate(q)
		return
	case q.Plan != "":
		l.text = q.Text
	default:
		l.Say("%s\n  not answered: there is nobody to ask", plain.QuestionText(q))
	}
	l.program.Live.Send(event.Answer{ID: q.ID, Nobody: true})
}

// handleParallel handles an event of a subagent's conversation. The subagent's texts and calls are not printed; the
// main conversation shows its task and result.
func (l *line) handleParallel(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.MetricsUsage:
		l.spend(p.Cost)
	case event.ApprovalAsked:
		go l.Approve(p)
	case event.QuestionAsked:
		l.program.Live.Send(event.Answer{ID: p.ID, Nobody: true})
	case event.Error, event.Warning:
		l.Remark(p)
	}
}

// submitted records the task of the prompt.
func (l *line) submitted(task int, p event.PromptSubmitted) {
	if !p.Queued {
		l.task = task
	}
	if l.limits.hit != "" { // the limit was hit before there was a task to cancel
		l.program.Live.Send(event.Cancel{})
	}
}

// spend adds the cost of requests. At the limit it stops the tries for a better answer; in the first exchange the
// runtime enforces the limit.
func (l *line) spend(cost model.Money) {
	l.limits.spent += cost
	if max := l.limits.cost; l.answers > 0 && max > 0 && l.limits.spent >= max && l.limits.hit == "" {
		l.stop("the cost limit is reached")
	}
}

// finish prints the result of an exchange. If the answer does not fit the schema, it asks the model to try again and
// returns "".
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
	if o == event.Completed && strings.TrimSpace(l.text) == "" && !l.flags.Workflow && !l.flags.goal() {
		return event.Failed // a warning has reported it
	}
	if o == event.Cancelled && l.limits.hit != "" {
		l.partial()
		l.Fail("stopped: %s", l.limits.hit)
		return event.Failed
	}
	l.answer(o)
	return o
}

// unfit asks the model for another answer and returns true. If the tries are used up or a limit was reached, it reports
// the error and returns false.
func (l *line) unfit(err error) (again bool) {
	l.answers++
	if l.limits.hit == "" && l.answers < schemaTries {
		l.Say("the answer does not fit %s: %v; asking again", l.schema.file, err)
		l.task = 0
		l.program.Live.Send(event.Submit{Text: l.schema.correction(err)})
		return true
	}
	l.partial()
	l.Fail("the answer does not fit %s, after %d tries: %v", l.schema.file, l.answers, err)
	if l.limits.hit != "" {
		l.Fail("stopped: %s", l.limits.hit)
	}
	return false
}

// partial prints text that is not the answer.
func (l *line) partial() {
	if l.text != "" {
		l.Say("%s", l.text)
	}
}

// printJSON prints durable events, queued calls, and the deltas of text and tool output.
func (l *line) printJSON(env event.Envelope) {
	switch env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.ToolOutput, event.ToolQueued:
	default:
		if !event.Durable(env.Payload) {
			return
		}
	}
	line, err := texts.JSON(env)
	if err == nil {
		_, err = l.out.Write(append(texts.PrintableJSON(line), '\n'))
	}
	l.note(err)
}

// note records the first error of a write to stdout, and cancels the task, because nobody would read its answer.
func (l *line) note(err error) {
	if err != nil && l.broken == nil {
		l.broken = err
		l.program.Live.Send(event.Cancel{})
	}
}

// answering handles the events about a model's answer.
func (l *line) answering(e event.Event) {
	switch p := e.(type) {
	case event.ModelMessage:
		l.message(p)
	case event.ResponseFinished:
		l.cut = p.FinishReason == model.FinishLength
	}
}

// message records the model's text as the answer. Text that comes with tool calls is also printed to stderr, because it
// is not the final answer.
func (l *line) message(m event.ModelMessage) {
	if m.Reasoning != "" {
		l.Say("✎ %s", m.Reasoning)
	}
	if !l.cut {
		l.text = ""
	}
	l.text += m.Message.Content
	if len(m.Message.ToolCalls) > 0 && strings.TrimSpace(l.text) != "" {
		l.Say("%s", l.text)
	}
}

// offer tells the user how to continue after a limit that applied only to this prompt, "" for other outcomes.
func (l *line) offer(o event.Outcome) string {
	if o != event.MaxTurns && o != event.MaxCost {
		return ""
	}
	return fmt.Sprintf("; to continue: buddy exec --resume %s \"continue\"", l.program.ID)
}

// answer prints only the answer to stdout. The text of an incomplete exchange goes to stderr, because it is not an
// answer.
func (l *line) answer(o event.Outcome) {
	if o != event.Completed {
		l.partial()
		if text := l.End(o); text != "" {
			l.Fail("%s%s", text, l.offer(o))
		}
		return
	}
	if l.flags.goal() && !l.met {
		l.partial()
		l.Fail("the goal is not met")
		return
	}
	if l.flags.JSON {
		return
	}
	if l.text == "" && l.flags.Workflow {
		return
	}
	text := markup.Answer(l.text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(l.out, text)
	l.note(err)
}
