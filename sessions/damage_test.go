package sessions

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
)

// A thousand random damages: bytes changed, cut out, doubled or inserted, blocks of zeros as after a power loss.
// Nothing panics, undamaged lines are read unchanged, damaged lines are named, and reading in parts, searching, listing
// and exporting work.
func TestRandomDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	want := stream(id, 4)
	appendAll(t, j, want)
	closeJournal(t, j)
	good := readFile(t, s.file(id))
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 1000 {
		bad, touched := damage(rng, good, int(j.head))
		writeFile(t, s.file(id), bad)
		j, err := s.Open(id)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		p := load(t, j)
		got := make(map[uint64]event.Envelope)
		for _, env := range p.Events {
			got[env.Seq] = env
		}
		for i, env := range want {
			if !touched[i] && !reflect.DeepEqual(got[env.Seq], env) {
				t.Fatalf("round %d: event %d was left alone and is %+v, want %+v", round, env.Seq, got[env.Seq], env)
			}
		}
		if lines := bytes.Count(readFile(t, s.file(id))[j.head:], []byte("\n")); len(p.Events)+len(p.Warnings) != lines {
			t.Fatalf("round %d: %d events and %d warnings of %d lines", round, len(p.Events), len(p.Warnings), lines)
		}
		if round%25 == 0 {
			useAll(t, s, j)
		}
		closeJournal(t, j)
	}
}

// damage returns data with one to three damages after the header, and the lines that they may have changed.
func damage(rng *rand.Rand, data []byte, head int) (bad []byte, touched map[int]bool) {
	touched = make(map[int]bool)
	bad = bytes.Clone(data)
	at := head + rng.IntN(len(bad)-head)
	n := 1 + rng.IntN(200)
	end := min(at+n, len(bad))
	for line, pos := 0, head; pos < len(data); line++ { // from the line at at to the line at end, and the next one, which may be joined
		next := pos + bytes.IndexByte(data[pos:], '\n') + 1
		if next >= at && pos <= end {
			touched[line] = true
		}
		pos = next
	}
	switch rng.IntN(5) {
	case 0:
		for i := at; i < end; i++ {
			bad[i] = byte(rng.IntN(256))
		}
	case 1:
		clear(bad[at:end])
	case 2:
		bad = append(bad[:at:at], data[end:]...)
	case 3:
		bad = append(append(bad[:end:end], data[at:end]...), data[end:]...)
	default:
		junk := make([]byte, n)
		for i := range junk {
			junk[i] = "\n{}\"\\,:x\x00\xff"[rng.IntN(10)]
		}
		bad = append(append(bad[:at:at], junk...), data[at:]...)
	}
	return bad, touched
}

// useAll reads a session in every possible way.
func useAll(t *testing.T, s Store, j *Journal) {
	t.Helper()
	id := j.Info().Header.ID
	tail, err := j.Tail(7)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := j.Before(tail, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = errors.Join(j.Older(tail, func(event.Envelope) bool { n++; return true }), s.Search(t.Context(), "e", func(Hit) bool { return true }))
	if err != nil || n != len(rest.Events) {
		t.Fatalf("%d events before the tail, want %d, %v", n, len(rest.Events), err)
	}
	if _, err := j.Exchanges(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(); err != nil {
		t.Fatal(err)
	}
	for _, as := range ExportFormats {
		var out bytes.Buffer
		if _, err := s.Export(&out, id, as, hide); err != nil {
			t.Fatalf("%s: %v", as, err)
		}
	}
	if fork, _, err := s.Fork(id, 0); err == nil { // otherwise no exchange is complete
		if p := load(t, open(t, s, fork)); len(p.Warnings) > 0 {
			t.Fatalf("fork: %q", p.Warnings)
		}
		if err := os.Remove(s.file(fork)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyDamagedLines: damage after the last event costs one pass over it, not one block per line.
func TestManyDamagedLines(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	want := stream(id, 1)
	appendAll(t, j, want)
	closeJournal(t, j)
	good := readFile(t, s.file(id))
	for name, line := range map[string]string{"blank": "\n", "junk": "{\"seq\":1\n"} {
		writeFile(t, s.file(id), append(bytes.Clone(good), strings.Repeat(line, 64_000)...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		j := open(t, s, id)
		runtime.ReadMemStats(&after)
		if last := j.Info().LastSeq; last != want[len(want)-1].Seq || j.ReadOnly() != nil {
			t.Errorf("%s: last %d, %v", name, last, j.ReadOnly())
		}
		closeJournal(t, j)
		if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 {
			t.Errorf("%s: opening took %d MB of memory, want at most 100", name, took>>20)
		}
	}
}

// TestLastNumbers: a session whose numbers are used up can be read, but accepts no more events, which the next start
// would not find.
func TestLastNumbers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	const last = maxSeq - 1000
	appendAll(t, j, []event.Envelope{{Seq: last, Session: id, Payload: event.Notice{Text: "the last"}}})
	if err := j.Append(event.Envelope{Seq: maxSeq + 1, Session: id, Payload: event.Notice{}}); err == nil || !strings.Contains(err.Error(), "the largest number") {
		t.Errorf("Append above the largest number: %v", err)
	}
	closeJournal(t, j)
	k := open(t, s, id)
	defer closeJournal(t, k)
	if err := k.ReadOnly(); err == nil || !strings.Contains(err.Error(), "no room for more") {
		t.Errorf("ReadOnly = %v", err)
	}
	if p := load(t, k); len(p.Events) != 1 {
		t.Errorf("%d events, want the one that is there", len(p.Events))
	}
}

// TestSideFilesThatAreTraps: a FIFO, a device or a link in place of a file next to a session is an error or treated as
// missing, and never blocks.
func TestSideFilesThatAreTraps(t *testing.T) {
	t.Parallel()
	traps := map[string]func(path string) error{
		"FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"link":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	}
	for name, trap := range traps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			if err := os.MkdirAll(s.state, 0o700); err != nil {
				t.Fatal(err)
			}
			id := NewID()
			for _, path := range []string{
				KeyFile(s.state), foldersPath(s.state), s.indexPath(),
				filepath.Join(s.dir, id+".draft"), filepath.Join(s.dir, id+".trust"), filepath.Join(s.dir, id+".pid"),
			} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), trap(path)); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				j, err := s.Create(Header{ID: id, Cwd: "/", Target: "local", Model: "m"})
				if err != nil || KeyProblem(s) == nil {
					t.Errorf("Create: %v, want a problem with the key", err)
					return
				}
				_, _ = s.List()
				_ = s.Draft(id).TakeOver()
				_ = j.Close()
				if k, err := s.Open(id); err != nil || len(k.Info().Warnings) != 1 {
					t.Errorf("Open: %v, want a warning about the key", err)
				} else {
					_ = k.Close()
				}
			}()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("it hangs")
			}
		})
	}
}
