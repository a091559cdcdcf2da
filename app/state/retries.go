package state

import (
	"cmp"
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/texts"
)

// Retries are the attempts of a conversation's request that failed, which one block shows.
type Retries struct {
	Retry   *Retry // the request failed and waits to be sent again; nil: it does not
	block   *Block // nil: none failed
	short   string // why, in a few words; untrusted
	attempt int    // that failed last, from 1
	came    bool   // something of an answer came since
}

// addRetry shows that an attempt failed, in one block for all of a request.
func addRetry(s *State, env event.Envelope, p event.ModelRetry) {
	r := &s.Retries
	if p.Attempt <= 1 || r.block == nil {
		r.answerCame(env.Seq) // of another request: who reads the session back has not seen a text that was void later
		*r = Retries{Retry: r.Retry, block: s.add(env, RetryBlock, "")}
	}
	r.failed(p, env.Seq)
}

// failed notes one more attempt that failed.
func (r *Retries) failed(p event.ModelRetry, seq uint64) {
	r.short, r.attempt, r.came = cmp.Or(p.Short, "the request failed"), p.Attempt, false
	text := fmt.Sprintf("%s · attempt %d", r.short, p.Attempt+1)
	if p.Of > 0 {
		text += fmt.Sprintf(" of %d", p.Of)
	}
	if r.Retry != nil {
		r.Retry.Text = text
	}
	r.block.Retry, r.block.Raw = r.Retry, strings.TrimSpace(p.Why+"\n"+p.Raw)
	r.block.say(RetryBlock, text, seq)
}

// say makes a block say something else.
func (b *Block) say(kind Kind, text string, seq uint64) {
	b.Kind, b.Text, b.last = kind, []byte(text), max(b.last, seq)
	b.Gen++
}

// endWait notes that the request waits no longer to be sent again.
func (r *Retries) endWait() {
	if r.Retry == nil {
		return
	}
	r.Retry = nil
	if b := r.block; b != nil && b.Retry != nil {
		b.Retry = nil
		b.Gen++
	}
}

// answerCame notes that something of an answer came: what stays of the attempts is their number.
func (r *Retries) answerCame(seq uint64) {
	if r.block != nil && !r.came {
		r.came = true
		r.block.say(RetryBlock, fmt.Sprintf("%s · %d attempts", r.short, r.attempt+1), seq)
	}
}

// giveUp ends the attempts of a request that nobody waits for any more.
func (r *Retries) giveUp(seq uint64) {
	r.endWait()
	if r.block != nil && !r.came {
		r.block.say(RetryBlock, r.short+" · stopped after "+texts.Plural(r.attempt, "attempt"), seq)
	}
	*r = Retries{}
}

// forget drops the attempts: their block does not show any more.
func (r *Retries) forget() { *r = Retries{Retry: r.Retry} }

// addOutcome adds a block about how a request ended that failed. It takes the place of the block of its
// attempts, whose number its text has.
func addOutcome(s *State, env event.Envelope, kind Kind, text, raw string) {
	r := &s.Retries
	r.endWait()
	b := r.block
	if b == nil || r.came {
		b = s.add(env, kind, text)
	} else {
		b.say(kind, text, env.Seq)
	}
	b.Raw = raw
	*r = Retries{}
}
