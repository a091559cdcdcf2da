package event

import (
	"fmt"
	"slices"

	"buddy/texts"
)

// maxWords limits how many characters of a prompt a line for the screen quotes.
const maxWords = 60

// HistoryRewound marks that a person went back in the main conversation: what it was told and did
// from the event ToSeq on no longer counts. With Redo that event is an earlier HistoryRewound, which
// is taken back; else it is a prompt. All events stay stored.
type HistoryRewound struct {
	ToSeq  uint64   `json:"to_seq"`
	Prompt string   `json:"prompt"`          // first words of the prompt, untrusted text
	Files  []string `json:"files,omitempty"` // that were put back with it
	Redo   bool     `json:"redo,omitempty"`
}

// Text returns the event as one line for the screen.
func (r HistoryRewound) Text() string {
	text, next := fmt.Sprintf("went back to before “%s”", texts.Clip(r.Prompt, maxWords)), " · /redo undoes that"
	if r.Redo {
		text, next = fmt.Sprintf("“%s” and what followed is back", texts.Clip(r.Prompt, maxWords)), ""
	}
	if n := len(r.Files); n == 1 {
		text += ", 1 file put back"
	} else if n > 1 {
		text += fmt.Sprintf(", %d files put back", n)
	}
	return text + next
}

// Rewinds holds how often a person went back in a session, in the order of the events. The zero value
// is never.
type Rewinds struct {
	all  []rewind
	gone []span // the oldest first; they don't overlap
}

type rewind struct {
	at uint64 // its own number
	HistoryRewound
}

// span are the events from one number on, up to the one before another.
type span struct{ from, to uint64 }

// Take notes the next event. Most change nothing.
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

// Gone reports whether the main conversation went back to before the event with a number. What is
// not of the conversation, such as the number of a task, the mode or the cost, stays as it is.
func (r *Rewinds) Gone(seq uint64) bool {
	i, _ := slices.BinarySearchFunc(r.gone, seq, func(s span, seq uint64) int {
		if s.to <= seq {
			return -1
		}
		return 1
	})
	return i < len(r.gone) && r.gone[i].from <= seq
}

// Last returns the number of the newest HistoryRewound that can be taken back, and the event; ok is
// false when there is none.
func (r *Rewinds) Last() (seq uint64, e HistoryRewound, ok bool) {
	for _, last := range slices.Backward(r.all) {
		if !last.Redo && !r.Gone(last.at) {
			return last.at, last.HistoryRewound, true
		}
	}
	return 0, e, false
}
