package repl

import (
	"errors"
	"io"
	"slices"
	"syscall"

	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/plain"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
)

// ending holds whether and how a repl ends.
type ending struct {
	over       bool
	next       slash.Next
	eof        bool // the input has ended
	reviews    int  // running reviews
	confirming bool // the next Ctrl-C quits
	outcome    event.Outcome
	ended      error // from outside; the session is left as it is
}

// noLine handles an error of reading a line. It returns false if the input has ended while a request waits for an
// answer, which the caller has to give.
func (r *repl) noLine(l typedLine, was wants) bool {
	switch {
	case errors.Is(l.err, errYield): // another question must be answered first
	case r.con.tty && plain.HungUp(r.con.in):
		r.ended, r.over = exit.BySignal(syscall.SIGHUP), true
	case errors.Is(l.err, errInterrupt):
		r.interrupt()
	case errors.Is(l.err, errEdit):
		r.edit(was, l.text)
	case errors.Is(l.err, io.EOF) && was.kind == aPrompt:
		r.endOfInput()
	case errors.Is(l.err, io.EOF):
		return false
	default:
		r.printLine(l.err.Error())
		r.over = true
	}
	return true
}

// endOfInput handles the end of the input. It quits; at the end of a pipe, it first waits until the work is done.
func (r *repl) endOfInput() {
	if r.eof = !r.con.tty || r.state.Running() == nil; !r.eof {
		r.submit("/quit")
		return
	}
	if r.state.Running() != nil { // from a pipe
		return
	}
	works := func() bool { return r.reviews > 0 || inBackground(&r.state) }
	if works() { // it was started from a pipe
		r.wait.until(func(event.Event) bool { return !works() })
		return
	}
	r.over = true
	if r.con.tty && !r.con.edits {
		r.con.print(r.con.echo, "\n")
	}
}

// inBackground reports whether a background task or a subagent is running.
func inBackground(s *state.State) bool {
	return slices.ContainsFunc(s.Tasks, func(t *state.Task) bool {
		return (t.Kind == event.BackgroundTask || t.Kind == event.SubagentTask) && t.State != state.TaskDone
	})
}

// interrupt handles Ctrl-C: it cancels the running task, if any. A second Ctrl-C quits. Without a terminal, Ctrl-C
// quits at once if no task runs.
func (r *repl) interrupt() {
	t := r.state.Running()
	switch {
	case r.confirming || !r.con.tty && t == nil:
		r.over = true
		r.outcome = event.Cancelled
		r.eof = true
	case t != nil:
		r.confirming, r.eof = true, !r.con.tty // the rest of a pipe is dropped, too
		r.program.Live.Send(event.Cancel{})
		r.printLine("cancelling; press Ctrl-C again to quit")
		dropQueue(r)
	default:
		r.confirming = true
		r.printLine("press Ctrl-C again, or Ctrl-D, to quit")
	}
}

// dropQueue moves the queued lines to the input history, because they may no longer be wanted after a cancel.
func dropQueue(r *repl) {
	r.ahead = nil
	if n := len(r.queue); n > 0 {
		r.con.earlier = append(r.con.earlier, slices.DeleteFunc(r.queue, slash.Private)...)
		r.queue = nil
		r.printLine(texts.Plural(n, "queued line") + " not sent; press Up at the prompt to get them back")
	}
}
