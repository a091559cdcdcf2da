package event

import (
	"fmt"
	"slices"

	"buddy/texts"
)

// maxWords limits the quoted part of a prompt, in characters.
const maxWords = 60

// HistoryRewound marks that a person returned to an earlier point of the main conversation: its events from ToSeq
// on no longer count. With Redo, ToSeq is an earlier HistoryRewound, which is reverted; otherwise it is a prompt.
// All events stay stored.
type HistoryRewound struct {
	ToSeq  uint64   `json:"to_seq"`
	Prompt string   `json:"prompt"`          // first words of the prompt, untrusted text
	Files  []string `json:"files,omitempty"` // restored files
	Redo   bool     `json:"redo,omitempty"`
}

// Text returns the event as one line for the screen.
func (r HistoryRewound) Text() string {
	text, next := fmt.Sprintf("rewound to before “%s”", texts.Clip(r.Prompt, maxWords)), " · /redo undoes that"
	if r.Redo {
		text, next = fmt.Sprintf("“%s” and the later messages are back", texts.Clip(r.Prompt, maxWords)), ""
	}
	if n := len(r.Files); n == 1 {
		text += ", 1 file put back"
	} else if n > 1 {
		text += fmt.Sprintf(", %d files put back", n)
	}
	return text + next
}

// Rewinds tracks the rewinds of a session, in the order of the events. The zero value has none.
type Rewinds struct {
	all  []rewind
	gone []span // oldest first, without overlaps
}

type rewind struct {
	at uint64 // number of its event
	HistoryRewound
}

// span is a range of event numbers that excludes its end.
type span struct{ from, to uint64 }

// Take applies the next event; only HistoryRewound has an effect.
func (r *Rewinds) Take(env Envelope) {
	p, ok := env.Payload.(HistoryRewound)
	if !ok || p.ToSeq >= env.Seq {
		return
	}
	r.all = append(r.all, rewind{env.Seq, p})
	r.gone = r.gone[:0:0]
	for _, last := range slices.Backward(r.all) {
		if n := len(r.gone); n == 0 || last.at < r.gone[n-1].from {
			r.gone = append(r.gone, span{last.ToSeq, last.at})
		}
	}
	slices.Reverse(r.gone)
}

// Gone reports whether a rewind removed an event from the main conversation. State outside of the conversation,
// such as task numbers, the mode or the cost, is not rewound.
func (r *Rewinds) Gone(seq uint64) bool {
	i, _ := slices.BinarySearchFunc(r.gone, seq, func(s span, seq uint64) int {
		if s.to <= seq {
			return -1
		}
		return 1
	})
	return i < len(r.gone) && r.gone[i].from <= seq
}

// Last returns the newest HistoryRewound that can be reverted, and its number; ok is false without one.
func (r *Rewinds) Last() (seq uint64, e HistoryRewound, ok bool) {
	for _, last := range slices.Backward(r.all) {
		if !last.Redo && !r.Gone(last.at) {
			return last.at, last.HistoryRewound, true
		}
	}
	return 0, e, false
}
