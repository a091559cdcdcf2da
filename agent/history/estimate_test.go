package history

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"buddy/agent/model"
)

// sum computes the estimate from all messages; the running estimate must equal it.
func sum(h *History) int {
	n := h.gauge.fixed
	for _, m := range h.msgs {
		n += size(m)
	}
	return n / CharsPerToken
}

// The estimate of a message is 16 characters, its text, the names and arguments of its calls, and the provider's
// extra data, divided by four.
func TestEstimateOfAMessage(t *testing.T) {
	call := func(id, name, args string) model.ToolCall {
		return model.ToolCall{ID: id, Name: name, Arguments: args}
	}
	for _, tt := range []struct {
		name string
		fill func(h *History)
		want int
	}{
		{"nothing", func(*History) {}, 0},
		{"text", func(h *History) { h.User("12345678") }, (16 + 8) / 4},
		{"text of several bytes a character", func(h *History) { h.User("ÄÖ") }, (16 + 4) / 4},
		{"rounded down once", func(h *History) { h.User("123"); h.Append(model.Reminder, "123") }, (2*16 + 6) / 4},
		{"an answer with calls", func(h *History) {
			h.Assistant(model.Message{Content: "look", ToolCalls: []model.ToolCall{call("call_1", "grep", `{"a":1}`), call("call_2", "glob", `{}`)}})
		}, (16 + 4 + 4 + 7 + 4 + 2) / 4},
		{"a result", func(h *History) {
			h.Assistant(model.Message{ToolCalls: []model.ToolCall{call("call_1", "grep", `{}`)}})
			h.Result("call_1", "grep", "12345678", Worked)
		}, (16 + 4 + 2 + 16 + 8) / 4},
		{"fields of the provider", func(h *History) {
			h.Assistant(model.Message{Content: "ab", Extra: map[string]json.RawMessage{"reasoning": json.RawMessage(`"because"`)}})
		}, (16 + 2 + 9 + 9) / 4},
	} {
		h := New("")
		tt.fill(h)
		if got := h.Estimate(); got != tt.want {
			t.Errorf("%s: %d tokens, want %d", tt.name, got, tt.want)
		}
	}
}

func TestFixedPartCounts(t *testing.T) {
	h := New("")
	h.SetFixed(400)
	h.User("12345678")
	if got := h.Estimate(); got != 106 {
		t.Errorf("Estimate() = %d, want 106", got)
	}
}

func TestCalibrate(t *testing.T) {
	tests := []struct {
		name    string
		samples [][2]int // estimated, observed
		want    float64
	}{
		{"nothing known", nil, 1},
		{"no usage", [][2]int{{100, 0}, {0, 100}}, 1},
		{"first", [][2]int{{100, 200}}, 1.35},
		{"second", [][2]int{{100, 200}, {100, 200}}, 1.35 + 0.35*0.65},
		{"too high", [][2]int{{1, 1000}}, 1 + 0.35*1.5},
		{"too low", [][2]int{{1000, 1}}, 1 - 0.35*0.5},
		{"fifth", [][2]int{{100, 100}, {100, 100}, {100, 100}, {100, 100}, {100, 200}}, 1.15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := New("")
			for _, s := range tt.samples {
				h.SetFixed(4 * s[0])
				h.Sent()
				h.User("an answer that came meanwhile")
				h.Calibrate(s[1])
				if s[1] > 0 {
					h.Calibrate(1) // the same request: no second sample
				}
				h.gauge.chars = 0
			}
			h.User(strings.Repeat("x", 4_000_000))
			if got := float64(h.Tokens()) / float64(h.Estimate()); math.Abs(got-tt.want) > 0.001 {
				t.Errorf("ratio %.4f, want %.4f", got, tt.want)
			}
		})
	}
}

func TestCalibrationIsPerModel(t *testing.T) {
	h := New("")
	h.User(strings.Repeat("x", 4000))
	h.SetModel("a")
	h.Sent()
	h.Calibrate(2 * h.Estimate())
	a := h.Tokens()
	h.SetModel("b")
	if got := h.Tokens(); got != h.Estimate() {
		t.Errorf("a new model counts %d, want %d", got, h.Estimate())
	}
	h.SetModel("a")
	if got := h.Tokens(); got != a || a == h.Estimate() {
		t.Errorf("back at the first: %d, want %d", got, a)
	}
}

// long returns a history of 20 MB: 10 000 turns with a tool.
func long(tool string) (h *History, turn func(n int)) {
	h = New("system")
	text := strings.Repeat("x", 2000)
	turn = func(n int) {
		id := fmt.Sprint("c", n)
		h.Assistant(model.Message{ToolCalls: []model.ToolCall{{ID: id, Name: tool, Arguments: `{"path":"a"}`}}})
		h.Result(id, tool, text, Worked)
	}
	for n := range 10_000 {
		if n%10 == 0 {
			h.User("go on")
		}
		turn(n)
	}
	return h, turn
}

// BenchmarkTurn measures one turn on top of a history of 20 MB, including the search for
// results to clear.
func BenchmarkTurn(b *testing.B) {
	h, turn := long("run_shell")
	b.ReportAllocs()
	n := 10_000
	for b.Loop() {
		turn(n)
		n++
		if h.Tokens() == 0 || len(h.Messages()) == 0 || h.MicroCompact(true) != nil {
			b.Fatal("not the history that it should be")
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		h, _ := long("grep")
		b.StartTimer()
		h.MicroCompact(true)
		h.Compact(0)
	}
}
