package sessions

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/action"
	"buddy/agent/event"
)

// stored creates a session of some exchanges and closes it.
func stored(t testing.TB, s Store, exchanges int) (id string) {
	t.Helper()
	j := create(t, s)
	id = j.Info().Header.ID
	appendAll(t, j, stream(id, exchanges))
	closeJournal(t, j)
	return id
}

func entry(t testing.TB, s Store, id string) Entry {
	t.Helper()
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("%s is not in the list %+v", id, all)
	return Entry{}
}

// age moves the last use of a session back.
func age(t testing.TB, s Store, id string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(s.file(id), at, at); err != nil {
		t.Fatal(err)
	}
}

// A title set by a person counts, wherever it is in the file, with and without an index.
func TestRename(t *testing.T) {
	s := newStore(t)
	id := stored(t, s, 300)
	rename := func(title, want string) {
		t.Helper()
		if err := s.Rename(id, title); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if e := entry(t, s, id); e.Title != want {
				t.Errorf("title %q, want %q", e.Title, want)
			}
		}
		age(t, s, id, time.Hour) // old enough for the index
		for range 2 {
			if e := entry(t, s, id); e.Title != want {
				t.Errorf("indexed title %q, want %q", e.Title, want)
			}
		}
		if err := os.Remove(s.indexPath()); err != nil {
			t.Fatal(err)
		}
		if e := entry(t, s, id); e.Title != want {
			t.Errorf("title %q without the index, want %q", e.Title, want)
		}
	}
	rename("the fix\n\x1b[31m of \"it\"", "the fix [31m of \"it\"")
	j := open(t, s, id)
	appendAll(t, j, exchange(id, event.NextSeq(j.Info().LastSeq), 400))
	err := s.Rename(id, "other")
	if !errors.Is(err, ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	closeJournal(t, j)
	rename("second", "second")
	rename("", "prompt 1: list the files")
}

// The index is a cache: the list is right whatever the index contains.
func TestIndexIsACache(t *testing.T) {
	s := newStore(t)
	ids := []string{stored(t, s, 1), stored(t, s, 2), stored(t, s, 1)}
	writeFile(t, s.file("corrupt"), []byte("hello\n"))
	for i, id := range append(ids, "corrupt") {
		age(t, s, id, time.Duration(i+1)*time.Hour)
	}
	list := func(what string) {
		t.Helper()
		all, err := s.List()
		if err != nil || len(all) != len(ids)+1 {
			t.Fatalf("%s: %+v, %v", what, all, err)
		}
		for _, e := range all {
			if e.ID == "corrupt" {
				wantProblem(t, e, "line 1 is not a session header")
				continue
			}
			if e.Title != "prompt 1: list the files" || e.Header.Cwd != "/work" || e.Header.ID != e.ID || e.Header.Created == 0 {
				t.Errorf("%s: %+v", what, e)
			}
		}
	}
	list("cold")
	good := readFile(t, s.indexPath())
	if n := len(s.readIndex()); n != 4 {
		t.Fatalf("the index has %d records:\n%q", n, good)
	}
	list("warm")
	for i := 0; i < len(good); i += 5 {
		writeFile(t, s.indexPath(), good[:i])
		list("cut")
	}
	twice := string(good) + strings.TrimPrefix(string(good), indexHead)
	for _, bad := range []string{"", "buddy index 9\nx\n", indexHead + "\n\n\t\t\n", indexHead + "\xfe\xff\xff\xff\x0f", twice, string(make([]byte, len(good)))} {
		writeFile(t, s.indexPath(), []byte(bad))
		list("damaged")
	}
	last, err := s.Last()
	if err != nil || last.Title == "" {
		t.Errorf("Last: %+v, %v", last, err)
	}
}

func FuzzIndex(f *testing.F) {
	e := Entry{ID: "a", Title: "t\tx", Used: time.Unix(1, 2), Size: 3, Header: Header{Format: 1, ID: "a", Cwd: "\"x\n"}, valid: true, named: true, scanned: 2, fresh: true}
	f.Add(appendRecord([]byte(indexHead), &e))
	s := newStore(f)
	f.Fuzz(func(t *testing.T, index []byte) {
		writeFile(t, s.indexPath(), index)
		for _, r := range s.readIndex() {
			var e, again Entry
			e.parse(r)
			if e.gone {
				continue
			}
			writeFile(t, s.indexPath(), appendRecord([]byte(indexHead), &e))
			again.parse(s.readIndex()[0])
			if again != e {
				t.Errorf("%q became %+v, then %+v", r.text, e, again)
			}
		}
	})
}

// A removed session is in the trash with all its files until Collect deletes it.
func TestRemoveAndCollect(t *testing.T) {
	s := newStore(t)
	gone, kept, open := stored(t, s, 1), stored(t, s, 1), create(t, s)
	big := strings.Repeat("x", 1000)
	for _, id := range []string{gone, kept, open.Info().Header.ID} {
		writeFile(t, filepath.Join(s.OutDir(id), "000001", "out"), []byte(big))
	}
	for _, text := range []string{"draft", "of another screen"} {
		d := s.Draft(gone)
		defer d.Close()
		if err := d.Save(text); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Remove(open.Info().Header.ID)
	if !errors.Is(err, ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	folder, err := s.Remove(gone)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{gone + ext, gone + ".draft", gone + ".draft.2", gone + "/out/000001/out"} {
		if !exists(filepath.Join(folder, f)) {
			t.Errorf("%s is not in the trash", f)
		}
	}
	if _, err := s.Open(gone); err == nil || exists(filepath.Join(s.dir, gone)) || exists(s.file(gone)) {
		t.Errorf("%s is still there", gone)
	}

	now := time.Now()
	collect := func(at time.Duration, want Collected) {
		t.Helper()
		if c, err := s.Collect(now.Add(at), 1<<20); err != nil || c != want {
			t.Errorf("after %v: %+v, %v, want %+v", at, c, err, want)
		}
	}
	collect(0, Collected{})
	age(t, s, kept, OutAge)
	age(t, s, open.Info().Header.ID, OutAge)
	collect(time.Minute, Collected{Outs: 1, Bytes: 1000})
	if exists(s.OutDir(kept)) || !exists(s.file(kept)) || !exists(s.OutDir(open.Info().Header.ID)) {
		t.Error("the wrong outputs are gone")
	}
	for i, want := range []Collected{{Trash: 1}, {}} {
		if c, err := s.CollectDaily(now.Add(TrashAge+time.Hour), 1<<20); err != nil || c != want {
			t.Errorf("daily, %d: %+v, %v", i, c, err)
		}
	}
	if exists(folder) {
		t.Error("the trash was not emptied")
	}
}

// When the outputs of all sessions are too many, those of the least recently used session are deleted.
func TestOutputsOfSessionsUnusedForLongGoFirst(t *testing.T) {
	s := newStore(t)
	const most = 1 << 30
	large, old, older := stored(t, s, 1), stored(t, s, 1), stored(t, s, 1)
	for id, size := range map[string]int64{large: most - 1500, old: 1000, older: 1000} {
		file := filepath.Join(s.OutDir(id), "000001", "out")
		writeFile(t, file, nil)
		if err := os.Truncate(file, size); err != nil { // a sparse file, which takes no space
			t.Fatal(err)
		}
	}
	age(t, s, old, time.Hour)
	age(t, s, older, 2*time.Hour)
	if c, err := s.Collect(time.Now(), most); err != nil || c != (Collected{Outs: 1, Bytes: 1000}) || exists(s.OutDir(older)) {
		t.Errorf("%+v, %v; the oldest is there: %v", c, err, exists(s.OutDir(older)))
	}
}

// In sessions in use the oldest outputs of ended commands are replaced by a line. A fork keeps its outputs.
func TestOldestOutputsOfSessionsInUseGo(t *testing.T) {
	s := newStore(t)
	a, b := create(t, s), create(t, s)
	const size = 100_000
	file := func(j *Journal, call string, hours int, ended bool) string {
		path := filepath.Join(s.OutDir(j.Info().Header.ID), call, "out")
		writeFile(t, path, bytes.Repeat([]byte("x"), size))
		if ended {
			writeFile(t, filepath.Join(filepath.Dir(path), "rc"), []byte("0\n"))
		}
		at := time.Now().Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	runs := file(a, "000001", 9, false)
	oldest := file(b, "000001", 8, true)
	older := file(a, "000002", 7, true)
	newest := file(b, "000002", 1, true)
	link := filepath.Join(t.TempDir(), "fork")
	if err := os.Link(oldest, link); err != nil {
		t.Fatal(err)
	}
	for i, left := range []int64{4, 3, 2, 2} { // outputs that still fit into the limit
		if c, err := LimitOutputs(s, time.Now(), left*size+1000); err != nil || c.Outs != 0 || (c.Files > 0) != (i == 1 || i == 2) {
			t.Errorf("room for %d: %+v, %v", left, c, err)
		}
	}
	for path, gone := range map[string]bool{runs: false, oldest: true, older: true, newest: false, link: false} {
		if text := string(readFile(t, path)); strings.HasPrefix(text, "[buddy removed this output of 100000 bytes: ") != gone || !gone && len(text) != size {
			t.Errorf("%s: %.100q", path, text)
		}
	}
}

// A fork is a session of its own that ends with an exchange.
func TestFork(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	envs := stream(id, 3)
	out := filepath.Join(s.OutDir(id), "000007")
	writeFile(t, filepath.Join(out, "out"), []byte("whole"))
	last := len(envs) - 1
	at := func(i int, branch int, p event.Event) {
		envs = append(envs, event.Envelope{Seq: envs[last].Seq + uint64(i), Session: id, Branch: branch, Task: 9, Payload: p})
	}
	for i := range envs { // in the second exchange a background task and a waiting prompt start
		if p, ok := envs[i].Payload.(event.ToolResult); ok {
			p.FullOutput = &action.FullOutput{Path: out + "/out", Bytes: 5}
			envs[i].Payload = p
		}
	}
	envs[25].Payload = event.BranchStarted{Branch: 1}
	envs[26] = event.Envelope{Seq: envs[26].Seq, Session: id, Branch: 1, Task: 7, Payload: event.TaskStarted{ID: 7, Kind: event.BackgroundTask}}
	envs[27].Payload = event.PromptSubmitted{ID: 8, Text: "waits", Queued: true}
	at(1, 0, event.PromptSubmitted{ID: 9, Text: "unfinished"})
	at(2, 0, event.TaskStarted{ID: 9, Kind: event.MainTask})
	appendAll(t, j, envs) // it is in use

	exchanges, err := j.Exchanges()
	if err != nil || len(exchanges) != 4 || exchanges[1].Prompt != "prompt 2: list the files" || exchanges[1].Outcome != "completed" || exchanges[3].Outcome != "" {
		t.Fatalf("exchanges %+v, %v", exchanges, err)
	}
	for _, tt := range []struct{ at, exchange, events int }{{0, 3, 58 - 3}, {2, 2, 39 - 3}, {1, 1, 20}} {
		fork, ex, err := s.Fork(id, tt.at)
		if err != nil || ex.Number != tt.exchange {
			t.Fatalf("at %d: %+v, %v", tt.at, ex, err)
		}
		f := open(t, s, fork)
		if f.ReadOnly() != nil || f.Info().Header.ForkedFrom != id || f.Info().Header.Cwd != "/work" {
			t.Errorf("at %d: %+v, %v", tt.at, f.Info(), f.ReadOnly())
		}
		got := load(t, f).Events
		if n := len(got); n != tt.events+1 || got[n-1].Payload != (event.SessionForked{From: id, FromSeq: envs[tt.exchange*19].Seq, Exchange: tt.exchange}) {
			t.Errorf("at %d: %d events, want %d; the last is %+v", tt.at, n, tt.events+1, got[n-1])
		}
		text := string(readFile(t, s.file(fork)))
		if strings.Contains(text, "waits") || strings.Contains(text, "branch.started") || strings.Contains(text, out) || strings.Contains(text, "unfinished") {
			t.Errorf("at %d: it has what belongs to the original:\n%s", tt.at, text)
		}
		for _, env := range got {
			if env.Session != fork {
				t.Errorf("at %d: event %d is of session %q", tt.at, env.Seq, env.Session)
			}
		}
		if got := readFile(t, filepath.Join(s.OutDir(fork), "000007", "out")); string(got) != "whole" {
			t.Errorf("output %q", got)
		}
		closeJournal(t, f)
	}
	for at, want := range map[int]string{4: "has not ended", 5: "has 4", -1: "has 4"} {
		_, _, err := s.Fork(id, at)
		wantError(t, err, want)
	}
	// A copy of a foreign session would be trusted.
	foreign := Store{dir: s.dir, state: t.TempDir()}
	if _, _, err := foreign.Fork(id, 0); !errors.Is(err, ErrUntrusted) {
		t.Errorf("foreign: %v", err)
	}
}

// A command typed by a person is not an exchange: only prompts are numbered, and its lines belong to the exchange
// before it.
func TestTypedCommandsAreNoExchanges(t *testing.T) {
	for name, kind := range map[string]event.PromptKind{"": event.Typed, "of old": ""} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			j := create(t, s)
			id, seq := j.Info().Header.ID, uint64(0)
			add := func(task int, events ...event.Event) {
				for _, e := range events {
					seq++
					appendAll(t, j, []event.Envelope{{Seq: seq, Session: id, Task: task, Payload: e}})
				}
			}
			task := func(n int, p event.PromptSubmitted, o event.Outcome) {
				p.ID = n
				add(n, p, event.TaskStarted{ID: n, Kind: event.MainTask}, event.TaskFinished{ID: n, Outcome: o})
			}
			task(1, event.PromptSubmitted{Text: "!pwd", Kind: kind}, event.Completed)
			task(2, event.PromptSubmitted{Text: "first", Kind: event.Opening}, event.MaxTurns)
			task(3, event.PromptSubmitted{Text: "!ls", Kind: kind}, event.Completed)
			task(4, event.PromptSubmitted{Text: "second"}, event.Completed)
			add(5, event.PromptSubmitted{ID: 5, Text: "!make", Kind: kind}, event.TaskStarted{ID: 5, Kind: event.MainTask})
			all, err := j.Exchanges()
			if err != nil || len(all) != 2 || all[0].Prompt != "first" || all[0].Outcome != event.MaxTurns || all[1].Prompt != "second" || all[1].Outcome != "" {
				t.Fatalf("exchanges %+v, %v", all, err)
			}
			_, _, err = s.Fork(id, 2)
			wantError(t, err, "has not ended")
			add(5, event.TaskFinished{ID: 5, Outcome: event.Failed})
			fork, x, err := s.Fork(id, 1)
			if err != nil || x.Number != 1 {
				t.Fatal(x, err)
			}
			if text := string(readFile(t, s.file(fork))); !strings.Contains(text, "!ls") || strings.Contains(text, "second") {
				t.Errorf("the fork has\n%s", text)
			}
		})
	}
}

// Folders lists each existing folder of sessions once: those in the state folder before those in projects.
func TestFolders(t *testing.T) {
	setState(t)
	var want []string
	for _, where := range []Location{InState, InProject, InProject} {
		s, _, err := Dir(t.TempDir(), where)
		if err != nil {
			t.Fatal(err)
		}
		stored(t, s, 1)
		stored(t, s, 1)
		want = append(want, s.Path())
	}
	if err := os.RemoveAll(want[1]); err != nil { // with its project
		t.Fatal(err)
	}
	f, err := os.OpenFile(foldersPath(filepath.Join(xdg.StateHome, "buddy")), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("relative\n/no/such\n/torn"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	all, err := Folders()
	if err != nil || len(all) != 2 || all[0].Path() != want[0] || all[1].Path() != want[2] {
		t.Errorf("Folders() = %v, %v, want %v", all, err, want)
	}
}
