package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/record"
)

func TestSlowReaderLosesNothingDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := &memory{}
		st := New("s1", time.Now, mem)
		events := st.Subscribe(t.Context())
		const n = 3 * maxBehind
		for i := range n {
			st.Publish(0, 0, event.TextDelta{Text: "x"})
			st.Publish(0, 0, event.Notice{Text: fmt.Sprint(i)})
		}
		st.Close()
		next := 0
		for env := range events {
			if p, ok := env.Payload.(event.Notice); ok {
				if p.Text != fmt.Sprint(next) {
					t.Fatalf("notice %s, want %d", p.Text, next)
				}
				next++
			}
		}
		if next != n {
			t.Errorf("%d notices, want %d", next, n)
		}
	})
}

func TestMergedDeltasKeepTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := New("s1", time.Now, nil)
		events := st.Subscribe(t.Context())
		var want, got strings.Builder
		for i := range 5000 {
			w := fmt.Sprint(i, " ")
			want.WriteString(w)
			st.Publish(1, 1, event.TextDelta{Text: w})
		}
		st.Close()
		count := 0
		for env := range events {
			got.WriteString(env.Payload.(event.TextDelta).Text)
			count++
		}
		if got.String() != want.String() || count > 20 {
			t.Errorf("%d events with %d bytes, want few with %d", count, got.Len(), want.Len())
		}
	})
}

func TestOutputFloodIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := New("s1", time.Now, nil)
		events := st.Subscribe(t.Context())
		block := strings.Repeat("y", 32<<10)
		for i := range int64(1000) {
			st.Publish(1, 1, event.ToolOutput{CallID: "c", Stream: "stdout", Text: block, BytesTotal: (i + 1) * int64(len(block))})
		}
		st.Close()
		size, last := 0, int64(0)
		for env := range events {
			p := env.Payload.(event.ToolOutput)
			size += len(p.Text)
			last = p.BytesTotal
		}
		if size > 2*maxOutput || last != 1000*int64(len(block)) {
			t.Errorf("%d bytes waited, the last event counts %d", size, last)
		}
	})
}

// memory is a journal that holds decoded events as read from a file.
type memory struct {
	mu     sync.Mutex
	events []event.Envelope
}

func (m *memory) Append(env event.Envelope) error {
	line, err := json.Marshal(env)
	if err != nil {
		return err
	}
	var back event.Envelope
	if err := json.Unmarshal(line, &back); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, back)
	return nil
}

func (m *memory) Range(after uint64, f func(event.Envelope) bool) error {
	m.mu.Lock()
	events := slices.Clone(m.events)
	m.mu.Unlock()
	for _, env := range events {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

// Transient events wait for the interval; durable events are sent immediately, together with the waiting ones.
func TestPacedReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := New("s1", time.Now, nil)
		batches := st.Join(t.Context(), 0, 25*time.Millisecond)
		began := time.Now()
		var at []time.Duration
		var sizes []int
		done := make(chan struct{})
		go func() {
			defer close(done)
			for batch := range batches {
				at, sizes = append(at, time.Since(began)), append(sizes, len(batch))
			}
		}()
		synctest.Wait()
		for range 9 { // 5 ms apart
			st.Publish(1, 1, event.TextDelta{Text: "x"})
			time.Sleep(5 * time.Millisecond)
		}
		st.Publish(1, 1, event.Notice{Text: "now"})
		synctest.Wait()
		st.Close()
		<-done
		if got := fmt.Sprint(at, sizes); got != "[0s 25ms 45ms] [1 1 2]" {
			t.Error(got)
		}
	})
}

// full is a journal without space.
type full struct{ memory }

func (*full) Append(event.Envelope) error { return errors.New("no space left") }

// A reader that joins after the journal has failed gets the error, as earlier readers did.
func TestJoinAfterTheJournalFailed(t *testing.T) {
	st := New("s1", time.Now, &full{})
	st.Publish(0, 0, event.Notice{Text: "not stored"})
	st.Publish(0, 0, event.Notice{Text: "nor this"})
	batches := st.Join(t.Context(), 0, 0)
	st.Close()
	var all []event.Envelope
	for batch := range batches {
		all = append(all, batch...)
	}
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	if e, ok := all[0].Payload.(event.Error); !ok || e.Code != record.Broken || e.Text != "no space left" {
		t.Errorf("%+v", all[0])
	}
}

// Each of several observers sees every event, in order.
func TestAllObserversSeeEveryEvent(t *testing.T) {
	st := New("s1", time.Now, nil)
	var first, second []uint64
	st.Observe(func(env event.Envelope) { first = append(first, env.Seq) })
	st.Publish(0, 0, event.Notice{Text: "a"})
	st.Observe(func(env event.Envelope) { second = append(second, env.Seq) })
	st.Publish(0, 0, event.Notice{Text: "b"})
	if len(first) != 2 || len(second) != 1 || first[1] != second[0] {
		t.Errorf("seen %v and %v", first, second)
	}
}
