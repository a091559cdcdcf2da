package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
)

func wantProblem(t *testing.T, e Entry, want string) {
	t.Helper()
	if h := e.Header; !strings.Contains(e.Problem, want) || h != (Header{}) && h != (Header{Format: h.Format}) {
		t.Errorf("%s: problem %q, want %q; header %+v", e.ID, e.Problem, want, e.Header)
	}
}

// newFormat replaces the format in the header of a session.
func newFormat(good []byte, format int) []byte {
	return bytes.Replace(good, []byte(`"format":1`), fmt.Appendf(nil, `"format":%d`, format), 1)
}

// A session that can't be opened is listed with its problem and, if readable, its first prompt, until it is repaired;
// the last used session is not replaced by another one.
func TestListNamesDamage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		damage func(good []byte) []byte
		want   string
		title  bool
	}{
		{"newer format", func(good []byte) []byte { return newFormat(good, 9) }, "format 9, this program reads up to 2", true},
		{"one byte", func(good []byte) []byte { return append([]byte{0xef}, good[1:]...) }, "line 1 is not a session header", true},
		{"no header", func(good []byte) []byte { return good[bytes.IndexByte(good, '\n')+1:] }, "format is missing", true},
		{"zeros", func(good []byte) []byte { return make([]byte, len(good)) }, "it is incomplete", false},
		{"endless line", func([]byte) []byte { return bytes.Repeat([]byte("x"), titleBytes+1) }, "it is incomplete", false},
		{"cut off", func(good []byte) []byte { return good[:20] }, "it is incomplete", false},
		{"empty", func([]byte) []byte { return nil }, "the file is empty", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			id, other := stored(t, s, 1), stored(t, s, 1)
			age(t, s, other, 2*time.Hour)
			good := readFile(t, s.file(id))
			writeFile(t, s.file(id), tt.damage(good))
			age(t, s, id, time.Hour)
			for range 2 { // from the index, too
				all, err := s.List()
				if err != nil || len(all) != 2 || all[0].ID != id || all[1].Problem != "" {
					t.Fatalf("List = %+v, %v", all, err)
				}
				wantProblem(t, all[0], tt.want)
				if title := all[0].Title; (title == "prompt 1: list the files") != tt.title {
					t.Errorf("title %q", title)
				}
			}
			if all, err := Damaged(s); err != nil || len(all) != 1 || all[0].ID != id {
				t.Errorf("Damaged = %+v, %v", all, err)
			}
			if _, err := s.Entry(id); err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Entry: %v", err)
			}
			last, passed, err := LastOfPerson(s, "/work")
			if err != nil || last.ID != other || len(passed) != 1 || passed[0].ID != id {
				t.Errorf("LastOfPerson = %+v, %+v, %v", last, passed, err)
			}
			_, err = s.Last() // another session would be a surprise
			wantError(t, err, id, tt.want)
			if err := os.Remove(s.file(other)); err != nil {
				t.Fatal(err)
			}
			_, _, err = LastOfPerson(s, "/work")
			wantError(t, err, "no session has been saved", id, tt.want)
			writeFile(t, s.file(id), good)
			if e := entry(t, s, id); e.Problem != "" || e.Title == "" {
				t.Errorf("mended: %+v", e)
			}
		})
	}
}

// A session whose first line is still to be written by another process is not damaged.
func TestSessionThatBeginsIsNotDamaged(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	if err := j.f.Truncate(0); err != nil { // the state before that line is written
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Errorf("while it begins: %+v, %v", all, err)
	}
	closeJournal(t, j)
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("once its process is gone: %+v, %v", all, err)
	}
}

// After any damage to the first line the rest can be read again, and only a header equal to the old one proves that
// this machine made the session.
func TestRepairAfterRandomDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id, head, was := j.Info().Header.ID, int(j.head), j.Info().Header
	want := stream(id, 2)
	appendAll(t, j, want)
	closeJournal(t, j)
	good := readFile(t, s.file(id))
	rng := rand.New(rand.NewPCG(3, 4))
	proven := 0
	for round := range 500 {
		bad := bytes.Clone(good)
		at, n := rng.IntN(head), 1
		switch rng.IntN(4) {
		case 0: // zeros, as after a power loss, sometimes over events as well
			n = 1 + rng.IntN(600)
			clear(bad[at:min(at+n, len(bad))])
		case 1:
			n = 1 + rng.IntN(head-at)
			bad = append(bad[:at:at], good[at+n:]...)
		default:
			bad[at] = byte(rng.IntN(256))
		}
		writeFile(t, s.file(id), bad)
		r, err := s.Repair(id)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if r.Kept == "" && !bytes.Equal(readFile(t, s.file(id)), bad) || r.Kept != "" && !bytes.Equal(readFile(t, r.Kept), bad) {
			t.Fatalf("round %d: the file as it was is not kept in %q", round, r.Kept)
		}
		k := open(t, s, id)
		if info := k.Info(); info.Trusted && info.Header != was || r.Kept != "" && info.Trusted != r.Trusted {
			t.Fatalf("round %d: trusted with the header %+v", round, info.Header)
		}
		if r.Trusted {
			proven++
		}
		read := make(map[uint64]event.Envelope)
		for _, env := range load(t, k).Events {
			read[env.Seq] = env
		}
		off := head
		for i, line := range bytes.SplitAfter(good[head:], []byte("\n"))[:len(want)] {
			if off += len(line); off-len(line) >= at+n && !reflect.DeepEqual(read[want[i].Seq], want[i]) {
				t.Fatalf("round %d: event %d is %+v", round, want[i].Seq, read[want[i].Seq])
			}
		}
		closeJournal(t, k)
	}
	if proven < 20 {
		t.Errorf("only %d of 500 are proven to be made here", proven)
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	brokenBegin := func(good []byte) []byte { return append([]byte{0xef}, good[1:]...) }
	replace := func(old, by string) func([]byte) []byte {
		return func(good []byte) []byte { return bytes.Replace(good, []byte(old), []byte(by), 1) }
	}
	tests := []struct {
		name    string
		damage  func(good []byte) []byte
		trusted bool
		err     string
	}{
		{"first byte", brokenBegin, true, ""},
		{"number of the format", func(good []byte) []byte { return newFormat(good, 9) }, true, ""},
		{"newline", replace("\n", " "), true, ""},
		{"proof", replace(`"mac":"`, `"mac":"x`), false, ""},
		{"folder of another header", func(good []byte) []byte { return brokenBegin(replace(`"/work"`, `"/root"`)(good)) }, false, ""},
		{"all of it", func(good []byte) []byte { return good[bytes.IndexByte(good, '\n')+1:] }, false, ""},
		{"the whole file", func(good []byte) []byte { return make([]byte, len(good)) }, false, "no event can be read"},
		{"a cut after it", func(good []byte) []byte { return good[:20] }, false, "no event can be read"},
		{"nothing", func([]byte) []byte { return nil }, false, "nothing is left"},
		{"a newer program", func(good []byte) []byte { return newFormat(replace(`"mac":"`, `"mac":"x`)(good), 9) }, false, "a newer buddy can resume it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			id := stored(t, s, 2)
			age(t, s, id, time.Hour)
			was := entry(t, s, id)
			bad := tt.damage(readFile(t, s.file(id)))
			writeFile(t, s.file(id), bad)
			age(t, s, id, time.Hour)
			used := entry(t, s, id).Used
			r, err := s.Repair(id)
			if tt.err != "" {
				wantError(t, err, "session "+id+" can't be repaired", tt.err)
				if !bytes.Equal(readFile(t, s.file(id)), bad) {
					t.Error("the file was changed")
				}
				return
			}
			if err != nil || r.Trusted != tt.trusted {
				t.Fatalf("Repair = %+v, %v", r, err)
			}
			now := entry(t, s, id)
			if now.Problem != "" || now.Title != was.Title || !now.Used.Equal(used) || tt.trusted && now.Header != was.Header {
				t.Errorf("entry %+v", now)
			}
			j := open(t, s, id)
			if errors.Is(j.ReadOnly(), ErrUntrusted) == tt.trusted {
				t.Errorf("read-only: %v", j.ReadOnly())
			}
			if p := load(t, j); len(p.Events) != 39 || len(p.Warnings) > 0 {
				t.Errorf("%d events, %q", len(p.Events), p.Warnings)
			}
			closeJournal(t, j)
			if r, err = s.Repair(id); err != nil || r.Kept != "" {
				t.Errorf("repaired once more: %+v, %v", r, err)
			}
			if err := s.Trust(id); err != nil || open(t, s, id).ReadOnly() != nil {
				t.Errorf("trusted: %v", err)
			}
		})
	}
}

// A trusted session stays trusted if its header is provably the same; a repair does not make a foreign session trusted.
func TestRepairOfAnImportedSession(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{true, false} {
		from, to := newStore(t), newStore(t)
		id, err := to.Import(strings.NewReader(export(t, from, stored(t, from, 1), JSON)))
		if err == nil && trusted {
			err = to.Trust(id)
		}
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, to.file(id), append([]byte("x"), readFile(t, to.file(id))[1:]...))
		if r, err := to.Repair(id); err != nil || r.Trusted != trusted {
			t.Errorf("trusted %v: %+v, %v", trusted, r, err)
		}
		if got := open(t, to, id).ReadOnly() == nil; got != trusted {
			t.Errorf("trusted %v: can be written %v", trusted, got)
		}
	}
}

// A session with a rewind keeps the format that older programs refuse.
func TestRepairKeepsTheFormat(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	appendAll(t, j, stream(id, 2))
	appendAll(t, j, []event.Envelope{{Seq: 100, Session: id, Payload: event.HistoryRewound{ToSeq: 20}}})
	closeJournal(t, j)
	text := readFile(t, s.file(id))
	writeFile(t, s.file(id), text[bytes.IndexByte(text, '\n')+1:])
	if _, err := s.Repair(id); err != nil {
		t.Fatal(err)
	}
	if h := open(t, s, id).Info().Header; h.Format != Format || h.ID != id || h.Cwd != "/work" || h.Model != "demo" || h.Created != 1 {
		t.Errorf("header %+v", h)
	}
}

// A damaged session in use by a process is not repaired.
func TestRepairLeavesARunningSession(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	appendAll(t, j, stream(id, 1))
	w, err := OpenPlain(j.path, os.O_WRONLY)
	if err == nil {
		_, err = w.WriteAt([]byte("x"), 0)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repair(id); !errors.Is(err, ErrLocked) {
		t.Errorf("Repair: %v", err)
	}
	if _, err := s.View(id); err == nil || !strings.Contains(err.Error(), "buddy sessions repair "+id) {
		t.Errorf("View: %v", err)
	}
}
