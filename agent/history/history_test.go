package history

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"buddy/agent/model"
)

// checkValid fails unless msgs could be sent: A05, A17, B20.
func checkValid(t *testing.T, msgs []model.Message) {
	t.Helper()
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		if m.Role == model.Tool {
			t.Fatalf("message %d is a result without a call: %+v", i, m)
		}
		if m.Role == model.Assistant && m.Content == "" && len(m.ToolCalls) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		for _, c := range m.ToolCalls {
			i++
			if i >= len(msgs) || msgs[i].Role != model.Tool || msgs[i].ToolCallID != c.ID {
				t.Fatalf("call %q has no result at place %d", c.ID, i)
			}
			if msgs[i].Content == "" {
				t.Fatalf("result %q is empty", c.ID)
			}
		}
	}
}

func TestAlwaysValid(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := New([]string{"", "system"}[r.IntN(2)])
		for step := range 60 {
			switch r.IntN(4) {
			case 0:
				h.User("hello")
			case 1:
				m := model.Message{Content: []string{"", " ", "text"}[r.IntN(3)]}
				for range r.IntN(4) {
					id := fmt.Sprint("c", step, r.IntN(3))
					m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: []string{id, ""}[r.IntN(8)/7], Name: "run_shell"})
				}
				h.Assistant(m)
			case 2:
				if open := h.Open(); len(open) > 0 {
					c := open[r.IntN(len(open))]
					if !h.Result(c.ID, c.Name, []string{"", "out"}[r.IntN(2)]) {
						t.Fatalf("open call %q was refused", c.ID)
					}
				}
			case 3:
				if h.Result("nobody", "run_shell", "x") {
					t.Fatal("a result without a call was taken")
				}
			}
		}
		h.Close(Unanswered)
		checkValid(t, h.Messages())
	}
}

func TestResultsKeepCallOrder(t *testing.T) { // A22
	h := New("")
	h.Assistant(model.Message{ToolCalls: []model.ToolCall{{ID: "a", Name: "x"}, {ID: "b", Name: "x"}, {ID: "c", Name: "x"}}})
	for _, id := range []string{"c", "a", "b"} {
		h.Result(id, "x", "result "+id)
	}
	checkValid(t, h.Messages())
}

func TestBlankSystemPromptAddsNothing(t *testing.T) { // A02
	if n := len(New(" \n").Messages()); n != 0 {
		t.Errorf("%d messages, want none", n)
	}
	if n := len(New("be brief").Messages()); n != 1 {
		t.Errorf("%d messages, want one", n)
	}
}

func TestTokens(t *testing.T) { // B01
	h := New("")
	h.User("12345678")
	if got := h.Tokens(); got != (16+8)/4 {
		t.Errorf("Tokens() = %d, want 6", got)
	}
}
