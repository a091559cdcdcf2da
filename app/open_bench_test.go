package app

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/sessions"
	"buddy/themes"
	"buddy/views"
)

var (
	longSize = flag.Int("long", 20, "size in MB of the session that benchmarks open; it has 500 events a MB")
	longDir  = flag.String("longdir", "", "where to leave that session, to open it by hand")
)

// longSession stores a session of the size that -long says, with a compaction near its
// end, and returns its id.
func longSession(b *testing.B) (sessions.Store, string) {
	b.Helper()
	return storedSession(b, *longSize*25, 20<<20/500)
}

// storedSession stores a session of so many exchanges of so many bytes, four blocks each.
func storedSession(b *testing.B, exchanges, bytes int) (sessions.Store, string) {
	b.Helper()
	var store sessions.Store
	if *longDir == "" {
		store = tempStore(b)
	} else {
		var err error
		if store, _, err = sessions.Dir(*longDir); err != nil {
			b.Fatal(err)
		}
	}
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
	put(0, event.SessionCreated{Version: Version, Cwd: "/work", Target: "local", Model: "demo"})
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
	return store, id
}

// longExchange is an exchange of about 20 events and so many bytes.
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

// What a person waits for when a long session is opened (DECISIONS 12): the end of it for
// the first frame, then what the runtime needs; and, beside that, the rest, of which only
// prepend is on the UI goroutine.
func BenchmarkOpenLong(b *testing.B) {
	store, id := longSession(b)
	theme, err := themes.Load("", "dark")
	if err != nil {
		b.Fatal(err)
	}
	openTail := func() (*sessions.Journal, sessions.Part) {
		j, err := store.Open(id)
		if err != nil {
			b.Fatal(err)
		}
		part, err := j.Tail(firstEvents)
		if err != nil {
			b.Fatal(err)
		}
		return j, part
	}
	b.Run("tail", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			j, part := openTail()
			var s state.State
			s.ApplyTail(part.Events)
			_ = j.Close()
		}
	})
	j, part := openTail()
	defer func() { _ = j.Close() }()
	b.Run("runtime", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := replayOf(j); err != nil {
				b.Fatal(err)
			}
		}
	})
	older := func() *state.State {
		before := new(state.State)
		if err := j.Older(part, func(env event.Envelope) bool { before.Apply(env); return true }); err != nil {
			b.Fatal(err)
		}
		return before
	}
	b.Run("rest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			older()
		}
	})
	b.Run("prepend", func(b *testing.B) {
		var took time.Duration
		n := 0
		for ; b.Loop(); n++ { // reading the rest takes a thousand times longer: a timer of its own
			before := older()
			var s state.State
			s.ApplyTail(part.Events)
			c := views.NewConversation(theme, keymap.Default())
			c.Update(&s, state.Everything)
			began := time.Now()
			c.Update(&s, s.PrependState(before))
			took += time.Since(began)
		}
		b.ReportMetric(float64(took.Microseconds())/float64(n)/1000, "prepend-ms")
	})
}
