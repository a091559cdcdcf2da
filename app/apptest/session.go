package apptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/sessions"
)

// StoredSession stores a session with a compaction near its end and returns its id. Each exchange takes four transcript
// blocks on the screen, and about the given number of bytes in the file.
func StoredSession(b testing.TB, store sessions.Store, exchanges, bytes int) string {
	b.Helper()
	j, err := store.Create(sessions.Header{Cwd: "/work", Target: "local", Model: "demo"})
	if err != nil {
		b.Fatal(err)
	}
	id := j.Info().Header.ID
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(store.Path(), id+".jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(w)
	seq := uint64(0)
	put := func(task int, p event.Event) {
		seq++
		if err := enc.Encode(event.Envelope{Seq: seq, Time: int64(seq), Session: id, Task: task, Turn: task, Payload: p}); err != nil {
			b.Fatal(err)
		}
	}
	put(0, event.SessionCreated{Version: "dev", Cwd: "/work", Target: "local", Model: "demo"})
	for n := 1; n <= exchanges; n++ {
		longExchange(put, n, bytes)
		if n == exchanges*99/100 {
			put(n, event.ContextCompacted{By: "summary", Summary: "much happened", Boundary: 4 * n, Removed: 4 * n})
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return id
}

// longExchange passes the events of exchange n to put: about 20 events, with about the given number of bytes in total.
func longExchange(put func(int, event.Event), n, bytes int) {
	call := fmt.Sprintf("call_%d", n)
	act := action.Action{Kind: action.Shell, Tool: "run_shell", Command: "make test", Risk: action.Low}
	code := 0
	output := strings.Repeat("ok  \tbuddy/app\t1.056s and \"more\"\n", bytes/75)
	for _, p := range []event.Event{
		event.PromptSubmitted{ID: n, Text: fmt.Sprintf("prompt %d: run the tests and say what fails", n)},
		event.TaskStarted{ID: n, Kind: event.MainTask, Title: "run the tests"},
		event.ContextUsage{Estimated: 1000, Limit: 10_000, Percent: 10},
		event.TurnStarted{TurnID: "t", Number: n},
		event.RequestStarted{Profile: "p", Model: "m", Messages: n, Tools: 3, Attempt: 1},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "I will run them.", ToolCalls: []model.ToolCall{{ID: call, Name: "run_shell", Arguments: `{"command":"make test"}`}}}},
		event.ResponseFinished{FinishReason: "tool_calls", Calls: 1},
		event.MetricsUsage{Prompt: 10, Completion: 5, SessionPrompt: 10 * n},
		event.ToolRequested{CallID: call, Name: "run_shell", Arguments: `{"command":"make test"}`, Action: act},
		event.ApprovalAsked{ID: "a" + call, CallID: call, Action: act, Verdict: action.Verdict{Decision: action.Ask}},
		event.ApprovalAnswered{ID: "a" + call, CallID: call, Decision: event.Once, By: "user"},
		event.ToolStarted{CallID: call, Name: "run_shell"},
		event.ToolResult{CallID: call, Name: "run_shell", Result: output, Tail: output, ExitCode: &code},
		event.TurnFinished{TurnID: "t", Number: n},
		event.TurnStarted{TurnID: "u", Number: n},
		event.RequestStarted{Profile: "p", Model: "m", Messages: n, Tools: 3, Attempt: 1},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: fmt.Sprintf("All **%d** tests pass.", n)}},
		event.ResponseFinished{FinishReason: "stop"},
		event.TurnFinished{TurnID: "u", Number: n},
		event.TaskFinished{ID: n, Outcome: event.Completed},
	} {
		put(n, p)
	}
}
