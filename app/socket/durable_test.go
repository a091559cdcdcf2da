package socket

import (
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
)

// A subscription to durable events gets no text that streams.
func TestDurableEventsOnly(t *testing.T) {
	h := listen(t)
	all, durable := h.dial(t), h.dial(t)
	events, err := all.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	only, err := durable.Subscribe(t.Context(), 0, client.DurableOnly)
	if err != nil {
		t.Fatal(err)
	}
	h.Publish(1, 1, event.Notice{Text: "both are there"})
	notices(t, events, 1)
	notices(t, only, 1)
	h.Publish(1, 1, event.TextDelta{Text: "streams"})
	h.Publish(1, 1, event.TaskFinished{ID: 1, Outcome: event.Completed})
	read := func(batches <-chan []event.Envelope) (deltas int) {
		for batch := range batches {
			for _, env := range batch {
				switch env.Payload.(type) {
				case event.TextDelta:
					deltas++
				case event.TaskFinished:
					return deltas
				}
			}
		}
		t.Fatal("the events ended")
		return 0
	}
	if n := read(only); n != 0 {
		t.Errorf("%d deltas", n)
	}
	if n := read(events); n == 0 { // the positive control
		t.Error("a screen got no delta")
	}
}

// A host that sends garbage is given up after one connection.
func TestAGarbledHostIsGivenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	var accepted atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			_, _ = conn.Write([]byte("{\"type\":\"hello\",\"payload\":{\"protocol\":1,\"session\":\"7f3a\"}}\n\x00\xff{{\n"))
			_ = conn.Close()
		}
	}()
	c, err := Dial(path, Screen{Looks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	batches, err := c.Subscribe(t.Context(), 0, client.DurableOnly)
	if err != nil && !errors.Is(err, errGarbled) { // the garbage may have come already
		t.Fatal(err)
	}
	if err == nil {
		select {
		case <-batches:
		case <-time.After(time.Minute):
			t.Fatal("still connected")
		}
	}
	if err := c.Err(); !errors.Is(err, errGarbled) || accepted.Load() != 1 {
		t.Errorf("%v after %d connections", err, accepted.Load())
	}
}
