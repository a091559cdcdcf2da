package sessions

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
)

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	j := create(b, newStore(b))
	env := event.Envelope{Time: 1, Session: "s", Payload: event.ToolRequested{CallID: "c", Name: "run_shell", Arguments: strings.Repeat("x", 500)}}
	for b.Loop() {
		env.Seq++
		if err := j.Append(env); err != nil {
			b.Fatal(err)
		}
	}
}

// Appends and waits for the disk, as before an approval.
func BenchmarkAppendSynced(b *testing.B) {
	b.ReportAllocs()
	j := create(b, newStore(b))
	env := event.Envelope{Time: 1, Session: "s", Payload: event.TurnFinished{}}
	for b.Loop() {
		env.Seq++
		if err := j.Append(env); err != nil {
			b.Fatal(err)
		}
	}
}

// big creates a session of at least size bytes and returns its id and its number of envelopes.
func big(b *testing.B, s Store, size int64, text string) (id string, n int) {
	b.Helper()
	j := create(b, s)
	id = j.Info().Header.ID
	closeJournal(b, j)
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	seq := uint64(1)
	for written := int64(0); written < size; {
		for _, env := range append(exchange(id, seq, int(seq)), event.Envelope{Seq: seq + 50, Payload: event.Notice{Text: text}}) {
			line, err := env.MarshalJSON()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				b.Fatal(err)
			}
			written += int64(len(line)) + 1
			n++
		}
		seq += 100
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return id, n
}

func BenchmarkOpen10kEnvelopes(b *testing.B) {
	b.ReportAllocs()
	s := newStore(b)
	id, n := big(b, s, 3_500_000, "note")
	b.ReportMetric(float64(n), "envelopes")
	for b.Loop() {
		j, err := s.Open(id)
		if err != nil {
			b.Fatal(err)
		}
		if p, err := j.Load(); err != nil || len(p.Events) != n {
			b.Fatal(len(p.Events), err)
		}
		closeJournal(b, j)
	}
}

// The wait before the first frame of a long session.
func BenchmarkOpenTail100MB(b *testing.B) {
	b.ReportAllocs()
	s := newStore(b)
	id, _ := big(b, s, 100<<20, strings.Repeat("x", 2000))
	for b.Loop() {
		j, err := s.Open(id)
		if err != nil {
			b.Fatal(err)
		}
		if p, err := j.Tail(200); err != nil || len(p.Events) != 200 {
			b.Fatal(len(p.Events), err)
		}
		closeJournal(b, j)
	}
}

// A subscriber that is 100 envelopes behind in a long session.
func BenchmarkRangeBehind100(b *testing.B) {
	b.ReportAllocs()
	s := newStore(b)
	id, _ := big(b, s, 100<<20, "note")
	j := open(b, s, id)
	p, err := j.Tail(101)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		if err := j.Range(p.Events[0].Seq, func(event.Envelope) bool { n++; return true }); err != nil || n != 100 {
			b.Fatal(n, err)
		}
	}
}

// tenThousand returns a store with 10,001 sessions, all but one unchanged for an hour.
func tenThousand(b *testing.B) Store {
	b.Helper()
	s := newStore(b)
	j := create(b, s)
	appendAll(b, j, stream(j.Info().Header.ID, 10))
	text := readFile(b, j.path)
	old := time.Now().Add(-time.Hour)
	for i := range 10_000 {
		name := s.file(fmt.Sprintf("session-%d", i))
		writeFile(b, name, text)
		if err := os.Chtimes(name, old, old); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// 10,000 sessions must feel instant.
func BenchmarkList10k(b *testing.B) {
	b.ReportAllocs()
	s := tenThousand(b)
	list := func(b *testing.B) {
		if all, err := s.List(); err != nil || len(all) != 10_001 || all[0].Title == "" {
			b.Fatal(len(all), err)
		}
	}
	b.Run("cold", func(b *testing.B) { // without the index
		b.ReportAllocs()
		for b.Loop() {
			if err := os.RemoveAll(s.indexPath()); err != nil {
				b.Fatal(err)
			}
			list(b)
		}
	})
	b.Run("warm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			list(b)
		}
	})
	b.Run("Last", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Last(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The minimum cost of walking a 100 MB file's lines.
func BenchmarkScan100MB(b *testing.B) {
	s := newStore(b)
	id, _ := big(b, s, 100<<20, "note")
	f, err := os.Open(s.file(id))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	for b.Loop() {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		if _, err := scan(newReader(f), maxLine, func(int64, []byte) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUses sums up the requests of 10,000 sessions.
func BenchmarkUses(b *testing.B) {
	s := tenThousand(b)
	uses := func(b *testing.B) {
		if all, err := Uses(s); err != nil || all[0].Requests < 10_000 {
			b.Fatal(all, err)
		}
	}
	b.Run("cold", func(b *testing.B) { // without the index
		b.ReportAllocs()
		for b.Loop() {
			_ = os.Remove(usesPath(s))
			uses(b)
		}
	})
	b.Run("warm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			uses(b)
		}
	})
}
