package state

import (
	"slices"

	"buddy/agent/event"
	"buddy/texts"
)

// Border is a prompt of the main conversation that a rewind can remove, with everything after it.
type Border struct {
	Seq  uint64
	ID   int    // of the prompt
	Text string // of the prompt, untrusted
	Time int64  // Unix milliseconds
	// Joined holds the prompts added while the exchange ran, oldest first. They are rewound with it.
	Joined []Border

	steps Steps // before it
}

// WayBack holds the prompts to which a conversation can be rewound, and the parts that rewinds have removed.
type WayBack struct {
	Borders []Border  // the prompts to rewind to, oldest first
	rewound []rewound // for redo, newest last
}

// rewound holds what a rewind has removed, for /redo.
type rewound struct {
	at, to  uint64   // numbers of the rewind's event, and of the first event that it removed
	blocks  []*Block // those it removed
	borders []Border
	steps   Steps
}

// addBorder records a prompt that opens an exchange or joins the last one. steps is the list of steps before the
// prompt.
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

// borderFrom returns the index of the first prompt whose event has the number seq or a later one, or the number of
// prompts if there is none.
func (w *WayBack) borderFrom(seq uint64) int {
	if i := slices.IndexFunc(w.Borders, func(b Border) bool { return b.Seq >= seq }); i >= 0 {
		return i
	}
	return len(w.Borders)
}

// popRewound returns the rewind whose event has the number seq, and removes it and all later rewinds.
func (w *WayBack) popRewound(seq uint64) (r rewound, ok bool) {
	i := slices.IndexFunc(w.rewound, func(r rewound) bool { return r.at == seq })
	if i < 0 {
		return rewound{}, false
	}
	r, w.rewound = w.rewound[i], w.rewound[:i]
	return r, true
}

// applyRewound applies a rewind, which removes blocks, or a redo, which restores them. Blocks of parallel tasks stay.
func applyRewound(s *State, env event.Envelope, p event.HistoryRewound) Changed {
	at := slices.IndexFunc(s.Blocks, func(b *Block) bool { return b.Seq >= p.ToSeq })
	if at < 0 {
		at = len(s.Blocks)
	}
	gone := slices.Clone(s.Blocks[at:])
	s.Blocks = slices.DeleteFunc(s.Blocks, func(b *Block) bool { return b.Seq >= p.ToSeq && !b.parallel })
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

// redo undoes the rewind whose event has the number seq, and drops the prompts from index from on, which came after it.
// to is the number of the first event whose blocks are restored. ok is false if the rewound part was not read yet.
func redo(s *State, seq uint64, from int) (to uint64, ok bool) {
	r, ok := s.Back.popRewound(seq)
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

// passRewound applies a rewind or redo while a single part of the conversation is read. The part keeps its blocks.
// steps is the list of steps after the rewind or redo.
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

// dropGone clears references to removed blocks.
func dropGone(s *State, gone []*Block) {
	s.Retries.forget()
	s.open, s.Info.Interrupted = openBlocks{}, false
	for _, b := range gone {
		if b.Call == nil || b.parallel || slices.Contains(s.Blocks, b) {
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

// Words returns the start of the prompt on one line.
func (b Border) Words() string { return texts.Clip(texts.OneLine(b.Text), 200) }
