package state

import (
	"cmp"
	"fmt"
	"strings"

	"buddy/agent/event"
)

// retried holds the attempts of one request that failed, which one block shows.
type retried struct {
	block   *Block // nil: none failed
	short   string // why, in a few words; untrusted
	attempt int    // that failed last, from 1
	came    bool   // something of an answer came since
}

// addRetry shows that an attempt failed, in one block for all of a request.
func (s *State) addRetry(env event.Envelope, p event.ModelRetry) {
	r := &s.retried
	if p.Attempt <= 1 || r.block == nil {
		s.answerCame(env.Seq) // of another request: who reads the session back has not seen a text that was void later
		*r = retried{block: s.add(env, RetryBlock, "")}
	}
	r.short, r.attempt, r.came = cmp.Or(p.Short, "the request failed"), p.Attempt, false
	text := fmt.Sprintf("%s · attempt %d", r.short, p.Attempt+1)
	if p.Of > 0 {
		text += fmt.Sprintf(" of %d", p.Of)
	}
	if s.Retry != nil {
		s.Retry.Text = text
	}
	r.block.Retry, r.block.Raw = s.Retry, strings.TrimSpace(p.Why+"\n"+p.Raw)
	r.block.say(RetryBlock, text, env.Seq)
}

// say makes a block say something else.
func (b *Block) say(kind Kind, text string, seq uint64) {
	b.Kind, b.Text, b.last = kind, []byte(text), max(b.last, seq)
	b.Gen++
}

// endWait notes that a request waits no longer to be sent again.
func (s *State) endWait() {
	if s.Retry == nil {
		return
	}
	s.Retry = nil
	if b := s.retried.block; b != nil && b.Retry != nil {
		b.Retry = nil
		b.Gen++
	}
}

// answerCame notes that something of an answer came: what stays of the attempts is their number.
func (s *State) answerCame(seq uint64) {
	if r := &s.retried; r.block != nil && !r.came {
		r.came = true
		r.block.say(RetryBlock, fmt.Sprintf("%s · %d attempts", r.short, r.attempt+1), seq)
	}
}

// giveUpRetry ends the attempts of a request that nobody waits for any more.
func (s *State) giveUpRetry(seq uint64) {
	s.endWait()
	if r := &s.retried; r.block != nil && !r.came {
		r.block.say(RetryBlock, r.short+" · stopped after "+Count(r.attempt, "attempt"), seq)
	}
	s.retried = retried{}
}

// addOutcome adds a block about how a request ended that failed. It takes the place of the block of its
// attempts, whose number its text has.
func (s *State) addOutcome(env event.Envelope, kind Kind, text, raw string) {
	s.endWait()
	b := s.retried.block
	if b == nil || s.retried.came {
		b = s.add(env, kind, text)
	} else {
		b.say(kind, text, env.Seq)
	}
	b.Raw = raw
	s.retried = retried{}
}
