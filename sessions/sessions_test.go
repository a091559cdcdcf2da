package sessions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// newStore returns an empty store with its own state directory.
func newStore(t testing.TB) Store {
	t.Helper()
	dir := t.TempDir()
	return Store{dir: filepath.Join(dir, "work", ".buddyx", "sessions"), state: filepath.Join(dir, "state")}
}

func create(t testing.TB, s Store) *Journal {
	t.Helper()
	j, err := s.Create(Header{Cwd: "/work", Target: "local", Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeJournal(t, j) })
	return j
}

func open(t testing.TB, s Store, id string) *Journal {
	t.Helper()
	j, err := s.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeJournal(t, j) })
	return j
}

func closeJournal(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func appendAll(t testing.TB, j *Journal, envs []event.Envelope) {
	t.Helper()
	for _, env := range envs {
		if err := j.Append(env); err != nil {
			t.Fatal(err)
		}
	}
}

func load(t testing.TB, j *Journal) Part {
	t.Helper()
	p, err := j.Load()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exchange is one prompt with one tool call, as the journal sees it; its numbers start after seq.
func exchange(id string, seq uint64, n int) []event.Envelope {
	call := fmt.Sprintf("call_%d", n)
	act := action.Action{Kind: action.Shell, Tool: "run_shell", Command: "ls -l <x> && echo \"é\n\"", Risk: action.Low}
	code := 0
	msg := model.Message{
		Role: model.Assistant, Content: "",
		ToolCalls: []model.ToolCall{{ID: call, Name: "run_shell", Arguments: `{"command": "ls <&> 1"}`}},
		Extra:     map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"a <b> & c"`)},
	}
	payloads := []event.Event{
		event.PromptSubmitted{ID: n, Text: fmt.Sprintf("prompt %d: list the\n files", n)},
		event.TaskStarted{ID: n, Kind: event.MainTask, Title: "list"},
		event.ContextUsage{Estimated: 100 * n, Limit: 10_000, Percent: n},
		event.TurnStarted{TurnID: "t", Number: 2*n - 1},
		event.RequestStarted{Profile: "p", Model: "m", Messages: n, Tools: 3, Attempt: 1},
		event.Checkpoint{Text: "I will", Reasoning: "hm"},
		event.ModelMessage{Message: msg, Reasoning: "hm, yes"},
		event.ResponseFinished{FinishReason: "tool_calls", Calls: 1},
		event.MetricsUsage{Prompt: 10, Completion: 5, SessionPrompt: 10 * n},
		event.ToolRequested{CallID: call, Name: "run_shell", Arguments: msg.ToolCalls[0].Arguments, Action: act},
		event.ApprovalAsked{ID: "a" + call, CallID: call, Action: act, Verdict: action.Verdict{Decision: action.Ask, Reason: "why"}},
		event.ApprovalAnswered{ID: "a" + call, CallID: call, Decision: event.Once, By: "user"},
		event.ToolStarted{CallID: call, Name: "run_shell", Pane: "%1"},
		event.ToolResult{CallID: call, Name: "run_shell", Result: "x\u2028\x1b[31m", ExitCode: &code, Tail: "x"},
		event.TurnFinished{TurnID: "t", Number: 2*n - 1, Usage: &model.Usage{Prompt: 10}},
		event.TurnStarted{TurnID: "u", Number: 2 * n},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "done"}},
		event.TurnFinished{TurnID: "u", Number: 2 * n, StopReason: "stop"},
		event.TaskFinished{ID: n, Outcome: event.Completed},
	}
	envs := make([]event.Envelope, len(payloads))
	for i, p := range payloads {
		envs[i] = event.Envelope{Seq: seq + uint64(i) + 1, Time: 1_700_000_000_000 + int64(i), Session: id, Task: n, Payload: p}
	}
	return envs
}

// stream is a session of some exchanges.
func stream(id string, exchanges int) []event.Envelope {
	envs := []event.Envelope{{Seq: 1, Time: 1, Session: id, Payload: event.SessionCreated{Version: "1", Cwd: "/work", Model: "demo"}}}
	for n := 1; n <= exchanges; n++ {
		envs = append(envs, exchange(id, envs[len(envs)-1].Seq, n)...)
	}
	return envs
}

func wantEvents(t testing.TB, what string, got, want []event.Envelope) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %d envelopes %v, want %d %v", what, len(got), seqs(got), len(want), seqs(want))
	}
}

func seqs(envs []event.Envelope) []uint64 {
	var s []uint64
	for _, e := range envs {
		s = append(s, e.Seq)
	}
	return s
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not contain %q", err, p)
		}
	}
}
