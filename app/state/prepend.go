package state

import (
	"bytes"
	"cmp"
	"slices"

	"buddy/agent/event"
)

// ApplyTail fills an empty State with the end of a session, so that the first frame does not wait for the rest. All
// applied envelopes are kept until PrependState adds the rest.
func (s *State) ApplyTail(newest []event.Envelope) Changed {
	if !startsSession(newest) {
		s.kept = []event.Envelope{}
	}
	for _, env := range newest {
		s.Apply(env)
	}
	return Everything
}

// ApplyOpen applies the events before the end of the session that started anything still open. ApplyTail must have
// applied the end. PrependState moves the resulting blocks to their positions.
func ApplyOpen(s *State, open []event.Envelope) Changed {
	if len(s.kept) == 0 {
		return 0 // nothing came before
	}
	kept, title := s.kept, s.Info.Event.Title
	s.kept = nil
	for _, env := range open {
		if env.Seq < kept[0].Seq {
			s.Apply(env)
		}
	}
	s.kept, s.Info.Event.Title = kept, cmp.Or(s.Info.Event.Title, title)
	return Everything
}

// PrependState adds the part of the session before the end that ApplyTail applied. before is the State of all earlier
// events. Another goroutine can build it; s owns it afterwards. The result is the same as after applying all events in
// order, except that existing blocks keep their address and Seq. Without ApplyTail, PrependState does nothing.
//
// However long the session is, the goroutine of s has to apply again only the events from ApplyTail on.
func (s *State) PrependState(before *State) Changed {
	if s.kept == nil {
		return 0
	}
	// The meaning of a later event can depend on any earlier one (the result of a call, the end of a task, a resume),
	// so the events are applied again.
	for _, env := range s.kept {
		before.Apply(env)
	}
	before.adopt(s)
	*s = *before
	return Everything
}

func startsSession(envs []event.Envelope) bool {
	if len(envs) == 0 {
		return false
	}
	_, ok := envs[0].Payload.(event.SessionCreated)
	return ok
}

// keep stores env for PrependState. Some transient events are omitted, because adopt copies everything that they
// change.
func (s *State) keep(env event.Envelope) {
	switch env.Payload.(type) {
	case event.PaneScreen, event.PaneHistory, event.ToolOutput, event.CallDelta, event.ModelAlive, event.ModelReading:
	default:
		s.kept = append(s.kept, env)
	}
}

// adopt copies to s what only old knows, and replaces blocks of s by old's blocks that show the same.
func (s *State) adopt(old *State) {
	s.Info.Last = max(s.Info.Last, old.Info.Last)
	for _, p := range s.Panes {
		if q := paneOf(old.Panes, p.Pane); q != nil && p.Screen == nil {
			p.Screen = q.Screen
		}
	}
	blocks, calls := s.adoptBlocks(old.Blocks)
	replace(&s.open.text, blocks)
	replace(&s.open.reasoning, blocks)
	replace(&s.Retries.block, blocks)
	replace(&s.Focused, calls)
	replace(&s.Bare, calls)
	for target, c := range s.ran {
		replace(&c, calls)
		s.ran[target] = c
	}
	s.History, s.Heard, s.Coming, s.Retries.Retry = old.History, old.Heard, old.Coming, old.Retries.Retry // including the Retry of its block
	for id, b := range s.calls {
		replace(&b, blocks)
		s.calls[id] = b
	}
	for _, w := range s.workflows {
		replace(&w.block, blocks)
	}
	for i := range s.live {
		replace(&s.live[i], calls)
	}
	for _, t := range s.Tasks {
		if was := old.Tasks.Get(t.ID); t.Agent != nil && was != nil && was.Agent != nil {
			t.Agent.Talk.adopt(was.Agent.Talk)
		}
	}
}

// adoptBlocks replaces blocks of s by blocks of old that show the same, and returns maps from replaced blocks and calls
// to their replacements. It reorders old.
func (s *State) adoptBlocks(old []*Block) (map[*Block]*Block, map[*Call]*Call) {
	if len(old) == 0 {
		return nil, nil
	}
	blocks := make(map[*Block]*Block, len(old))
	calls := make(map[*Call]*Call)
	from := slices.MinFunc(old, func(a, b *Block) int { return cmp.Compare(a.Seq, b.Seq) }).Seq
	for i, b := range s.Blocks {
		if b.last < from {
			continue
		}
		j := slices.IndexFunc(old, b.shows) // nearly always the first
		if j < 0 {
			continue
		}
		o := old[j]
		old[0], old[j] = old[j], old[0]
		old = old[1:]
		if b.Call != nil {
			calls[b.Call] = o.Call
			o.Call.copyFrom(b.Call, s.calls[b.Call.ID] == b)
		}
		o.copyFrom(b)
		blocks[b], s.Blocks[i] = o, o
	}
	return blocks, calls
}

func replace[T any](p **T, by map[*T]*T) {
	if q := by[*p]; q != nil {
		*p = q
	}
}

// shows reports whether o shows the same as b. o's Seq may be later than b's, because o may lack the start of an
// answer.
func (b *Block) shows(o *Block) bool {
	return b.Kind == o.Kind && b.Seq <= o.Seq && o.Seq <= b.last
}

// copyFrom copies the content of n to b.
func (b *Block) copyFrom(n *Block) {
	if !bytes.Equal(b.Text, n.Text) {
		b.Text = n.Text
	}
	b.Open, b.Time, b.Raw = n.Open, n.Time, n.Raw
	b.Gen++
}

// copyFrom copies n to c. If the call is running, c keeps its output, which n does not have.
func (c *Call) copyFrom(n *Call, runs bool) {
	output := c.Output
	if !runs && !bytes.Equal(output.Buf, n.Output.Buf) {
		output = n.Output
		output.Gen = c.Output.Gen + 1
	}
	*c = *n
	c.Output = output
}
