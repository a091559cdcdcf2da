package state

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// kinds returns a letter for each block.
func kinds(s *State) string {
	var b strings.Builder
	for _, block := range s.Blocks {
		b.WriteByte(" UARTNWE"[min(block.Kind, ErrorBlock)])
	}
	return b.String()
}

// The notice about a long command disappears when no command runs any more; other notices stay.
func TestNoticeOfALongCommandGoesWithIt(t *testing.T) {
	s := &script{}
	s.add(1, event.PromptSubmitted{Text: "go"}, event.ToolRequested{CallID: "a", Name: "run_shell"}, event.ToolRequested{CallID: "b", Name: "run_shell"},
		event.ToolStarted{CallID: "a"}, event.ToolStarted{CallID: "b"},
		event.Notice{Text: "it runs", Code: event.LongCommand}, event.Notice{Text: "stays"}, event.Notice{Text: "so does the other", Code: event.LongCommand})
	if got := kinds(replay(s.envs)); got != "UTTNNN" {
		t.Errorf("while both run: %s", got)
	}
	s.add(1, event.ToolResult{CallID: "a"})
	if got := kinds(replay(s.envs)); got != "UTTNNN" {
		t.Errorf("while one runs: %s", got)
	}
	s.add(1, event.ToolResult{CallID: "b"})
	if got := replay(s.envs); kinds(got) != "UTTN" || string(got.Blocks[3].Text) != "stays" {
		t.Errorf("when none runs: %s", kinds(got))
	}
}

// The reasoning lasts until the next event. Its duration is unknown for an answer that was not watched live.
func TestThoughtTakes(t *testing.T) {
	message := event.ModelMessage{Message: model.Message{Content: "so"}, Reasoning: "hm"}
	for name, tt := range map[string]struct {
		events []event.Event
		took   int64
	}{
		"text":        {[]event.Event{event.ReasoningDelta{Text: "h"}, event.ReasoningDelta{Text: "m"}, event.TextDelta{Text: "s"}, event.TextDelta{Text: "o"}, message}, 2000},
		"a call":      {[]event.Event{event.ReasoningDelta{Text: "hm"}, event.CallDelta{Text: "{"}, event.CallDelta{Text: "}"}, message}, 1000},
		"the end":     {[]event.Event{event.ReasoningDelta{Text: "hm"}, message}, 1000},
		"not watched": {[]event.Event{message}, 0},
	} {
		s := &script{}
		s.add(1, tt.events...)
		if b := replay(s.envs).Blocks[0]; b.Kind != ReasoningBlock || b.Took != tt.took {
			t.Errorf("%s: it took %d ms, want %d", name, b.Took, tt.took)
		}
	}
}
