package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// identity holds what must not change in a block.
type identity struct {
	seq  uint64
	call *Call
}

func identities(s *State) map[*Block]identity {
	m := make(map[*Block]identity, len(s.Blocks))
	for _, b := range s.Blocks {
		m[b] = identity{b.Seq, b.Call}
	}
	return m
}

// wantKept fails unless all blocks of before are still in s.
func wantKept(t *testing.T, what string, s *State, before map[*Block]identity) {
	t.Helper()
	now := identities(s)
	for b, id := range before {
		if now[b] != id && string(b.Text) != "lost" { // an attempt that a retry removed
			t.Fatalf("%s: block %d %q is gone or another: %+v, want %+v", what, id.seq, b.Text, now[b], id)
		}
	}
	if s.Focused != nil && s.Focused != callOf(s, s.Focused.ID) {
		t.Fatalf("%s: the focused call %s is in no block", what, s.Focused.ID)
	}
}

// callOf returns the last call with an id.
func callOf(s *State, id string) *Call {
	for i := len(s.Blocks) - 1; i >= 0; i-- {
		if c := s.Blocks[i].Call; c != nil && c.ID == id {
			return c
		}
	}
	return nil
}

// A session that is opened from its end in two or three parts, divided at any event, equals one read in order, even
// while it continues.
func TestTailFirstIsReplay(t *testing.T) {
	all := realistic()
	for _, envs := range [][]event.Envelope{durable(all), all} {
		for i := range envs {
			for _, j := range []int{0, i / 3, i - 1} {
				if j < 0 {
					continue
				}
				what := fmt.Sprintf("divided at %d and %d of %d (before %T)", j, i, len(envs), envs[i].Payload)
				arrived := min(i+10, len(envs)) // the rest arrives while the older parts are read
				middle := (arrived + len(envs)) / 2

				var s State
				s.ApplyTail(envs[i:arrived])
				before := identities(&s)
				for _, env := range envs[arrived:middle] {
					s.Apply(env)
				}
				if got := s.Prepend(envs[j:i]); j < i && i > 0 && got == 0 {
					t.Fatalf("%s: Prepend changed nothing", what)
				}
				wantKept(t, what, &s, before)
				before = identities(&s)
				for _, env := range envs[middle:] {
					s.Apply(env)
				}
				if j > 0 {
					wantSame(t, what+", without the first part", &s, replayTail(envs[j:]))
					s.Prepend(envs[:j])
				}
				wantKept(t, what+", whole", &s, before)
				want := replay(envs)
				wantSame(t, what, &s, want)
				for k, b := range s.Blocks {
					if b.Time != want.Blocks[k].Time {
						t.Fatalf("%s: block %d has time %d, want %d", what, k, b.Time, want.Blocks[k].Time)
					}
				}
				if s.kept != nil {
					t.Fatalf("%s: envelopes are kept after the first part came", what)
				}
			}
		}
	}
}

func replayTail(envs []event.Envelope) *State {
	s := new(State)
	s.ApplyTail(envs)
	return s
}

// A call with its request in the older part and a result that comes before that part is read.
func TestCallAcrossTheBorder(t *testing.T) {
	sc := &script{}
	sc.add(0, event.SessionCreated{})
	sc.add(1, event.PromptSubmitted{ID: 1, Text: "go"}, event.ToolRequested{CallID: "c", Name: "run_shell"},
		event.ToolStarted{CallID: "c"}, event.ToolResult{CallID: "c", Result: "fine"}, event.Notice{Text: "end"})
	var s State
	s.ApplyTail(sc.envs[4:])
	end := s.Blocks[0]
	if s.Prepend(sc.envs[:4]) != Everything || len(s.Blocks) != 3 || s.Blocks[2] != end {
		t.Fatalf("blocks %+v", s.Blocks)
	}
	if c := s.Blocks[1].Call; c.State != CallDone || c.Result != "fine" || s.Focused != c {
		t.Errorf("call %+v", c)
	}
}

// Live data stays: the output of a running call, a pane's contents, a streaming answer.
func TestPrependKeepsLive(t *testing.T) {
	sc := &script{}
	sc.add(0, event.SessionCreated{})
	sc.add(1, event.PromptSubmitted{ID: 1, Text: "old"}, event.PromptSubmitted{ID: 2, Text: "new"},
		event.PaneOpened{Pane: "%1"}, event.ToolRequested{CallID: "c"}, event.ToolStarted{CallID: "c"},
		event.ToolOutput{CallID: "c", Text: "out"}, event.PaneScreen{Pane: "%1", W: 5}, event.TextDelta{Text: "streams"})
	var s State
	s.ApplyTail(sc.envs[2:3])
	for _, env := range sc.envs[3:] {
		s.Apply(env)
	}
	open := s.Blocks[2]
	s.Prepend(sc.envs[:2])
	if s.Focused == nil || string(s.Focused.Output.Buf) != "out" || s.Panes[0].Screen == nil || s.Info.Last != 9000 {
		t.Errorf("focused %+v, panes %+v, last %d", s.Focused, s.Panes[0], s.Info.Last)
	}
	s.Apply(event.Envelope{Seq: 20, Payload: event.TextDelta{Text: " on"}})
	if s.Blocks[3] != open || string(open.Text) != "streams on" || !open.Open {
		t.Errorf("open block %+v", open)
	}
}

func TestPrependEnds(t *testing.T) {
	envs := realistic()
	whole := replay(envs)
	if whole.Prepend(envs[:5]) != 0 || whole.kept != nil {
		t.Error("Prepend without ApplyTail did something")
	}
	var s State
	s.ApplyTail(envs) // short enough to be read fully
	if s.kept != nil {
		t.Error("envelopes are kept though nothing comes before")
	}
	s = State{}
	s.ApplyTail(envs[50:])
	n := len(s.Blocks)
	if s.Prepend(nil) != 0 || s.kept != nil || len(s.Blocks) != n {
		t.Error("an empty part does not end it")
	}
}

// The cost of a delta does not depend on the length of the text.
func BenchmarkTextDelta(b *testing.B) {
	for _, size := range []int{100 << 10, 10 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			var s State
			s.Apply(event.Envelope{Seq: 1, Payload: event.TextDelta{Text: strings.Repeat("x", size)}})
			env := event.Envelope{Seq: 2, Payload: event.TextDelta{Text: "twenty bytes of text"}}
			n := 0
			for b.Loop() {
				if s.Apply(env); n == 10_000 {
					n, s.open.text.Text = 0, s.open.text.Text[:size]
				}
				n++
			}
		})
	}
}

func BenchmarkToolOutput(b *testing.B) {
	b.ReportAllocs()
	var s State
	s.Apply(event.Envelope{Seq: 1, Payload: event.ToolRequested{CallID: "c"}})
	env := event.Envelope{Seq: 2, Payload: event.ToolOutput{CallID: "c", Text: strings.Repeat("x", 80)}}
	for b.Loop() {
		s.Apply(env)
	}
}

// long is a session of n exchanges with answers of 2 KB.
func long(n int) []event.Envelope {
	sc := &script{}
	sc.add(0, event.SessionCreated{})
	text := strings.Repeat("some words ", 200)
	for i := range n {
		sc.add(i, event.PromptSubmitted{ID: i, Text: "go"}, event.TaskStarted{ID: i, Kind: event.MainTask},
			event.ModelMessage{Message: model.Message{Content: text}}, event.ToolRequested{CallID: "c", Name: "x"},
			event.ToolStarted{CallID: "c"}, event.ToolResult{CallID: "c", Result: text, Tail: text}, event.TaskFinished{ID: i})
	}
	return sc.envs
}

// An event costs the same in a long conversation as in a short one.
func BenchmarkExchangeAfter(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			b.ReportAllocs()
			s := replay(long(n))
			more := long(1)[1:]
			blocks := len(s.Blocks)
			for b.Loop() {
				for _, env := range more {
					s.Apply(env)
				}
				clear(s.Blocks[blocks:])
				s.Blocks = s.Blocks[:blocks]
			}
		})
	}
}

// Prepends 70,000 envelopes (about 50 MB) to the last 200 at once.
func BenchmarkPrepend(b *testing.B) {
	b.ReportAllocs()
	envs := long(10_000)
	for b.Loop() {
		var s State
		s.ApplyTail(envs[len(envs)-200:])
		s.Prepend(envs[:len(envs)-200])
	}
}

// Prepend puts earlier envelopes in front of those applied so far. The result equals applying everything in order, but
// existing blocks keep their address and Seq. The last call has the session's first envelope, or is empty if the rest
// can't be read.
//
// Each call applies older and everything kept, so few large parts are better than many small ones. It does nothing
// without ApplyTail.
func (s *State) Prepend(older []event.Envelope) Changed {
	if s.kept == nil {
		return 0
	}
	if len(older) == 0 {
		s.kept = nil
		return 0
	}
	kept := append(slices.Clip(older), s.kept...)
	var before State
	for _, env := range older {
		before.Apply(env)
	}
	s.PrependState(&before)
	if !startsSession(older) {
		s.kept = kept
	}
	return Everything
}
