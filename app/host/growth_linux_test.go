package host

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/live"
	"buddy/app/socket"
)

var growthTurns = flag.Int("growth", 0, "how many turns of five calls TestGrowth works; 2000 have 100 MB of output")

const (
	turnsOfExchange = 20
	callsOfTurn     = 5
	warmUp          = 5 // exchanges: caches fill, and the context has been made smaller for the first time
)

// busyModel answers on HTTP as a model that works through prompts: twenty answers with five
// calls each, then one that ends the exchange. It keeps nothing of what it is sent.
type busyModel struct{ answers, calls atomic.Int64 }

func (m *busyModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish string) {
		choice := map[string]any{"delta": delta}
		if finish != "" {
			choice["finish_reason"] = finish
		}
		text, _ := json.Marshal(map[string]any{"choices": []any{choice}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	}
	finish := "stop"
	if calls := m.next(body); calls == nil {
		chunk(map[string]any{"content": "I looked at the **numbers** again; they are as they were."}, "")
	} else {
		chunk(map[string]any{"tool_calls": calls}, "")
		finish = "tool_calls"
	}
	chunk(map[string]any{}, finish)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// next returns the calls of an answer, nil if it has none: it is a summary, a title or the end of an exchange.
func (m *busyModel) next(request []byte) (calls []any) {
	if !bytes.Contains(request, []byte(`"tools":[{`)) || m.answers.Add(1)%(turnsOfExchange+1) == 0 {
		return nil
	}
	for i := range callsOfTurn {
		n := m.calls.Add(1)
		name, args := "run_shell", map[string]any{"command": fmt.Sprintf("seq %d %d", 1_000_000+n, 1_002_100+n)} // 16,808 bytes
		switch i {
		case 1:
			name, args = "write_file", map[string]any{"path": fmt.Sprintf("note%d.txt", n%100), "content": fmt.Sprintf("note %d\n", n)}
		case 3:
			name, args = "read_file", map[string]any{"path": fmt.Sprintf("note%d.txt", (n-2)%100)}
		}
		text, _ := json.Marshal(args)
		calls = append(calls, map[string]any{"index": i, "id": fmt.Sprintf("call%d", n), "type": "function", "function": map[string]any{"name": name, "arguments": string(text)}})
	}
	return calls
}

// lived is what a session held and took at a moment.
type lived struct {
	turns     int
	heap, rss int64         // in bytes, after a collection
	each      time.Duration // of a turn, the median of ten exchanges
}

// TestGrowth works with a session for a long time: neither a turn takes longer at its end than at its
// beginning, nor does the process hold more. The model is scripted; everything else is real: the
// protocol, commands in tmux, files, the session's file, making the context smaller, a screen's subscription.
func TestGrowth(t *testing.T) {
	if *growthTurns == 0 {
		t.Skip("takes minutes; -growth says how long, as make counterparts ONLY=growth does")
	}
	server := httptest.NewServer(new(busyModel))
	t.Cleanup(server.Close)
	config := filepath.Join(t.TempDir(), "buddy.toml")
	settings := fmt.Sprintf("[models.busy]\napi_base_url = %q\napi_key = \"\"\nmodel = \"busy\"\ncontext_limit = 200000\n", server.URL+"/v1")
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openHostWith(t, &compose.Options{Config: config, Model: "busy", Approve: action.ModeAll})
	w := &work{t: t, Session: h.Connect(t.Context(), socket.Screen{})}
	var err error
	if w.events, err = w.Subscribe(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	exchanges := *growthTurns/turnsOfExchange + warmUp
	tenth := max(1, (exchanges-warmUp)/10)
	var took []time.Duration
	var table []lived
	for n := range exchanges {
		took = append(took, w.exchange(n)/turnsOfExchange)
		done := n + 1 - warmUp
		if done > 0 && done%tenth == 0 {
			table = append(table, weigh((n+1)*turnsOfExchange, took[len(took)-tenth:]))
		}
	}
	w.judge(table, exchanges)
}

// work is a screen that submits prompts and waits for their ends.
type work struct {
	live.Session
	t       *testing.T
	events  <-chan []event.Envelope
	results int
	output  int64 // bytes of all results, as long as they were before they were cut
	smaller int   // how often the context was made smaller
}

// exchange submits a prompt and returns how long it took.
func (w *work) exchange(n int) time.Duration {
	w.t.Helper()
	began := time.Now()
	w.Send(event.Submit{Text: fmt.Sprintf("prompt %d", n)})
	late := time.After(limit)
	for {
		select {
		case batch, ok := <-w.events:
			if !ok {
				w.t.Fatal("the events ended")
			}
			for _, env := range batch {
				switch p := env.Payload.(type) {
				case event.ToolResult:
					w.results++
					w.output += int64(len(p.Result))
					if p.FullOutput != nil {
						w.output += p.FullOutput.Bytes - int64(len(p.Result))
					}
					if p.IsError {
						w.t.Fatalf("exchange %d: %s: %s", n, p.Name, p.Result)
					}
				case event.ContextCompacted, event.MicroCompacted:
					w.smaller++
				case event.TaskFinished:
					if p.Outcome != event.Completed {
						w.t.Fatalf("exchange %d: %s %s", n, p.Outcome, p.Error)
					}
					return time.Since(began)
				}
			}
		case <-late:
			w.t.Fatalf("exchange %d did not end", n)
		}
	}
}

// weigh returns what the process holds now, and the median of how long turns took.
func weigh(turns int, took []time.Duration) lived {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	took = slices.Sorted(slices.Values(took))
	l := lived{turns: turns, heap: int64(m.HeapAlloc), each: took[len(took)/2]}
	text, _ := os.ReadFile("/proc/self/statm")
	if words := strings.Fields(string(text)); len(words) > 1 {
		pages, _ := strconv.ParseInt(words[1], 10, 64)
		l.rss = pages * int64(os.Getpagesize())
	}
	return l
}

// judge prints the table, and fails if its end is worse than its beginning.
func (w *work) judge(table []lived, exchanges int) {
	w.t.Helper()
	if want := exchanges * turnsOfExchange * callsOfTurn; w.results != want {
		w.t.Errorf("%d results of calls, want %d", w.results, want)
	}
	var text strings.Builder
	const mb = 1 << 20
	for _, l := range table {
		fmt.Fprintf(&text, "%8d %12.1f %10.1f %10.1f\n", l.turns, float64(l.each.Microseconds())/1000, float64(l.heap)/mb, float64(l.rss)/mb)
	}
	w.t.Logf("%d calls, %d MB of output, the context was made smaller %d times\n%8s %12s %10s %10s\n%s",
		w.results, w.output/mb, w.smaller, "turns", "ms per turn", "heap MB", "RSS MB", text.String())
	first, last := table[0], table[len(table)-1]
	if float64(last.each) > 1.5*float64(first.each) {
		w.t.Errorf("a turn took %s at the end, %s at the beginning", last.each, first.each)
	}
	for _, grown := range []struct {
		what     string
		from, to int64
	}{{"the heap", first.heap, last.heap}, {"RSS", first.rss, last.rss}} {
		if grown.to-grown.from > 8*mb {
			w.t.Errorf("%s grew from %d to %d MB", grown.what, grown.from/mb, grown.to/mb)
		}
	}
}
