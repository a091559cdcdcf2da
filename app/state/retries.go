package state

import (
	"cmp"
	"fmt"
	"strconv"
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
	r.short, r.attempt, r.came = cmp.Or(p.Short, "The request failed"), p.Attempt, false
	count := strconv.Itoa(p.Attempt + 1)
	if p.Of > 0 {
		count += fmt.Sprintf(" of %d", p.Of)
	}
	if r.Retry != nil {
		r.Retry.Text, r.Retry.Count = r.short, count
	}
	r.block.Retry, r.block.Raw = r.Retry, strings.TrimSpace(p.Why+"\n"+p.Raw)
	r.block.say(RetryBlock, r.short+". Retrying ("+count+")", seq)
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
		r.block.say(RetryBlock, fmt.Sprintf("%s. Answered on attempt %d", r.what(), r.attempt+1), seq)
	}
}

// giveUp ends the attempts of a request that nobody waits for any more.
func (r *Retries) giveUp(seq uint64) {
	r.endWait()
	if r.block != nil && !r.came {
		r.block.say(RetryBlock, r.what()+". Stopped after "+texts.Plural(r.attempt, "attempt"), seq)
	}
	*r = Retries{}
}

// interrupt ends the attempts because the person did, and reports whether there were some: their block says so then.
func (r *Retries) interrupt(seq uint64) bool {
	r.endWait()
	if r.block == nil || r.came {
		return false
	}
	why := ": " + r.what()
	if at := strings.LastIndexByte(r.what(), '('); at >= 0 {
		why = " " + r.what()[at:] // its status
	}
	r.block.say(RetryBlock, "Interrupted while retrying"+why, seq)
	*r = Retries{}
	return true
}

// what says what failed, without the provider's own words.
func (r *Retries) what() string {
	what, _, _ := strings.Cut(r.short, ": ")
	return what
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
