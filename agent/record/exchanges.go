package record

import (
	"slices"

	"buddy/agent/event"
)

// Exchange is a person's prompt in the main conversation with its outcome.
type Exchange struct {
	Number  int           // from 1
	Seq     uint64        // of the event of the prompt
	Time    int64         // of the prompt, in Unix milliseconds
	Outcome event.Outcome // "" while it is running
}

// Interrupted is the outcome of an exchange or a task that was unfinished when its process ended. No event has it: the
// next process infers it.
const Interrupted event.Outcome = "interrupted"

// Exchanges returns the exchanges of the main conversation, oldest first, without those removed by a rewind. The
// caller must not change them.
func (r *Record) Exchanges() []Exchange { return r.exchanges.all }

// Unreported returns the end of the last main task, unless its exchange.finished is stored or the task was interrupted.
func (r *Record) Unreported() (p event.TaskFinished, ok bool) {
	if x := &r.exchanges; x.ended != nil && !x.waits {
		return *x.ended, true
	}
	return p, false
}

// exchanges groups the events of the main conversation into exchanges.
type exchanges struct {
	all     []Exchange
	running int                   // the running main task, 0 for none
	waits   bool                  // the task was interrupted, and can be continued
	typed   int                   // task of the last typed command, which belongs to the exchange before the command
	before  event.Outcome         // outcome of the exchange before the command
	rewound map[uint64][]Exchange // by event of a rewind: the exchanges before it, which /redo restores
	ended   *event.TaskFinished   // of the last main task, until the exchange continues or is finished
}

func (x *exchanges) apply(env event.Envelope) {
	if env.Branch != 0 {
		return
	}
	switch p := env.Payload.(type) {
	case event.ExchangeFinished:
		x.ended = nil
	case event.PromptSubmitted:
		if !p.Queued && x.running == 0 {
			x.prompt(env, p)
		}
	case event.TaskStarted:
		if p.Kind == event.MainTask {
			x.running, x.waits, x.ended = p.ID, false, nil
			x.end("") // the exchange continues
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
	x.running, x.ended = 0, &p
	switch {
	case p.ID == x.typed:
		x.end(x.before)
	case x.waits:
		x.end(Interrupted)
	default:
		x.end(p.Outcome)
	}
}

// prompt starts an exchange, or adds a typed command to the last one.
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

// rewind removes the exchanges after a prompt, or restores them.
func (x *exchanges) rewind(seq uint64, p event.HistoryRewound) {
	x.running, x.waits, x.typed, x.ended = 0, false, 0, nil
	if p.Redo {
		if before, ok := x.rewound[p.ToSeq]; ok {
			x.all = before
		}
		return
	}
	put(&x.rewound, seq, slices.Clone(x.all))
	x.all = slices.DeleteFunc(x.all, func(e Exchange) bool { return e.Seq >= p.ToSeq })
}
