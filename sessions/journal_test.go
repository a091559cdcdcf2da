package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
)

func TestJournalRoundTrip(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	want := stream(id, 3)
	appendAll(t, j, want)
	wantEvents(t, "while it is written", load(t, j).Events, want)
	closeJournal(t, j)
	wantError(t, j.Append(want[0]), "read-only", ErrClosed.Error())

	j = open(t, s, id)
	info := j.Info()
	if !info.Trusted || info.LastSeq != want[len(want)-1].Seq || len(info.Warnings) > 0 || j.ReadOnly() != nil {
		t.Errorf("opened again: %+v, read-only: %v", info, j.ReadOnly())
	}
	wantEvents(t, "opened again", load(t, j).Events, want)
	more := exchange(id, event.NextSeq(info.LastSeq), 4)
	appendAll(t, j, more)
	wantEvents(t, "gone on with", load(t, j).Events, append(want, more...))
}

// Provider data is stored byte for byte.
func TestJournalKeepsOpaqueBytes(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	appendAll(t, j, stream(j.Info().Header.ID, 1))
	if data := readFile(t, j.path); !bytes.Contains(data, []byte(`"reasoning_content":"a <b> & c"`)) {
		t.Error("an opaque field was rewritten")
	}
}

func TestAppendRefuses(t *testing.T) {
	j := create(t, newStore(t))
	tests := []struct {
		name string
		env  event.Envelope
		want string
	}{
		{"transient (EVENTS)", event.Envelope{Seq: 11, Payload: event.TextDelta{Text: "x"}}, "transient"},
		{"no payload", event.Envelope{Seq: 11}, "no payload"},
		{"seq not above", event.Envelope{Seq: 10, Payload: event.Notice{}}, "after event 10"},
	}
	appendAll(t, j, []event.Envelope{{Seq: 10, Payload: event.Notice{Text: "first"}}})
	for _, tt := range tests {
		if err := j.Append(tt.env); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Append = %v, want %q", tt.name, err, tt.want)
		}
	}
	appendAll(t, j, []event.Envelope{{Seq: 11, Payload: event.Notice{Text: "still works"}}})
	if got := len(load(t, j).Events); got != 2 {
		t.Errorf("%d envelopes, want 2", got)
	}
}

// Envelopes that could not be read back are not written.
func TestAppendTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("encodes 64 MiB")
	}
	t.Parallel()
	j := create(t, newStore(t))
	err := j.Append(event.Envelope{Seq: 1, Payload: event.Notice{Text: strings.Repeat("x", maxLine)}})
	wantError(t, err, "notice", "at most 67108864")
	appendAll(t, j, []event.Envelope{{Seq: 1, Payload: event.Notice{Text: "still works"}}})
}

// A file truncated at any byte opens with exactly the envelopes whose lines are complete, and can be continued.
func TestCutOffAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	all := stream(id, 1)[:13]
	appendAll(t, j, all)
	closeJournal(t, j)
	data := readFile(t, j.path)
	for n := range len(data) + 1 {
		writeFile(t, j.path, data[:n])
		whole := bytes.Count(data[:n], []byte{'\n'}) - 1
		k, err := s.Open(id)
		if whole < 0 {
			wantError(t, err, "line 1")
			continue
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		torn := n != bytes.LastIndexByte(data[:n], '\n')+1
		if info := k.Info(); (len(info.Warnings) == 1) != torn || info.LastSeq != uint64(whole) {
			t.Fatalf("%d bytes: %+v, want last %d, a warning: %v", n, info, whole, torn)
		} else if torn && !strings.Contains(info.Warnings[0], fmt.Sprintf("line %d ", whole+2)) {
			t.Fatalf("%d bytes: warning %q does not name line %d", n, info.Warnings[0], whole+2)
		}
		wantEvents(t, fmt.Sprintf("%d bytes", n), load(t, k).Events, all[:whole])
		next := event.Envelope{Seq: event.NextSeq(uint64(whole)), Session: id, Payload: event.Notice{Text: "next"}}
		appendAll(t, k, []event.Envelope{next})
		closeJournal(t, k)
		k = open(t, s, id)
		p := load(t, k)
		wantEvents(t, fmt.Sprintf("%d bytes and one more", n), p.Events, append(all[:whole:whole], next))
		if len(p.Warnings)+len(k.Info().Warnings) > 0 {
			t.Fatalf("%d bytes: warnings after going on: %q %q", n, p.Warnings, k.Info().Warnings)
		}
		closeJournal(t, k)
	}
}

// A damaged line stays in the file, is skipped and named; unknown types are kept.
func TestDamagedLines(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	appendAll(t, j, stream(id, 1)[:5])
	closeJournal(t, j)
	lines := bytes.SplitAfter(readFile(t, j.path), []byte{'\n'})
	future := []byte(`{"seq":4,"ts_unix_ms":7,"session":"s","type":"future.fact","payload":{"b":1,"a":"<é>"}}` + "\n")
	bad := [][]byte{
		[]byte("\x00\x01garbage\n"),
		[]byte("\n"),
		[]byte(`{"seq":3,"type":"notice"` + "\n"),
		[]byte(`{"seq":0,"type":"notice","payload":{}}` + "\n"),
		[]byte(`{"seq":18446744073709551615,"type":"notice","payload":{}}` + "\n"),
		[]byte(`{"seq":3,"type":"notice","payload":[]}` + "\n"),
		[]byte(`{"seq":3,"payload":{}}` + "\n"),
		[]byte("[]\n"),
		[]byte("null\n"),
	}
	for _, b := range bad {
		for at := 1; at <= len(lines)-1; at++ {
			text := bytes.Join(append(append(append([][]byte{}, lines[:at]...), b, future), lines[at:]...), nil)
			writeFile(t, j.path, text)
			k := open(t, s, id)
			p := load(t, k)
			if len(p.Events) != 6 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], fmt.Sprintf("line %d ", at+1)) {
				t.Fatalf("%q at line %d: %d events, warnings %q", b, at+1, len(p.Events), p.Warnings)
			}
			if u, ok := p.Events[at-1].Payload.(event.Unknown); !ok || u.Name != "future.fact" || string(u.Raw) != `{"b":1,"a":"<é>"}` {
				t.Errorf("unknown type came back as %#v", p.Events[at-1].Payload)
			}
			tail, err := k.Tail(3)
			if err != nil {
				t.Fatal(err)
			}
			rest, err := k.Before(tail, math.MaxInt)
			if err != nil || !rest.First {
				t.Fatalf("rest: %+v, %v", rest, err)
			}
			wantEvents(t, "tail first", append(rest.Events, tail.Events...), p.Events)
			if got := append(rest.Warnings, tail.Warnings...); len(got) != 1 || got[0] != p.Warnings[0] {
				t.Errorf("tail first warns %q, want %q", got, p.Warnings)
			}
			closeJournal(t, k)
			if !bytes.Equal(readFile(t, j.path), text) {
				t.Fatal("reading changed the file")
			}
		}
	}
}

// A line that is too long is skipped without being kept in memory.
func TestLongLine(t *testing.T) {
	for _, limit := range []int{1, 10, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize} {
		var in bytes.Buffer
		sizes := []int{0, 1, 9, 10, 11, blockSize - 2, blockSize - 1, blockSize, blockSize + 1, 4 * blockSize, 3}
		for _, n := range sizes {
			in.WriteString(strings.Repeat("x", n) + "\n")
		}
		in.WriteString("torn")
		i, at := 0, int64(0)
		torn, err := scan(newReader(bytes.NewReader(in.Bytes())), limit, func(off int64, line []byte) bool {
			long := sizes[i]+1 > limit
			if off != at || (line == nil) != long || !long && len(line) != sizes[i] {
				t.Errorf("limit %d, line %d: offset %d with %d bytes, want %d with %d", limit, i, off, len(line), at, sizes[i])
			}
			at += int64(sizes[i]) + 1
			i++
			return true
		})
		if torn != 4 || err != nil || i != len(sizes) {
			t.Errorf("limit %d: %d lines, torn %d, %v", limit, i, torn, err)
		}
	}
}

// Walking backward finds the same lines as reading forward.
func TestBackward(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var in bytes.Buffer
		var starts []int64
		for range rnd.IntN(20) {
			starts = append(starts, int64(in.Len()))
			in.WriteString(strings.Repeat("x", []int{0, 1, 100, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize}[rnd.IntN(7)]) + "\n")
		}
		b := backward{r: bytes.NewReader(in.Bytes()), pos: int64(in.Len())}
		for i := len(starts) - 1; i >= 0; i-- {
			if err := b.prev(); err != nil || b.pos != starts[i] {
				t.Fatalf("line %d of %d starts at %d (%v), want %d", i, len(starts), b.pos, err, starts[i])
			}
		}
	}
}

// Parts of any size add up to the whole.
func TestTailFirst(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	want := stream(j.Info().Header.ID, 5)
	appendAll(t, j, want)
	for n := 1; n <= len(want)+1; n++ {
		p, err := j.Tail(n)
		var got []event.Envelope
		for {
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Events) > n {
				t.Fatalf("%d envelopes in a part, want %d", len(p.Events), n)
			}
			got = append(append([]event.Envelope{}, p.Events...), got...)
			if p.First {
				break
			}
			p, err = j.Before(p, n)
		}
		wantEvents(t, fmt.Sprintf("in parts of %d", n), got, want)
	}
	big := event.Notice{Text: strings.Repeat("x", tailBytes/2)}
	last := want[len(want)-1].Seq
	for i := range uint64(4) {
		appendAll(t, j, []event.Envelope{{Seq: last + 1 + i, Payload: big}})
	}
	if p, err := j.Tail(100); err != nil || len(p.Events) != 1 {
		t.Errorf("tail of large envelopes has %d (%v), want 1", len(p.Events), err)
	}
}

func TestRange(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	want := stream(j.Info().Header.ID, 3)
	appendAll(t, j, want)
	for after := uint64(0); after <= uint64(len(want))+1; after++ {
		var got []event.Envelope
		if err := j.Range(after, func(env event.Envelope) bool { got = append(got, env); return true }); err != nil {
			t.Fatal(err)
		}
		wantEvents(t, fmt.Sprintf("after %d", after), got, want[min(int(after), len(want)):])
	}
	n := 0
	if err := j.Range(0, func(event.Envelope) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("stopped after %d (%v), want 3", n, err)
	}
	// Appending and another Range inside a Range must not wait for each other.
	err := j.Range(uint64(len(want))-1, func(env event.Envelope) bool {
		appendAll(t, j, []event.Envelope{{Seq: env.Seq + 1, Payload: event.Notice{}}})
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// Subscribers read while the runtime writes.
func TestConcurrentUse(t *testing.T) {
	j := create(t, newStore(t))
	const n = 2000
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := uint64(0); last < n; {
				err := j.Range(last, func(env event.Envelope) bool {
					if env.Seq != last+1 {
						t.Errorf("%d follows %d", env.Seq, last)
					}
					last = env.Seq
					return true
				})
				if _, tailErr := j.Tail(3); err != nil || tailErr != nil {
					t.Error(err, tailErr)
					return
				}
			}
		})
	}
	for seq := uint64(1); seq <= n; seq++ {
		appendAll(t, j, []event.Envelope{{Seq: seq, Payload: event.Notice{Text: strings.Repeat("x", int(seq))}}})
	}
	readers.Wait()
}

// A damaged line with a lowered number must not hide the lines before it.
func TestRangeAcrossDamage(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	want := stream(id, 2)
	appendAll(t, j, want)
	closeJournal(t, j)
	lines := bytes.SplitAfter(readFile(t, j.path), []byte{'\n'})
	lines = append(append(append([][]byte{}, lines[:15]...), []byte("{\"seq\":1,broken\n")), lines[15:]...)
	writeFile(t, j.path, bytes.Join(lines, nil))
	j = open(t, s, id)
	var got []event.Envelope
	if err := j.Range(5, func(env event.Envelope) bool { got = append(got, env); return true }); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, "after 5", got, want[5:])
}

// Without appends no sync is scheduled; an append schedules one.
func TestSyncTimer(t *testing.T) {
	s := newStore(t)
	synctest.Test(t, func(t *testing.T) {
		j, err := s.Create(Header{})
		if err != nil {
			t.Fatal(err)
		}
		scheduled := func() bool { j.mu.Lock(); defer j.mu.Unlock(); return j.disk.timer != nil }
		steps := []struct {
			name string
			ev   event.Event
			want bool
		}{
			{"at an ordinary event", event.Notice{}, true},
			{"while one is scheduled", event.Notice{}, true},
			{"at an approval, synced already", event.ApprovalAsked{}, false},
			{"after that", event.Notice{}, true},
			{"at the end of a turn", event.TurnFinished{}, false},
			{"after that too", event.Notice{}, true},
		}
		if scheduled() {
			t.Error("scheduled before anything was appended")
		}
		for i, st := range steps {
			if err := j.Append(event.Envelope{Seq: uint64(i) + 1, Payload: st.ev}); err != nil {
				t.Fatal(err)
			}
			if scheduled() != st.want {
				t.Errorf("%s: scheduled is %v, want %v", st.name, !st.want, st.want)
			}
		}
		time.Sleep(syncEvery)
		synctest.Wait()
		if scheduled() {
			t.Error("scheduled a second after the last append")
		}
		if err := errors.Join(j.Append(event.Envelope{Seq: 100, Payload: event.Notice{}}), j.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
}

// The removal of the open file, by git clean for example, is noticed.
func TestFileRemoved(t *testing.T) {
	j := create(t, newStore(t))
	if err := os.Remove(j.path); err != nil {
		t.Fatal(err)
	}
	env := event.Envelope{Seq: 1, Payload: event.Notice{}}
	wantError(t, j.Append(env), "read-only", j.path, "removed")
	wantError(t, j.Append(env), "read-only", j.path, "removed")
}

func TestUntrusted(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	want := stream(id, 1)
	appendAll(t, j, want)
	closeJournal(t, j)
	text := readFile(t, j.path)

	other := Store{dir: s.dir, state: filepath.Join(t.TempDir(), "other")} // another machine
	tests := []struct {
		name  string
		store Store
		text  []byte
	}{
		{"no key yet", other, text},
		{"no hash", s, bytes.Replace(text, []byte(`,"mac":"`), []byte(`,"x":"`), 1)},
		{"empty hash", s, bytes.Replace(text, []byte(j.info.Header.MAC), nil, 1)},
		{"changed cwd", s, bytes.Replace(text, []byte(`"/work"`), []byte(`"/home"`), 1)},
	}
	for _, tt := range tests {
		if err := os.RemoveAll(strings.TrimSuffix(j.path, ext) + ".trust"); err != nil {
			t.Fatal(err)
		}
		writeFile(t, j.path, append(tt.text, "torn"...))
		k := open(t, tt.store, id)
		if k.Info().Trusted || !errors.Is(k.ReadOnly(), ErrUntrusted) {
			t.Errorf("%s: trusted %v, read-only: %v", tt.name, k.Info().Trusted, k.ReadOnly())
		}
		if err := k.Append(exchange(id, 1000, 1)[0]); !errors.Is(err, ErrUntrusted) {
			t.Errorf("%s: Append = %v, want ErrUntrusted", tt.name, err)
		}
		wantEvents(t, tt.name, load(t, k).Events, want)
		closeJournal(t, k)
		if err := tt.store.Trust(id); err != nil {
			t.Fatal(err)
		}
		k = open(t, tt.store, id)
		if !k.Info().Trusted || k.ReadOnly() != nil {
			t.Errorf("%s: not trusted after Trust: %v", tt.name, k.ReadOnly())
		}
		closeJournal(t, k)
	}
	// A confirmation is valid for one header on one machine.
	writeFile(t, j.path, bytes.Replace(tests[3].text, []byte(`"/home"`), []byte(`"/root"`), 1))
	if k := open(t, s, id); k.Info().Trusted {
		t.Error("trusted after its header was changed again")
	}
	// The header of a session is no proof for a copy under another name.
	writeFile(t, s.file("copy"), text)
	if k := open(t, s, "copy"); k.Info().Trusted {
		t.Error("a copy under another id is trusted")
	}
}

func TestHeaders(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "line 1"},
		{"no JSON", "hello\n", "line 1"},
		{"no format", "{}\n", "format is missing"},
		{"newer", `{"format":3,"id":"x"}` + "\n", "format 3, this program reads up to 2"},
		{"endless", strings.Repeat("x", 3*maxHeader) + "\n", "is incomplete"},
	}
	for _, tt := range tests {
		s := newStore(t)
		writeFile(t, s.file("x"), []byte(tt.text))
		_, err := s.Open("x")
		wantError(t, err, "session x", tt.want)
		if got := errors.Is(err, ErrFormat); got != (tt.name == "newer") {
			t.Errorf("%s: is ErrFormat: %v", tt.name, got)
		}
	}
	s := newStore(t)
	j, err := s.Create(Header{Cwd: "/a\xffb/" + strings.Repeat("x", 5000), Model: "<é>"})
	if err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	if j = open(t, s, j.info.Header.ID); !j.Info().Trusted {
		t.Error("a header with odd bytes is not trusted")
	}
	_, err = s.Create(Header{Cwd: strings.Repeat("x", maxHeader)})
	wantError(t, err, "header has")
}
