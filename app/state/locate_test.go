package state

import (
	"fmt"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

func TestBlocksOf(t *testing.T) {
	var s State
	if at, exact := s.BlocksOf(1, ""); at != nil || exact || !s.Whole() {
		t.Errorf("of nothing: %v, %v", at, exact)
	}
	for i, p := range []event.Event{
		event.PromptSubmitted{ID: 1, Text: "one"}, // 1: block 0
		event.TextDelta{Text: "an"},               // 2: block 1, then 2
		event.ReasoningDelta{Text: "hm"},          // 3: block 1
		event.ModelMessage{Reasoning: "hm", Message: model.Message{Role: model.Assistant, Content: "answer"}}, // 4
		event.ToolRequested{CallID: "a", Name: "time"},                                                        // 5: block 3
		event.ToolResult{CallID: "a", Name: "time", Result: "now"},                                            // 6
		event.TurnFinished{},                                         // 7
		event.ToolRequested{CallID: "a", Name: "time"},               // 8: block 4, a provider reuses the id
		event.ToolResult{CallID: "a", Name: "time", Result: "later"}, // 9
	} {
		s.Apply(event.Envelope{Seq: uint64(i + 1), Task: 1, Payload: p})
	}
	for _, tt := range []struct {
		seq  uint64
		call string
		want string
	}{
		{1, "", "[0] true"},
		{4, "", "[1 2] true"},
		{5, "a", "[3] true"},
		{6, "a", "[3] true"},
		{9, "a", "[4] true"},
		{7, "", "[3] false"}, // nothing shows it: the block before it
		{6, "b", "[3] false"},
		{99, "", "[4] false"},
		{0, "", "[0] false"},
	} {
		at, exact := s.BlocksOf(tt.seq, tt.call)
		if got := fmt.Sprint(at, exact); got != tt.want {
			t.Errorf("BlocksOf(%d, %q) = %s, want %s", tt.seq, tt.call, got, tt.want)
		}
	}
}

func TestWhole(t *testing.T) {
	all := []event.Envelope{{Seq: 1, Payload: event.SessionCreated{}}, {Seq: 2, Payload: event.PromptSubmitted{Text: "one"}}}
	var s State
	if s.ApplyTail(all[1:]); s.Whole() {
		t.Error("the beginning is missing")
	}
	var before State
	before.Apply(all[0])
	if s.PrependState(&before); !s.Whole() {
		t.Error("it is all there")
	}
	var short State
	if short.ApplyTail(all); !short.Whole() {
		t.Error("the tail was everything")
	}
}
