package sessions

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// A transcript contains the model's conversation, in the model's form, and nothing of subagents.
func TestTranscript(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	call := model.Message{Role: model.Assistant, Content: "I look.", ToolCalls: []model.ToolCall{{ID: "c", Name: "use_tool", Arguments: `{"name":"exit_plan","args":{}}`}}}
	var envs []event.Envelope
	for i, p := range []event.Event{
		event.PromptSubmitted{ID: 1, Text: "fix it", Images: make([]model.Image, 2)},
		event.PromptSubmitted{ID: 2, Text: "waits", Queued: true},
		event.ReminderAttached{Text: "<system-reminder>\nplan\n</system-reminder>"},
		event.ModelMessage{Message: call},
		event.Notice{Text: "for people"},
		event.ToolResult{CallID: "c", Name: "use_tool", Result: "text\n[hint: more]", Tail: "for people"},
		event.ResultSpilled{CallID: "c", Result: "short"},
		event.ContextCompacted{Summary: "in short", Removed: 3},
	} {
		envs = append(envs, event.Envelope{Seq: uint64(i) + 1, Session: id, Payload: p})
	}
	envs = append(envs, event.Envelope{Seq: 20, Session: id, Branch: 3, Payload: event.ToolResult{Result: "of a subagent"}})
	appendAll(t, j, envs)
	closeJournal(t, j)
	got, err := s.Transcript(id)
	want := "[user]\nfix it\n(pictures: 2)\n\n[user]\n<system-reminder>\nplan\n</system-reminder>\n\n[assistant]\nI look.\n→ use_tool {\"name\":\"exit_plan\",\"args\":{}}\n\n" +
		"[tool use_tool]\ntext\n[hint: more]\n\n[replaces the result above of call c]\nshort\n\n[replaces 3 messages above]\nin short\n\n"
	if err != nil || got != want {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
}

// The transcript of a very long session is its end.
func TestTranscriptIsBounded(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	const limit = 10_000
	long := strings.Repeat("x", 1000)
	var envs []event.Envelope
	for i := range 40 {
		envs = append(envs, event.Envelope{Seq: uint64(i) + 1, Session: id, Payload: event.ToolResult{Name: "t", Result: long}})
	}
	envs = append(envs, event.Envelope{Seq: 100, Session: id, Payload: event.PromptSubmitted{ID: 1, Text: "the end"}})
	appendAll(t, j, envs)
	closeJournal(t, j)
	got, err := s.transcript(id, limit)
	if err != nil || len(got) > limit+100 || !strings.HasPrefix(got, "[1 MB before this") || !strings.HasSuffix(got, "the end\n\n") {
		t.Errorf("%v, %d bytes: %.80q … %q", err, len(got), got, got[max(0, len(got)-40):])
	}
}
