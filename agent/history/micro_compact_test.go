package history

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
)

type tool struct{ id, name, args, result string }

func called(h *History, calls ...tool) {
	var m model.Message
	for _, c := range calls {
		m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: c.id, Name: c.name, Arguments: c.args})
	}
	h.Assistant(m)
	for _, c := range calls {
		h.Result(c.id, c.name, c.result, endOf(c.result))
	}
}

func newest(h *History) { // five results that are never cleared
	for i := range keepResults {
		called(h, tool{fmt.Sprint("new", i), "run_shell", "{}", "ok"})
	}
	h.Assistant(model.Message{Content: "done"})
}

func TestMicroCompact(t *testing.T) {
	big := strings.Repeat("a.go\n", 2000)
	tests := []struct {
		name  string
		calls []tool
		want  []string
	}{
		{"large listings", []tool{{"a", "grep", "{}", big}, {"b", "glob", "{}", big}, {"c", "list_dir", "{}", big}}, []string{"a", "b", "c"}},
		{"large output is not low value", []tool{{"a", "run_shell", "{}", big}}, nil},
		{"small listing", []tool{{"a", "grep", "{}", "x"}}, nil},
		{"read again", []tool{{"a", "read_file", `{"path":"x.go"}`, big}, {"b", "read_file", `{"path":"./x.go"}`, big}}, []string{"a"}},
		{"other lines", []tool{{"a", "read_file", `{"path":"x.go"}`, big}, {"b", "read_file", `{"path":"x.go","offset":9}`, big}}, nil},
		{"the later read failed", []tool{{"a", "read_file", `{"path":"x.go"}`, big}, {"b", "read_file", `{"path":"x.go"}`, "Tool error: gone"}}, nil},
		{"arguments that are no JSON", []tool{{"a", "read_file", `{`, big}, {"b", "read_file", `{`, big}}, nil},
		{"too little to gain", []tool{{"a", "read_file", `{"path":"e"}`, "some text of a file"}, {"b", "read_file", `{"path":"e"}`, "x"}}, nil},
		{"a failure", []tool{{"a", "grep", "{}", "Tool error: " + big}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, replayed := New("s"), New("s")
			for _, h := range []*History{h, replayed} {
				h.User("go")
				called(h, tt.calls...)
				newest(h)
			}
			handed := h.Messages()
			before := slices.Clone(handed)
			got := h.MicroCompact(true)
			if !slices.Equal(got, tt.want) {
				t.Errorf("MicroCompact() = %v, want %v", got, tt.want)
			}
			for _, m := range h.Messages() {
				if (m.Content == Cleared) != slices.Contains(tt.want, m.ToolCallID) {
					t.Errorf("result %q is %.40q", m.ToolCallID, m.Content)
				}
			}
			if h.Estimate() != sum(h) {
				t.Errorf("estimate %d, want %d", h.Estimate(), sum(h))
			}
			if !reflect.DeepEqual(handed, before) {
				t.Error("messages that were handed out changed")
			}
			if again := h.MicroCompact(true); again != nil {
				t.Errorf("a second time: %v", again)
			}
			replayed.ApplyMicro(append(got, "unknown"))
			if !reflect.DeepEqual(h.Messages(), replayed.Messages()) {
				t.Error("the replay differs")
			}
			checkValid(t, h.Messages())
		})
	}
}

// With enough room, results are cleared only if the gain justifies sending the messages after them again.
func TestMicroCompactWithRoomWeighsTheCache(t *testing.T) {
	listing := strings.Repeat("a.go ", 2000)
	for _, c := range []struct {
		name   string
		behind int // characters
		want   bool
	}{
		{"little behind it", 100, true},
		{"nearly as much behind it", 8_000, true},
		{"much more behind it", 12_000, false},
	} {
		h := New("")
		h.User("go")
		called(h, tool{"a", "grep", "{}", listing})
		h.Assistant(model.Message{Content: strings.Repeat("x", c.behind)})
		newest(h)
		if got := h.MicroCompact(false); (got != nil) != c.want {
			t.Errorf("%s: with room %v", c.name, got)
		}
		if got := h.MicroCompact(true); (got != nil) == c.want {
			t.Errorf("%s: without room %v", c.name, got)
		}
	}
}

func TestMicroCompactLeavesWhatIsNew(t *testing.T) {
	big := strings.Repeat("a.go ", 2000)
	h := New("")
	h.User("go")
	for i := range keepResults {
		called(h, tool{fmt.Sprint(i), "grep", "{}", big})
	}
	h.Assistant(model.Message{Content: "done"})
	if got := h.MicroCompact(true); got != nil {
		t.Errorf("the newest %d went: %v", keepResults, got)
	}

	h = New("")
	h.User("go")
	var calls []tool
	for i := range 2 * keepResults {
		calls = append(calls, tool{fmt.Sprint(i), "grep", "{}", big})
	}
	called(h, calls...)
	if got := h.MicroCompact(true); got != nil {
		t.Errorf("unread results went: %v", got)
	}
	h.Assistant(model.Message{Content: "read"})
	h.Pin(2) // one result pins all of its answer
	if got := h.MicroCompact(true); got != nil {
		t.Errorf("pinned results went: %v", got)
	}
	h.Unpin(3)
	if got := h.MicroCompact(true); len(got) != keepResults {
		t.Errorf("MicroCompact() = %v, want %d", got, keepResults)
	}
}
