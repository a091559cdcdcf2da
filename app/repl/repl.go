// Package repl runs sessions line by line, on a terminal without a full screen or on pipes.
//
//	err := repl.Run(options, slash.Next{}, os.Stdin, os.Stdout, os.Stderr)
package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/term"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/input"
	"buddy/app/plain"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/app/version"
	"buddy/tmux"
	"buddy/views/markup"
)

// repl is a session on a terminal that is read line by line, or on pipes: for screen readers, terminals without cursor
// movement, and scripts. It uses the same events as the full screen. Only the goroutine of run accesses it.
//
// Lines are read even while the agent works, but then the prompt is shown only after something is typed. Some commands
// run at once; other lines are queued until the work is done.
type repl struct {
	program *compose.Program
	con     *console
	print   *plain.Remarks
	state   state.State     // running tasks and open requests
	ctx     context.Context // ends with the session
	lines   *input.History
	later   chan func()
	gone    chan struct{} // closed when later is no longer read
	typed   chan typedLine

	attachSaid bool // the hint for watching the first pane was printed

	listed map[string][]show.Row // by command: the rows of its last printed list, which numbers refer to

	asking
	wait holding
	text streamed
	ending
}

// holding keeps the next line from being read until a command has had its effect.
type holding struct {
	held     bool
	holds    int // count so far
	released func(event.Event) bool
}

// until starts to hold, until released returns true for an event.
func (h *holding) until(released func(event.Event) bool) {
	h.held, h.released = true, released
	h.holds++
}

// release stops holding if released returns true for the event.
func (h *holding) release(e event.Event) {
	if h.held && h.released != nil && h.released(e) {
		h.held = false
	}
}

// Wanted reports whether plain mode is needed, because the full screen is impossible with these files.
func Wanted(stdin, stdout *os.File) bool {
	return !term.IsTerminal(int(stdin.Fd())) || !term.IsTerminal(int(stdout.Fd())) || dumb()
}

// Run runs a new or resumed session line by line. When the user changes to another session, it runs that one.
func Run(f *compose.Options, first slash.Next, stdin, stdout, stderr *os.File) error {
	con := newConsole(stdin, stdout, stderr)
	if err := tmux.CheckOutside(os.Getenv); err != nil {
		return exit.Failure(err)
	}
	t, err := compose.NewDestination(f)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // its commands have ended or are reported
	if err := t.Reach(stderr); err != nil {
		return err
	}
	lines := input.OpenHistory()
	if con.edits {
		con.earlier = lines.Load()
	}
	here := input.NewFileIndex()
	options := *f
	n := first
	for n.Again = true; n.Again; options.Cleared = n.Resume == "" {
		r := &repl{con: con, lines: lines, later: make(chan func(), 1), gone: make(chan struct{}), typed: make(chan typedLine, 1), listed: make(map[string][]show.Row)}
		files := input.FileIndexes{Here: here}
		con.complete = func(word, before string) (string, []string) {
			return completeWord(completionsOf(r, &files), word, before)
		}
		if n.Prompt != "" {
			r.queue = []string{n.Prompt} // sent when the session runs
		}
		if err := r.session(&options, t, n.Resume); err != nil {
			return err
		}
		options.KeepModel(&r.program.Setup, r.info())
		n = r.next
		if err := r.piped(); err != nil {
			return cmp.Or(con.unwritten(), err)
		}
	}
	return con.unwritten()
}

// piped returns the error to exit with if the prompts came from a pipe that has ended and the last prompt failed.
func (r *repl) piped() error {
	switch {
	case !r.eof || r.con.tty:
		return nil
	case r.outcome == event.Cancelled:
		return exit.Error{Code: exit.Cancelled}
	case r.outcome != event.Completed && r.outcome != "" || r.print.Unstored:
		return exit.Error{Code: exit.Failed}
	}
	return nil
}

// session runs until the user leaves it.
func (r *repl) session(f *compose.Options, d *compose.Destination, resume string) error {
	p, err := compose.New(f, d, resume)
	if err != nil {
		return err
	}
	if r.con.keys, err = compose.BoundKeys(p.Config.Keys, p.Index); err != nil {
		p.Close(r.con.err)
		return err
	}
	ctx, stop := exit.UntilEnded()
	r.program, r.ctx = p, ctx
	defer stop()
	defer func() {
		r.con.restore()
		if r.ended != nil {
			p.Desert(r.con.err)
			return
		}
		if r.con.tty {
			p.Options.Programs.Leave(r.next.Reason())
		}
		if r.next.Again {
			compose.StayInWorktree(p)
		}
		p.Close(r.con.err)
		if info := r.state.Info; r.con.tty && !r.next.Again {
			if line := p.Farewell(info.Event.Title, info.Usage.SessionCost); line != "" {
				r.printLine(line)
			}
		}
	}()
	r.print = &plain.Remarks{Send: p.Live.Send, Target: p.Dest.Name, Err: stderr{r.con}, ShowToolCalls: p.Config.UI.ShowToolCalls}
	go p.Tidy()
	for _, line := range welcome(p) {
		r.printLine(line)
	}
	events, err := p.Begin(ctx)
	if err != nil {
		return exit.Failure(err)
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	r.wait.until(func(event.Event) bool { return false }) // until the initial messages are printed
	r.releaseSoon()
	r.run(ctx, events, interrupts)
	return r.ended
}

// welcome describes the model and the session, and where a resumed session ended.
func welcome(p *compose.Program) []string {
	info := p.Options.Model.Info()
	kind := "new session"
	if p.Journal.Stored() != nil {
		kind = "session " + p.ID
	}
	lines := []string{fmt.Sprintf("buddy %s · %s · %s · /help lists the commands", version.Number, info.Model, kind)}
	if p.Config.Active == nil && p.Problem != "" {
		lines = append(lines, "the built-in demo (no AI) answers, because "+p.Problem)
	}
	var prompt, answer string
	title, last := "", int64(0)
	for _, env := range newest(p) {
		last = env.Time
		if env.Branch != 0 {
			continue // a subagent's conversation
		}
		switch e := env.Payload.(type) {
		case event.SessionRenamed:
			title = e.Title
		case event.PromptSubmitted:
			prompt, answer = e.Text, ""
		case event.ModelMessage:
			answer = e.Message.Content
		}
	}
	if prompt != "" {
		lines = append(lines, "the last prompt was: "+markup.Shorten(prompt, 200))
	}
	if answer != "" {
		lines = append(lines, "the last answer was: "+markup.Shorten(answer, 600))
	}
	if prompt != "" || answer != "" {
		lines = append(lines, compose.ResumedLine(&p.Setup, title, last, time.Now()))
	}
	return lines
}

// newest returns the last events of a resumed session, to show how it ended. On an error it returns none.
func newest(p *compose.Program) []event.Envelope {
	if p.Journal.Stored() == nil {
		return nil
	}
	j, tail, err := p.View()
	if err != nil {
		return nil
	}
	_ = j.Close() // only read
	return tail.Events
}

const (
	spinEvery = time.Second
	holdTime  = 200 * time.Millisecond // for a command to print something
)

// run handles lines and events until the session is over.
func (r *repl) run(ctx context.Context, events <-chan event.Envelope, interrupts <-chan os.Signal) {
	tick := time.NewTicker(spinEvery)
	defer tick.Stop()
	tick.Stop()
	defer close(r.gone)
	ticking := false
	for !r.over {
		r.ask()
		if works := r.works(); works != ticking {
			if ticking = works; works {
				tick.Reset(spinEvery)
			} else {
				tick.Stop()
			}
		}
		select {
		case <-ctx.Done():
			r.ended = context.Cause(ctx)
			return
		case env, open := <-events:
			if !open {
				r.ended = context.Cause(ctx)
				return
			}
			r.apply(env)
		case l := <-r.typed:
			r.reading = false
			r.typedIn(l)
		case f := <-r.later:
			f()
		case <-tick.C:
			r.spin()
		case <-interrupts:
			r.interrupt()
		}
	}
}

// works reports whether the user can only wait: the agent is working and no question is open, or a command has not had
// its effect yet.
func (r *repl) works() bool {
	return r.wait.held || r.state.Running() != nil && r.wants.kind == aPrompt
}

func (r *repl) spin() {
	t := r.state.Running()
	if t == nil || !r.works() {
		return
	}
	if d := time.Since(time.UnixMilli(t.Started)).Round(time.Second); d > 0 {
		text := "working " + d.String()
		if percent, left, ok := r.state.Coming.Reading.Left(time.Now().UnixMilli()); ok {
			text = fmt.Sprintf("reading the prompt, %d%%, about %v left", percent, (time.Duration(left+999) * time.Millisecond).Truncate(time.Second))
		}
		r.con.spin(text + ", Ctrl-C cancels")
	}
}

// releaseSoon stops holding after holdTime, because not every command has an effect that can be seen in an event.
func (r *repl) releaseSoon() {
	n := r.wait.holds
	time.AfterFunc(holdTime, func() { r.post(func() { r.wait.held = r.wait.held && r.wait.holds != n }) })
}

// command sends a command to the runtime. No line is read before the command has had its effect.
func (r *repl) command(c event.Command) {
	wait := leadsTo(c, r.state.Running() != nil)
	if wait == nil {
		wait = func(event.Event) bool { return true }
		defer r.releaseSoon()
	}
	_, review := c.(event.Review)
	if review {
		r.reviews++
	}
	r.wait.until(func(e event.Event) bool {
		if _, failed := e.(event.Error); failed {
			s, ok := c.(event.Submit)
			_, goal := c.(event.SetGoal)
			_, loop := c.(event.StartLoop)
			if goal || loop || ok && !s.Background {
				r.outcome = event.Failed // the prompt was rejected
			}
			if review {
				r.reviews-- // it was not started
			}
			return true
		}
		return event.Durable(e) && wait(e)
	})
	r.program.Live.Send(c)
}

// startsLoop returns a function that recognizes the first run of a loop or, if the run has to wait for the running
// task, the loop itself.
func startsLoop(working bool) func(event.Event) bool {
	return func(e event.Event) bool {
		p, ok := e.(event.TaskStarted)
		return ok && (working || p.Kind == event.MainTask)
	}
}

// leadsTo returns a function that recognizes the event with a command's effect, nil if no event is known. working means
// that a task runs when the command is sent.
func leadsTo(c event.Command, working bool) func(event.Event) bool {
	switch c := c.(type) {
	case event.Submit, event.Continue:
		return is[event.TaskStarted]
	case event.StartLoop:
		return startsLoop(working)
	case event.SetGoal:
		return func(e event.Event) bool {
			p, ok := e.(event.PromptSubmitted)
			return is[event.TaskStarted](e) || ok && p.Queued
		}
	case event.ChangeGoal:
		if c.To == event.GoalActive && !working {
			return is[event.TaskStarted]
		}
		return is[event.GoalChanged]
	case event.AnswerApproval:
		return is[event.ApprovalAnswered]
	case event.Undo, event.Rewind, event.Redo:
		return undone
	case event.Review:
		return func(e event.Event) bool {
			n, ok := e.(event.Notice)
			return is[event.ReviewFinished](e) || ok && n.Code == event.ReviewStarted // it continues in the background
		}
	case event.Answer:
		return is[event.QuestionAnswered]
	}
	return nil
}

// is reports whether e is of type E.
func is[E event.Event](e event.Event) bool {
	_, ok := e.(E)
	return ok
}

// undone reports whether an event is the result of an undo, rewind or redo.
func undone(e event.Event) bool {
	switch e := e.(type) {
	case event.HistoryRewound:
		return true
	case event.FileRestored:
		return !e.Rewind
	case event.Warning:
		return e.Code == "undo"
	}
	return false
}

// post makes run call f on its goroutine, unless the session is over. post may wait for run, so f must not call post.
func (r *repl) post(f func()) {
	select {
	case r.later <- f:
	case <-r.gone:
	}
}

// printLine prints a message that is not the model's answer.
func (r *repl) printLine(text string) { r.con.print(r.con.err, markup.Plain(text)+"\n") }

func (r *repl) info() event.SessionCreated { return r.state.Info.Event }

func (r *repl) failed(what string, err error) { r.printLine(what + ": " + err.Error()) }

// change ends this session's screen and opens another session, unless a task is running.
func (r *repl) change(id string) error {
	if why := slash.Busy(&r.state); why != "" {
		return errors.New(why)
	}
	r.next, r.over = slash.Next{Again: true, Resume: id}, true
	return nil
}

// runBeforeNext runs work in the background, and then, on run's goroutine, the function that work returns. No line is
// read before that function has run. If the session ends first, the function is not run.
func (r *repl) runBeforeNext(work func() func()) {
	r.wait.until(func(event.Event) bool { return false })
	r.runBackground(func() func() {
		apply := work()
		return func() { r.wait.held = false; apply() }
	})
}

// runBackground is like runBeforeNext, but lines are read in the meantime.
func (r *repl) runBackground(work func() func()) {
	go func() {
		r.post(work())
	}()
}
