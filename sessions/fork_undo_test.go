package sessions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
)

// TestForkKeepsWhatUndoNeeds: a fork includes the contents of files before changes, and they are deleted with the
// outputs of the session.
func TestForkKeepsWhatUndoNeeds(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	kept := filepath.Join(s.OutDir(id), "000001", "before-1")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, kept, []byte("as it was\n"))
	for n, e := range []event.Event{
		event.PromptSubmitted{ID: 1, Text: "change it"},
		event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "change it"},
		event.FileKept{CallID: "c1", Target: "local", Files: []event.KeptFile{{Path: "/w/a.txt", Copy: kept, Existed: true, Bytes: 10}}},
		event.TaskFinished{ID: 1, Outcome: event.Completed},
	} {
		appendAll(t, j, []event.Envelope{{Seq: uint64(n + 1), Time: 1, Session: id, Task: 1, Payload: e}})
	}
	closeJournal(t, j)
	fork, _, err := s.Fork(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, s, fork)
	defer closeJournal(t, f)
	found := ""
	for _, env := range load(t, f).Events {
		if p, ok := env.Payload.(event.FileKept); ok {
			found = p.Files[0].Copy
		}
	}
	if !strings.HasPrefix(found, s.OutDir(fork)) || string(readFile(t, found)) != "as it was\n" {
		t.Errorf("the fork has its copy at %q", found)
	}

	old := time.Now().Add(-OutAge - time.Hour)
	if err := os.Chtimes(s.File(id), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(time.Now(), 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err == nil {
		t.Error("the copy outlives the outputs of its session")
	}
}
