package sessions

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
)

// plain is an exchange of one answer.
func plain(id string, seq uint64, n int, text string) []event.Envelope {
	var all []event.Envelope
	for i, e := range []event.Event{
		event.PromptSubmitted{ID: n, Text: text, Kind: event.Opening},
		event.TaskStarted{ID: n, Kind: event.MainTask, Title: text},
		event.Notice{Text: "answer to " + text},
		event.TaskFinished{ID: n, Outcome: event.Completed},
	} {
		all = append(all, event.Envelope{Seq: seq + uint64(i), Time: 1, Session: id, Task: n, Payload: e})
	}
	return all
}

// wentBack returns a session whose second prompt was replaced by a third one, and its journal.
func wentBack(t *testing.T, s Store) (id string, j *Journal) {
	t.Helper()
	j = create(t, s)
	id = j.Info().Header.ID
	appendAll(t, j, plain(id, 1, 1, "first"))
	appendAll(t, j, plain(id, 11, 2, "second"))
	appendAll(t, j, []event.Envelope{{Seq: 20, Time: 1, Session: id, Payload: event.HistoryRewound{ToSeq: 11, Prompt: "second"}}})
	appendAll(t, j, plain(id, 21, 3, "third"))
	return id, j
}

// formatOf returns the format that an older program reads of a file; it refuses all but 1.
func formatOf(t *testing.T, s Store, id string) int {
	t.Helper()
	line, _, _ := bytes.Cut(readFile(t, s.File(id)), []byte("\n"))
	var h struct{ Format int }
	if err := json.Unmarshal(line, &h); err != nil {
		t.Fatal(err)
	}
	return h.Format
}

// TestOlderProgramsRefuseWhatTheyWouldMisread: the first rewind raises the format of a file, which stays as trusted as
// before; newer formats are refused.
func TestOlderProgramsRefuseWhatTheyWouldMisread(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s Store, id string){
		"made here": func(*testing.T, Store, string) {},
		"made elsewhere and trusted": func(t *testing.T, s Store, id string) {
			setHeader(t, s, id, func(h *Header) { h.MAC = strings.Repeat("ab", 32) })
			if err := s.Trust(id); err != nil {
				t.Fatal(err)
			}
		},
		"without a key, and trusted": func(t *testing.T, s Store, id string) {
			setHeader(t, s, id, func(h *Header) { h.MAC = "" })
			if err := s.Trust(id); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			j := create(t, s)
			id := j.Info().Header.ID
			appendAll(t, j, plain(id, 1, 1, "first"))
			closeJournal(t, j)
			change(t, s, id)
			if f := formatOf(t, s, id); f != 1 {
				t.Fatalf("format %d before anybody went back", f)
			}
			j = open(t, s, id)
			size := len(readFile(t, s.File(id)))
			rewound := event.Envelope{Seq: 20, Time: 1, Session: id, Payload: event.HistoryRewound{ToSeq: 1, Prompt: "first"}}
			appendAll(t, j, []event.Envelope{rewound})
			rewound.Seq++
			appendAll(t, j, []event.Envelope{rewound})
			closeJournal(t, j)
			if f := formatOf(t, s, id); f != 2 {
				t.Errorf("format %d, want 2: a program that reads 1 would go on with what was left", f)
			}
			if now := len(readFile(t, s.File(id))); now <= size {
				t.Errorf("the file has %d bytes, had %d", now, size)
			}
			j = open(t, s, id)
			if err := j.ReadOnly(); err != nil || !j.Info().Trusted {
				t.Errorf("opened again: trusted %v, %v", j.Info().Trusted, err)
			}
			if n := len(load(t, j).Events); n != 6 {
				t.Errorf("%d events, want 6", n)
			}
			closeJournal(t, j)
			setHeader(t, s, id, func(h *Header) { h.Format = 3 })
			if _, err := s.Open(id); err == nil || !strings.Contains(err.Error(), "format 3, this program reads up to 2") {
				t.Errorf("a newer format: %v", err)
			}
		})
	}
}

// setHeader changes the first line of a file.
func setHeader(t *testing.T, s Store, id string, change func(*Header)) {
	t.Helper()
	line, rest, _ := bytes.Cut(readFile(t, s.File(id)), []byte("\n"))
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		t.Fatal(err)
	}
	change(&h)
	line, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, s.File(id), append(append(line, '\n'), rest...))
}

// TestRewindOfARemovedFile: nothing is written to a file that replaced the removed one.
func TestRewindOfARemovedFile(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	if err := os.Remove(s.File(id)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, s.File(id), []byte("mine\n"))
	err := j.Append(event.Envelope{Seq: 20, Time: 1, Session: id, Payload: event.HistoryRewound{ToSeq: 1, Prompt: "first"}})
	wantError(t, err, "the file was removed")
	if text := string(readFile(t, s.File(id))); text != "mine\n" {
		t.Errorf("the file has %q", text)
	}
}

// TestExchangesThatWereLeft: abandoned exchanges are not listed, exported for people or forked from, but are found by
// searches.
func TestExchangesThatWereLeft(t *testing.T) {
	s := newStore(t)
	id, j := wentBack(t, s)
	all, err := j.Exchanges()
	if err != nil || len(all) != 2 || all[1].Prompt != "third" || all[1].Number != 2 {
		t.Errorf("exchanges %+v, %v", all, err)
	}
	for _, as := range []ExportFormat{Markdown, HTML} {
		if text := export(t, s, id, as); strings.Contains(text, "answer to second") || !strings.Contains(text, "rewound to before “second”") || !strings.Contains(text, "answer to third") {
			t.Errorf("%s:\n%s", as, text)
		}
	}
	hits := search(t, s, "answer to")
	if len(hits) != 3 || hits[0].Text != "answer to first" || hits[1].Text != "(left) answer to second" || hits[2].Text != "answer to third" {
		t.Errorf("found %+v", hits)
	}

	for exchange, want := range map[int]string{1: "first", 2: "third"} {
		fork, last, err := s.Fork(id, exchange)
		if err != nil || last.Prompt != want {
			t.Fatalf("fork at %d: %+v, %v", exchange, last, err)
		}
		f := open(t, s, fork)
		of, err := f.Exchanges()
		if err != nil || len(of) != exchange || of[exchange-1].Prompt != want {
			t.Errorf("the fork at %d has %+v, %v", exchange, of, err)
		}
		if got := formatOf(t, s, fork); got != 2 {
			t.Errorf("the fork at %d has format %d", exchange, got)
		}
		closeJournal(t, f)
	}

	// With /redo they count again.
	appendAll(t, j, []event.Envelope{{Seq: 30, Time: 1, Session: id, Payload: event.HistoryRewound{ToSeq: 20, Prompt: "second", Redo: true}}})
	if all, err = j.Exchanges(); err != nil || len(all) != 2 || all[1].Prompt != "second" {
		t.Errorf("exchanges %+v, %v", all, err)
	}
	if fork, last, err := s.Fork(id, 2); err != nil || last.Prompt != "second" {
		t.Errorf("fork %s: %+v, %v", fork, last, err)
	}
}

// TestExportOfARewoundSession: the export contains everything, and only programs that support rewinds read it.
func TestExportOfARewoundSession(t *testing.T) {
	s := newStore(t)
	id, _ := wentBack(t, s)
	text := export(t, s, id, JSON)
	if !strings.HasPrefix(text, `{"buddy_session":2,`) || !strings.Contains(text, "answer to second") {
		t.Errorf("exported %.200s", text)
	}
	again := Store{dir: filepath.Join(t.TempDir(), "sessions"), state: s.state}
	other, err := again.Import(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if f := formatOf(t, again, other); f != 2 {
		t.Errorf("imported with format %d", f)
	}
	j := open(t, again, other)
	if all, err := j.Exchanges(); err != nil || len(all) != 2 {
		t.Errorf("imported %+v, %v", all, err)
	}
	if _, err := again.Import(strings.NewReader(strings.Replace(text, `"buddy_session":2`, `"buddy_session":3`, 1))); err == nil {
		t.Error("a newer version was read")
	}
}
