package history

import (
	"slices"
	"testing"

	"buddy/agent/model"
)

// Files on different targets differ, even when their paths are the same.
func TestReadsOfSeveralTargets(t *testing.T) {
	call := func(args string) model.Message {
		var c model.ToolCall
		c.Name, c.Arguments = "read_file", args
		return model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{c}}
	}
	got := New("").Reads([]model.Message{call(`{"path":"a"}`), call(`{"path":"a","target":"web"}`), call(`{"path":"a"}`)})
	if want := []Read{{"a", "web", 1}, {"a", "", 2}}; !slices.Equal(got, want) {
		t.Errorf("Reads = %+v, want %+v", got, want)
	}
	if readKey(`{"path":"a"}`) == readKey(`{"path":"a","target":"web"}`) {
		t.Error("a read on one target supersedes that on another")
	}
}
