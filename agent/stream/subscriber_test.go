package stream

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
)

// flood holds the maximum size of a stopped reader's queue.
type flood struct{ events, bytes int }

func pour(st *Stream, n int, next func(i int) event.Event) (f flood) {
	for i := range n {
		st.Publish(1, 1, next(i))
		q := st.subs[0]
		q.mu.Lock()
		f.events, f.bytes = max(f.events, len(q.queue)), max(f.bytes, q.waiting.bytes)
		if i%500 == 0 { // recounted
			bytes := 0
			for _, env := range q.queue {
				if env.Payload != nil {
					bytes += weight(env.Payload)
				}
			}
			f.bytes = max(f.bytes, bytes)
		}
		q.mu.Unlock()
	}
	return f
}

// The queue of a stopped reader is bounded for any sequence of events, and the numbers it reads later increase.
func TestStoppedReaderIsBounded(t *testing.T) {
	screen := func(i int) event.Event {
		return event.PaneScreen{Pane: fmt.Sprint("%", i%4), Rows: []string{fmt.Sprint("row ", i), strings.Repeat("x", 100)}}
	}
	long := strings.Repeat("y", 60_000)
	for name, next := range map[string]func(i int) event.Event{
		"panes and calls": func(i int) event.Event {
			if i%2 == 0 {
				return screen(i)
			}
			return event.CallDelta{CallID: "c", Text: "{"}
		},
		"every kind": func(i int) event.Event {
			return []event.Event{
				event.TextDelta{Text: "word "},
				event.ReasoningDelta{Field: "r", Text: "hm "},
				screen(i / 7),
				event.CallDelta{CallID: fmt.Sprint(i % 5), Text: "{"},
				event.ToolOutput{CallID: "c", Stream: []string{"stdout", "stderr"}[i%2], Text: "out "},
				event.TaskProgress{ID: 3, Text: "x"},
				event.PaneHistory{Pane: "%1"},
			}[i%7]
		},
		"ever new calls":     func(i int) event.Event { return event.CallDelta{CallID: fmt.Sprint(i), Text: "{"} },
		"durable in between": func(i int) event.Event { return []event.Event{screen(i), event.Notice{Text: "x"}}[i%2] },
		"large results":      func(i int) event.Event { return event.ToolResult{CallID: fmt.Sprint(i), Result: long, Tail: long} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 10_000
				if name == "large results" {
					n = 60
				}
				st := New("s1", time.Now, &memory{})
				events := st.Subscribe(t.Context())
				f := pour(st, n, next)
				if f.events > 2*maxWaiting/leastSize || f.bytes > maxWaiting+maxWaiting/10 {
					t.Errorf("%d events with %d bytes waited", f.events, f.bytes)
				}
				t.Logf("%d events, %d bytes", f.events, f.bytes)
				st.Close()
				last, durable, seen := uint64(0), 0, make(map[string]string)
				for env := range events {
					if env.Seq <= last {
						t.Fatalf("event %d came after %d", env.Seq, last)
					}
					last = env.Seq
					if event.Durable(env.Payload) {
						durable++
					}
					if p, ok := env.Payload.(event.PaneScreen); ok {
						seen[p.Pane] = p.Rows[0]
					}
				}
				want := 0
				latest := make(map[string]string)
				for i := range n {
					e := next(i)
					if event.Durable(e) {
						want++
					}
					if p, ok := e.(event.PaneScreen); ok {
						latest[p.Pane] = p.Rows[0]
					}
				}
				if durable != want || fmt.Sprint(seen) != fmt.Sprint(latest) {
					t.Errorf("read %d durable events, want %d; the panes show %v, want %v", durable, want, seen, latest)
				}
			})
		})
	}
}

// Without a journal, an event costs the same with many durable events in the queue as with none.
func TestManyDurableEventsWithoutAJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := New("s1", time.Now, nil)
		st.Subscribe(t.Context())
		publish := func() { st.Publish(0, 0, event.Notice{Text: "x"}) }
		for range 2 * maxBehind {
			publish()
		}
		if n := testing.AllocsPerRun(100, publish); n > 5 {
			t.Errorf("an event takes %.0f allocations", n)
		}
		st.Close()
	})
}

// Without a journal no durable event is dropped, and transient ones are bounded.
func TestStoppedReaderWithoutAJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := New("s1", time.Now, nil)
		events := st.Subscribe(t.Context())
		f := pour(st, 10_000, func(i int) event.Event {
			if i%1000 == 0 {
				return event.Notice{Text: "x"}
			}
			return event.CallDelta{CallID: fmt.Sprint(i), Text: "{"}
		})
		if f.bytes > maxWaiting+maxWaiting/10 {
			t.Errorf("%d bytes waited", f.bytes)
		}
		st.Close()
		notices := 0
		for env := range events {
			if event.Durable(env.Payload) {
				notices++
			}
		}
		if notices != 10 {
			t.Errorf("%d notices, want 10", notices)
		}
	})
}
