package sessions

import (
	"encoding/json"
	"slices"

	"buddy/agent/event"
)

// Exchange holds one prompt of a person up to its outcome, in the main conversation.
type Exchange struct {
	Number  int    `json:"number"` // from 1
	Prompt  string `json:"prompt"` // first words, on one line
	Time    int64  `json:"ts_unix_ms"`
	Outcome string `json:"outcome"` // "" when it has not ended

	end   int64 // offset after its last line
	seq   uint64
	began uint64 // number of its prompt's event
}

// Exchanges returns the exchanges of the session, oldest first. It costs about as much as
// walking its lines.
func (j *Journal) Exchanges() ([]Exchange, error) {
	var x exchanges
	err := j.Lines(func(l Line) bool {
		x.take(l)
		return true
	})
	return x.all, err
}

// interrupted is the outcome of an exchange that was cut off by the end of its process and was
// settled since.
const interrupted = "interrupted"

// exchanges groups lines into exchanges.
type exchanges struct {
	all     []Exchange
	running int    // the running main task, 0 for none
	waits   bool   // it was interrupted, and can be continued
	typed   int    // task of the last command that a person typed, which belongs to the exchange before
	before  string // outcome of that exchange
	left    map[uint64]exchangesBefore
}

// exchangesBefore are the exchanges before a person went back, which /redo brings again.
type exchangesBefore []Exchange

// take adds the next line.
func (x *exchanges) take(l Line) {
	switch l.Type {
	case event.PromptSubmitted{}.Type(), event.TaskStarted{}.Type(), event.TaskFinished{}.Type(),
		event.Interrupted{}.Type(), event.SessionResumed{}.Type(), event.HistoryRewound{}.Type(), "":
		if env, err := l.Envelope(); err == nil && env.Branch == 0 {
			x.fact(env)
		}
	}
	if n := len(x.all); n > 0 {
		x.all[n-1].end = l.at.to + 1
		if seq, ok := l.seq(); ok {
			x.all[n-1].seq = seq
		}
	}
}

func (x *exchanges) fact(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if !p.Queued && x.running == 0 {
			x.prompt(env, p)
		}
	case event.TaskStarted:
		if p.Kind == event.MainTask {
			x.running, x.waits = p.ID, false
			x.outcome("") // it continues
		}
	case event.TaskFinished:
		switch {
		case p.ID != x.running:
		case p.ID == x.typed:
			x.running = 0
			x.outcome(x.before)
		case x.waits:
			x.running = 0
			x.outcome(interrupted)
		default:
			x.running = 0
			x.outcome(string(p.Outcome))
		}
	case event.Interrupted:
		x.waits = p.CanContinue
	case event.HistoryRewound:
		x.rewound(env.Seq, p)
	case event.SessionResumed:
		x.running = 0 // running tasks ended with their process
	}
}

// rewound drops the exchanges that a person went back from, or brings them again.
func (x *exchanges) rewound(seq uint64, p event.HistoryRewound) {
	x.running, x.waits, x.typed = 0, false, 0
	if p.Redo {
		if before, ok := x.left[p.ToSeq]; ok {
			x.all = before
		}
		return
	}
	if x.left == nil {
		x.left = make(map[uint64]exchangesBefore)
	}
	x.left[seq] = slices.Clone(x.all)
	x.all = slices.DeleteFunc(x.all, func(e Exchange) bool { return e.began >= p.ToSeq })
}

// prompt starts an exchange, or adds a command to the one before.
func (x *exchanges) prompt(env event.Envelope, p event.PromptSubmitted) {
	x.running = env.Task
	if !p.Command() {
		x.all = append(x.all, Exchange{Number: len(x.all) + 1, Prompt: shorten(p.Text), Time: env.Time, began: env.Seq})
		return
	}
	x.typed = env.Task
	if n := len(x.all); n > 0 {
		x.before = x.all[n-1].Outcome
	}
}

func (x *exchanges) outcome(o string) {
	if n := len(x.all); n > 0 {
		x.all[n-1].Outcome = o
	}
}

// seq returns the number of a line.
func (l Line) seq() (uint64, bool) {
	if l.Type != "" {
		if seq := parseSeq(l.Raw); seq > 0 && seq <= maxSeq {
			return seq, true
		}
	}
	var env struct {
		Seq uint64 `json:"seq"`
	}
	err := json.Unmarshal(l.Raw, &env)
	return env.Seq, err == nil && env.Seq > 0 && env.Seq <= maxSeq
}
