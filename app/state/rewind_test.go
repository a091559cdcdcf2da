package state

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// wanderer writes the events of a session with random rewinds and redos.
type wanderer struct {
	rnd     *rand.Rand
	events  []event.Envelope
	prompts int
	rewinds event.Rewinds
	borders []uint64
}

func (h *wanderer) publish(payloads ...event.Event) {
	for _, p := range payloads {
		env := event.Envelope{Seq: uint64(len(h.events) + 1), Time: 1, Session: "s", Task: h.prompts, Payload: p}
		if b, ok := p.(event.BranchStarted); ok {
			env.Task = 0
			h.events = append(h.events, env)
			env.Seq, env.Branch, env.Task, env.Payload = env.Seq+1, b.Branch, 1000+b.Branch, event.TaskFinished{ID: 1000 + b.Branch, Outcome: event.Completed}
		}
		h.events = append(h.events, env)
		h.rewinds.Take(env)
	}
}

// step adds an exchange, a parallel event, a rewind or a redo.
func (h *wanderer) step() {
	switch h.rnd.IntN(5) {
	case 0:
		var alive []uint64
		for _, b := range h.borders {
			if !h.rewinds.Gone(b) {
				alive = append(alive, b)
			}
		}
		if len(alive) > 0 {
			h.publish(event.HistoryRewound{ToSeq: alive[h.rnd.IntN(len(alive))], Prompt: "x"})
		}
	case 1:
		if seq, _, ok := h.rewinds.Last(); ok {
			h.publish(event.HistoryRewound{ToSeq: seq, Prompt: "x", Redo: true})
		}
	case 2:
		h.publish(event.BranchStarted{Branch: len(h.events), Why: "bg"})
	default:
		h.prompts++
		h.borders = append(h.borders, uint64(len(h.events)+1))
		h.publish(event.PromptSubmitted{ID: h.prompts, Text: fmt.Sprint("prompt ", h.prompts), Kind: event.Opening})
		h.publish(event.TaskStarted{ID: h.prompts, Kind: event.MainTask})
		if h.rnd.IntN(2) == 0 {
			h.publish(event.ToolRequested{CallID: fmt.Sprint(h.prompts), Name: "todo"}, event.ToolResult{CallID: fmt.Sprint(h.prompts), Name: "todo", Tail: fmt.Sprintf("[ ] step %d\n", h.prompts)})
		}
		h.publish(event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: fmt.Sprint("answer ", h.prompts)}}, event.TaskFinished{ID: h.prompts, Outcome: event.Completed})
	}
}

func applied(events []event.Envelope) *State {
	var s State
	for _, env := range events {
		s.Apply(env)
	}
	return &s
}

// inSight returns the visible texts of a conversation, except the notices of rewinds.
func inSight(s *State) (all []string) {
	for _, b := range s.Blocks {
		if b.Kind != NoticeBlock {
			all = append(all, fmt.Sprintf("%d %v %s", b.Seq, b.Kind, b.Text))
		}
	}
	return append(all, fmt.Sprint(s.Steps), fmt.Sprint(s.Back.Borders))
}

// TestRewindShowsWhatWasThere: after random histories the screen equals one on which the rewound prompts never existed,
// however much of the session was read first.
func TestRewindShowsWhatWasThere(t *testing.T) {
	ways := 0
	for seed := range uint64(300) {
		h := &wanderer{rnd: rand.New(rand.NewPCG(seed, 3))}
		for range 30 {
			h.step()
		}
		s := applied(h.events)
		var counts []event.Envelope
		for _, env := range h.events {
			if _, rewound := env.Payload.(event.HistoryRewound); rewound {
				ways++
			} else if env.Branch != 0 || !h.rewinds.Gone(env.Seq) {
				counts = append(counts, env)
			} else if _, begins := env.Payload.(event.BranchStarted); begins {
				counts = append(counts, env)
			}
		}
		if got, want := inSight(s), inSight(applied(counts)); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: shown\n%q\nwant\n%q", seed, got, want)
		}
		for _, b := range s.Back.Borders {
			if h.rewinds.Gone(b.Seq) {
				t.Fatalf("seed %d: one can go back to %d, which is gone", seed, b.Seq)
			}
		}
		cut := h.rnd.IntN(len(h.events))
		var tail State
		tail.ApplyTail(h.events[cut:])
		tail.PrependState(applied(h.events[:cut]))
		if got, want := inSight(&tail), inSight(s); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, from %d on: shown\n%q\nwant\n%q", seed, cut, got, want)
		}
	}
	if ways < 300 {
		t.Errorf("only %d ways were gone", ways)
	}
}

// FuzzRewind: whatever rewinds a file has, nothing panics, blocks stay in order and removed ones do not show.
func FuzzRewind(f *testing.F) {
	f.Add([]byte{3, 0, 9, 0, 1, 2, 200, 0, 7, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var s State
		var rewinds event.Rewinds
		seq := uint64(0)
		for i := 0; i+1 < len(data) && i < 400; i += 2 {
			seq++
			env := event.Envelope{Seq: seq, Payload: event.PromptSubmitted{ID: i, Text: "p", Kind: event.Opening}}
			if data[i]%3 == 0 {
				env.Payload = event.HistoryRewound{ToSeq: uint64(data[i+1]), Prompt: "p", Redo: data[i]%2 == 0}
			}
			raw, err := json.Marshal(env)
			if err != nil {
				t.Fatal(err)
			}
			var back event.Envelope
			if err := json.Unmarshal(raw, &back); err != nil {
				t.Fatal(err)
			}
			s.Apply(back)
			rewinds.Take(back)
		}
		for i, b := range s.Blocks {
			if i > 0 && b.Seq <= s.Blocks[i-1].Seq {
				t.Fatalf("block %d after %d", b.Seq, s.Blocks[i-1].Seq)
			}
		}
	})
}
