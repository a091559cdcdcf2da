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

// ending holds how a repl ends.
type ending struct {
	over       bool
	next       slash.Next
	eof        bool // nothing more can be read
	reviews    int  // that were asked for and have not ended
	confirming bool // the next Ctrl-C ends it
	outcome    event.Outcome
	ended      error // from outside; the session is left as it is
}

// noLine deals with what came in the place of a line, unless that is the end of input where
// something was asked: it says nothing then.
func (r *repl) noLine(l typedLine, was wants) bool {
	switch {
	case errors.Is(l.err, errAside): // another question must be answered first
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
		r.say(l.err.Error())
		r.over = true
	}
	return true
}

// endOfInput leaves when the work is done.
func (r *repl) endOfInput() {
	if r.state.Running() != nil {
		r.submit("/quit")
		return
	}
	r.eof = true
	works := func() bool { return r.reviews > 0 || inBackground(&r.state) }
	if works() { // what began it came from a pipe
		r.wait.until(func(event.Event) bool { return !works() })
		return
	}
	r.over = true
	if r.con.tty && !r.con.edits {
		r.con.print(r.con.echo, "\n")
	}
}

// inBackground reports whether a task beside the main one runs that ends by itself.
func inBackground(s *state.State) bool {
	return slices.ContainsFunc(s.Tasks, func(t *state.Task) bool {
		return (t.Kind == event.BackgroundTask || t.Kind == event.SubagentTask) && t.State != state.TaskDone
	})
}

// interrupt cancels what runs; when nothing does, or the second time, it ends the session.
func (r *repl) interrupt() {
	t := r.state.Running()
	switch {
	case r.confirming || !r.con.tty && t == nil:
		r.over = true
		r.outcome = event.Cancelled
		r.eof = true
	case t != nil:
		r.confirming, r.eof = true, !r.con.tty // the rest of a pipe is not wanted either
		r.program.Live.Send(event.Cancel{})
		r.say("cancelling; press Ctrl-C again to quit")
		dropQueue(r)
	default:
		r.confirming = true
		r.say("press Ctrl-C again, or Ctrl-D, to quit")
	}
}

// dropQueue keeps what was to be sent for the prompt: who cancels does not mean it as it was.
func dropQueue(r *repl) {
	if n := len(r.queue); n > 0 {
		r.con.earlier = append(r.con.earlier, slices.DeleteFunc(r.queue, slash.Private)...)
		r.queue = nil
		r.say(texts.Plural(n, "queued line") + " not sent; press Up at the prompt to get them back")
	}
}
