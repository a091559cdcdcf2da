package record

import (
	"slices"

	"buddy/agent/event"
)

// Exchange is a prompt of a person in the main conversation, with what came of it.
type Exchange struct {
	Number  int           // from 1
	Seq     uint64        // of the event with its prompt
	Time    int64         // of the prompt, in Unix milliseconds
	Outcome event.Outcome // "" while it has not ended
}

// Interrupted is the outcome of an exchange or a task that had not ended when its process did. No event has it: the next process
// sees it by what is missing.
const Interrupted event.Outcome = "interrupted"

// Exchanges returns the exchanges of the main conversation, the oldest first, without those that a person went back from.
// The caller must not change them.
func (r *Record) Exchanges() []Exchange { return r.exchanges.all }

// exchanges groups the events of the main conversation into exchanges.
type exchanges struct {
	all     []Exchange
	running int                   // the running main task, 0 for none
	waits   bool                  // it was interrupted, and can be continued
	typed   int                   // task of the last command that a person typed, which belongs to the exchange before
	before  event.Outcome         // outcome of that exchange
	left    map[uint64][]Exchange // by step back: the exchanges before it, which /redo brings again
}

func (x *exchanges) apply(env event.Envelope) {
	if env.Branch != 0 {
		return
	}
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if !p.Queued && x.running == 0 {
			x.prompt(env, p)
		}
	case event.TaskStarted:
		if p.Kind == event.MainTask {
			x.running, x.waits = p.ID, false
			x.end("") // it continues
		}
	case event.TaskFinished:
		x.finish(p)
	case event.Interrupted:
		x.waits = p.CanContinue
	case event.HistoryRewound:
		x.rewind(env.Seq, p)
	case event.SessionResumed:
		x.running = 0 // running tasks ended with their process
	}
}

func (x *exchanges) finish(p event.TaskFinished) {
	if p.ID != x.running {
		return
	}
	x.running = 0
	switch {
	case p.ID == x.typed:
		x.end(x.before)
	case x.waits:
		x.end(Interrupted)
	default:
		x.end(p.Outcome)
	}
}

// prompt starts an exchange, or adds a command to the one before.
func (x *exchanges) prompt(env event.Envelope, p event.PromptSubmitted) {
	x.running = env.Task
	if !p.Command() {
		x.all = append(x.all, Exchange{Number: len(x.all) + 1, Seq: env.Seq, Time: env.Time})
		return
	}
	x.typed = env.Task
	if n := len(x.all); n > 0 {
		x.before = x.all[n-1].Outcome
	}
}

// end sets the outcome of the newest exchange.
func (x *exchanges) end(o event.Outcome) {
	if n := len(x.all); n > 0 {
		x.all[n-1].Outcome = o
	}
}

// rewind drops the exchanges that a person went back from, or brings them again.
func (x *exchanges) rewind(seq uint64, p event.HistoryRewound) {
	x.running, x.waits, x.typed = 0, false, 0
	if p.Redo {
		if before, ok := x.left[p.ToSeq]; ok {
			x.all = before
		}
		return
	}
	put(&x.left, seq, slices.Clone(x.all))
	x.all = slices.DeleteFunc(x.all, func(e Exchange) bool { return e.Seq >= p.ToSeq })
}
