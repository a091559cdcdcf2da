package state

import (
	"slices"

	"buddy/agent/event"
	"buddy/texts"
)

// Border is a prompt of the main conversation that one can go back to before.
type Border struct {
	Seq  uint64
	ID   int    // of the prompt
	Text string // of the prompt, untrusted
	Time int64  // Unix milliseconds
	// Joined are the prompts that were added while its exchange ran, oldest first. They go back with it.
	Joined []Border

	steps Steps // before it
}

// WayBack holds where a conversation can go back to, and what that took away.
type WayBack struct {
	Borders []Border  // the prompts that one can go back to before, oldest first
	rewound []rewound // that can be taken back, the newest last
}

// rewound holds what one step back took away, for /redo.
type rewound struct {
	at, to  uint64   // numbers of its event, and of the first that is gone
	blocks  []*Block // from there on
	borders []Border
	steps   Steps
}

// addBorder notes a prompt that opens an exchange, before which there were these steps, or joins the last one.
func (w *WayBack) addBorder(env event.Envelope, p event.PromptSubmitted, steps Steps) {
	b := Border{Seq: env.Seq, ID: p.ID, Text: p.Text, Time: env.Time, steps: steps}
	switch n := len(w.Borders); {
	case p.Kind == event.Opening:
		w.Borders = append(w.Borders, b)
	case p.Kind == event.Steering && n > 0:
		last := &w.Borders[n-1]
		last.Joined = append(slices.Clip(last.Joined), b)
	}
}

// borderFrom is the index of the first prompt with a number or a later one, how many there are if there is none.
func (w *WayBack) borderFrom(seq uint64) int {
	if i := slices.IndexFunc(w.Borders, func(b Border) bool { return b.Seq >= seq }); i >= 0 {
		return i
	}
	return len(w.Borders)
}

// take removes and returns the step back whose event has a number, and all later ones.
func (w *WayBack) take(seq uint64) (r rewound, ok bool) {
	i := slices.IndexFunc(w.rewound, func(r rewound) bool { return r.at == seq })
	if i < 0 {
		return rewound{}, false
	}
	r, w.rewound = w.rewound[i], w.rewound[:i]
	return r, true
}

// applyRewound makes the conversation what it was before an event: the blocks go, or come again. What is
// shown of tasks beside it stays.
func applyRewound(s *State, env event.Envelope, p event.HistoryRewound) Changed {
	at := slices.IndexFunc(s.Blocks, func(b *Block) bool { return b.Seq >= p.ToSeq })
	if at < 0 {
		at = len(s.Blocks)
	}
	gone := slices.Clone(s.Blocks[at:])
	s.Blocks = slices.DeleteFunc(s.Blocks, func(b *Block) bool { return b.Seq >= p.ToSeq && !b.beside })
	from := s.Back.borderFrom(p.ToSeq)
	if p.Redo {
		to, _ := redo(s, p.ToSeq, from)
		s.window.cut(PartOf(s, to))
	} else {
		s.window.rewind(p.ToSeq)
		s.Back.rewound = append(s.Back.rewound, rewound{env.Seq, p.ToSeq, gone, slices.Clone(s.Back.Borders[from:]), s.Steps})
		if from < len(s.Back.Borders) {
			s.Steps = s.Back.Borders[from].steps
		}
		s.Back.Borders = s.Back.Borders[:from]
	}
	dropGone(s, gone)
	s.parts.noteRewound(env, s.Steps)
	s.add(env, NoticeBlock, p.Text())
	return Conversation | Output | Header | Tasks | Queue
}

// redo undoes the rewind whose event has a number. Prompts from the index from on came after it. It returns the event
// from which on blocks come again; ok is false if what the rewind took away was not read yet.
func redo(s *State, seq uint64, from int) (to uint64, ok bool) {
	r, ok := s.Back.take(seq)
	if !ok {
		return 0, false
	}
	later := slices.DeleteFunc(slices.Clone(s.Blocks), func(b *Block) bool { return b.Seq < seq })
	s.Blocks = slices.DeleteFunc(s.Blocks, func(b *Block) bool { return b.Seq >= r.to })
	there := slices.DeleteFunc(r.blocks, func(b *Block) bool { return b.Seq <= s.parts.before() })
	s.Blocks = slices.Concat(s.Blocks, there, later)
	s.Back.Borders = append(s.Back.Borders[:from:from], r.borders...)
	s.Steps = r.steps
	return r.to, true
}

// passRewound takes a step back, or forth, of which only a part of the conversation is known, whose blocks stay. The steps
// after it are those of the plan.
func passRewound(s *State, env event.Envelope, p event.HistoryRewound, steps Steps) {
	blocks := s.Blocks
	at := slices.IndexFunc(blocks, func(b *Block) bool { return b.Seq >= p.ToSeq })
	if at < 0 {
		at = len(blocks)
	}
	s.Blocks = blocks[:at:at]
	dropGone(s, blocks[at:])
	s.Blocks, s.Steps = blocks, steps
	s.add(env, NoticeBlock, p.Text())
}

// dropGone forgets what pointed at blocks that don't show any more.
func dropGone(s *State, gone []*Block) {
	s.Retries.forget()
	s.open, s.Info.Interrupted = openBlocks{}, false
	for _, b := range gone {
		if b.Call == nil || b.beside || slices.Contains(s.Blocks, b) {
			continue
		}
		if s.calls[b.Call.ID] == b {
			delete(s.calls, b.Call.ID)
		}
		if s.Focused == b.Call {
			s.Focused = nil
		}
		if s.Bare == b.Call {
			s.Bare = nil
		}
	}
}

// Words returns the beginning of the prompt on one line.
func (b Border) Words() string { return texts.Clip(texts.OneLine(b.Text), 200) }
