package state

import (
	"fmt"
	"slices"

	"buddy/agent/event"
)

// openBlocks holds the blocks to which the current answer appends.
type openBlocks struct{ text, reasoning *Block }

func (s *State) applyModel(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.Checkpoint, event.OpenText, event.ModelMessage:
		s.Retries.answerCame(env.Seq)
		s.applyAnswer(env)
	case event.ModelRetry:
		s.dropAnswer() // the text of a failed attempt is not part of the next one
		addRetry(s, env, p)
	case event.ModelFallback:
		s.dropAnswer() // as for a retry
		addOutcome(s, env, WarningBlock, fmt.Sprintf("%s · using %s (%s) for some minutes", p.Reason(), p.Model, p.To), p.Raw)
		s.Info.Fallback = p.Model
		return Conversation | Header
	case event.FallbackEnded:
		s.Info.Fallback = ""
		s.add(env, NoticeBlock, p.To+" answers again")
		return Conversation | Header
	case event.CallDelta:
		s.open.thought(env.Time)
		return 0 // the call shows when it is complete
	}
	return Conversation
}

// applyAnswer applies an event that carries a part of the answer.
func (s *State) applyAnswer(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TextDelta:
		s.grow(env, &s.open.text, AssistantBlock, p.Text)
		s.open.thought(env.Time)
	case event.ReasoningDelta:
		s.grow(env, &s.open.reasoning, ReasoningBlock, p.Text)
	case event.Checkpoint:
		// A live screen has this text already. A replay gets it only from the checkpoint.
		s.catchUp(env, &s.open.reasoning, ReasoningBlock, p.Reasoning, p.ReasoningAt)
		s.catchUp(env, &s.open.text, AssistantBlock, p.Text, p.TextAt)
	case event.OpenText:
		env.Payload = event.Checkpoint(p)
		s.applyAnswer(env)
	case event.ModelMessage:
		s.settle(env, &s.open.reasoning, ReasoningBlock, p.Reasoning)
		s.settle(env, &s.open.text, AssistantBlock, p.Message.Content)
		s.open.thought(env.Time)
		s.open.close()
	}
}

// grow appends text to the open block of a kind, or to a new one.
func (s *State) grow(env event.Envelope, open **Block, kind Kind, text string) {
	if *open == nil {
		*open = s.add(env, kind, "")
		(*open).Open = true
		s.reasoningFirst()
	}
	(*open).Text = append((*open).Text, text...)
	(*open).last = env.Seq
}

// reasoningFirst moves the reasoning of an answer in front of its text if the text came first, because a replay has the
// reasoning first.
func (s *State) reasoningFirst() {
	n := len(s.Blocks) - 1
	if s.open.text == nil || s.Blocks[n] != s.open.reasoning {
		return
	}
	i := slices.Index(s.Blocks, s.open.text)
	copy(s.Blocks[i+1:], s.Blocks[i:n])
	s.Blocks[i] = s.open.reasoning
}

// catchUp appends the missing part of text, which starts at byte at of the answer, to the open block.
func (s *State) catchUp(env event.Envelope, open **Block, kind Kind, text string, at int) {
	have := 0
	if b := *open; b != nil {
		have, b.last = len(b.Text), env.Seq
	}
	if skip := max(have-at, 0); skip < len(text) {
		s.grow(env, open, kind, text[skip:])
	}
}

// settle sets the final text of an open block, and creates the block if there is none.
func (s *State) settle(env event.Envelope, open **Block, kind Kind, text string) {
	b := *open
	if b != nil {
		b.last = env.Seq
	}
	switch {
	case b == nil && text == "":
	case b == nil:
		s.grow(env, open, kind, text)
	case len(text) > len(b.Text) && text[:len(b.Text)] == string(b.Text):
		b.Text = append(b.Text, text[len(b.Text):]...)
	case len(text) < len(b.Text) || text != string(b.Text):
		b.Text = append([]byte(nil), text...)
		b.Gen++
	}
}

// dropAnswer removes the blocks of the current answer.
func (s *State) dropAnswer() {
	for _, b := range []*Block{s.open.text, s.open.reasoning} {
		for i := len(s.Blocks) - 1; b != nil && i >= 0; i-- {
			if s.Blocks[i] == b {
				s.Blocks = slices.Delete(s.Blocks, i, i+1)
				break
			}
		}
	}
	s.open = openBlocks{}
}

// thought records the duration of the reasoning when it ends.
func (o *openBlocks) thought(now int64) {
	if b := o.reasoning; b != nil && b.Took == 0 {
		b.Took = now - b.Time
	}
}

func (o *openBlocks) close() {
	for _, b := range []*Block{o.text, o.reasoning} {
		if b != nil {
			b.Open = false
		}
	}
	*o = openBlocks{}
}
