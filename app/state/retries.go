package state

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/texts"
)

// Retries holds the failed attempts of a request, which share one block.
type Retries struct {
	Retry   *Retry // while the request waits to be sent again; else nil
	block   *Block // nil if none failed
	short   string // why, in a few words; untrusted
	attempt int    // the last one that failed, from 1
	came    bool   // whether a part of the answer has come since
}

// addRetry shows a failed attempt, in one block per request.
func addRetry(s *State, env event.Envelope, p event.ModelRetry) {
	r := &s.Retries
	if p.Attempt <= 1 || r.block == nil {
		r.answerCame(env.Seq) // ends the attempts of another request, whose answer a stored session may lack
		*r = Retries{Retry: r.Retry, block: s.add(env, RetryBlock, "")}
	}
	r.failed(p, env.Seq)
}

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
	r.block.setText(RetryBlock, r.short+". Retrying ("+count+")", seq)
}

// setText changes the kind and the text of a block.
func (b *Block) setText(kind Kind, text string, seq uint64) {
	b.Kind, b.Text, b.last = kind, []byte(text), max(b.last, seq)
	b.Gen++
}

// endWait records that the request no longer waits to be sent again.
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

// answerCame records that a part of the answer has arrived. Then the block shows only which attempt was answered.
func (r *Retries) answerCame(seq uint64) {
	if r.block != nil && !r.came {
		r.came = true
		r.block.setText(RetryBlock, fmt.Sprintf("%s. Answered on attempt %d", r.what(), r.attempt+1), seq)
	}
}

// giveUp ends the attempts of an abandoned request.
func (r *Retries) giveUp(seq uint64) {
	r.endWait()
	if r.block != nil && !r.came {
		r.block.setText(RetryBlock, r.what()+". Stopped after "+texts.Plural(r.attempt, "attempt"), seq)
	}
	*r = Retries{}
}

// interrupt ends the attempts after the user has interrupted them, and shows this in their block. It returns false if
// there were none.
func (r *Retries) interrupt(seq uint64) bool {
	r.endWait()
	if r.block == nil || r.came {
		return false
	}
	why := ": " + r.what()
	if at := strings.LastIndexByte(r.what(), '('); at >= 0 {
		why = " " + r.what()[at:] // its status
	}
	r.block.setText(RetryBlock, "Interrupted while retrying"+why, seq)
	*r = Retries{}
	return true
}

// what describes the failure in a few words, without the provider's text.
func (r *Retries) what() string {
	what, _, _ := strings.Cut(r.short, ": ")
	return what
}

// forget drops the attempts, because their block is gone.
func (r *Retries) forget() { *r = Retries{Retry: r.Retry} }

// addOutcome shows how a request has failed. The text includes the number of attempts, so it replaces the text in the
// block of the attempts.
func addOutcome(s *State, env event.Envelope, kind Kind, text, raw string) {
	r := &s.Retries
	r.endWait()
	b := r.block
	if b == nil || r.came {
		b = s.add(env, kind, text)
	} else {
		b.setText(kind, text, env.Seq)
	}
	b.Raw = raw
	*r = Retries{}
}
