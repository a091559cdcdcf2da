package sessions

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"

	"buddy/agent/event"
)

// Reading any file ends without a panic, reading it in parts gives the same result, and a writable session can be
// continued.
func FuzzJournal(f *testing.F) {
	s := newStore(f)
	j := create(f, s)
	id := j.Info().Header.ID
	appendAll(f, j, stream(id, 1))
	data := readFile(f, j.path)
	head := data[:j.head]
	closeJournal(f, j)
	f.Add(data[j.head:])
	f.Add(data[j.head : len(data)-3])
	f.Add([]byte("\n\n{}\nnull\n{\"seq\":1}\n"))
	f.Add([]byte(`{"seq":1,"type":"x"}` + "\n" + `{"seq":7,"type":"x","payload":{}}` + "\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if err := os.WriteFile(s.file(id), append(slices.Clip(head), body...), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := s.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		defer closeJournal(t, j)
		p := load(t, j)
		if lines := bytes.Count(body, []byte{'\n'}); len(p.Events)+len(p.Warnings) != lines {
			t.Fatalf("%d envelopes and %d warnings of %d lines", len(p.Events), len(p.Warnings), lines)
		}
		tail, err := j.Tail(2)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := j.Before(tail, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		wantEvents(t, "in parts", append(rest.Events, tail.Events...), p.Events)
		n := 0
		if err := j.Range(0, func(event.Envelope) bool { n++; return true }); err != nil || n != len(p.Events) {
			t.Fatalf("Range saw %d envelopes of %d, %v", n, len(p.Events), err)
		}
		next := event.Envelope{Seq: event.NextSeq(j.Info().LastSeq), Payload: event.Notice{Text: "next"}}
		appendAll(t, j, []event.Envelope{next})
		wantEvents(t, "gone on with", load(t, j).Events, append(p.Events, next))
		if _, err := s.List(); err != nil {
			t.Fatal(err)
		}
	})
}

// Any first line gives a session or an error.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"format":1,"id":"x","created":1,"cwd":"/","target":"local","model":"m","mac":"00"}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, n, err := readHeader(bytes.NewReader(data))
		if err == nil && (n > int64(len(data)) || data[n-1] != '\n' || h.Format < formatPlain || h.Format > Format) {
			t.Errorf("header %+v of %d bytes", h, n)
		}
		if h.madeWith(bytes.Repeat([]byte{1}, keySize)) {
			t.Error("a foreign header passes")
		}
	})
}
