package sessions

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
)

// holdKey gives the process a different key, as if it were another process.
func holdKey(t *testing.T) {
	t.Helper()
	was := HeldKey()
	HoldKey(bytes.Repeat([]byte{byte(len(t.Name()))}, keySize))
	t.Cleanup(func() { HoldKey(was) })
}

// If no key can be stored, the process can resume and fork its sessions, but other processes can't until the person
// trusts them and a key can be stored.
func TestSessionsWithoutAStoredKey(t *testing.T) {
	s := newStore(t)
	if err := KeyProblem(s); err != nil {
		t.Errorf("a key can be stored: %v", err)
	}
	state := s.state
	s.state = filepath.Join(t.TempDir(), "file", "buddy")
	writeFile(t, filepath.Dir(s.state), nil)
	const next = "make that folder writable, or set XDG_STATE_HOME to one that is"
	if err := KeyProblem(s); err == nil || !strings.Contains(err.Error(), s.state) || !strings.HasSuffix(err.Error(), next) {
		t.Errorf("a new session: %v", err)
	}
	j := create(t, s)
	id := j.Info().Header.ID
	appendAll(t, j, exchange(id, 1, 1))
	closeJournal(t, j)
	goesOn := func(what, id string, s Store, want bool) {
		t.Helper()
		k := open(t, s, id)
		defer closeJournal(t, k)
		if k.Info().Trusted != want || (k.ReadOnly() == nil) != want {
			t.Errorf("%s: trusted %v, read-only: %v", what, k.Info().Trusted, k.ReadOnly())
		}
	}
	goesOn("the process", id, s, true)
	fork, _, err := s.Fork(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	goesOn("the process with a fork", fork, s, true)
	if err := s.Trust(id); err == nil || !strings.Contains(err.Error(), "can't save your trust in session "+id+": its key can't be stored in "+s.state) || !strings.HasSuffix(err.Error(), next) {
		t.Errorf("trust: %v", err)
	}

	stored := s
	stored.state = state
	holdKey(t)
	goesOn("another process", id, s, false)
	if _, _, err := s.Fork(id, 0); !errors.Is(err, ErrUntrusted) {
		t.Errorf("a fork by another process: %v", err)
	}
	if err := stored.Trust(id); err != nil {
		t.Error(err)
	}
	goesOn("another process that trusts it", id, stored, true)
}

// A key stored by another process does not end the trust in sessions that this process wrote before.
func TestKeyStoredByAnotherProcess(t *testing.T) {
	s := newStore(t)
	without := s
	without.state = filepath.Join(t.TempDir(), "file", "buddy")
	writeFile(t, filepath.Dir(without.state), nil)
	j := create(t, without)
	closeJournal(t, j)
	writeFile(t, KeyFile(s.state), bytes.Repeat([]byte("k"), keySize))
	k := open(t, s, j.Info().Header.ID)
	if !k.Info().Trusted || k.ReadOnly() != nil {
		t.Errorf("trusted %v, read-only: %v", k.Info().Trusted, k.ReadOnly())
	}
	appendAll(t, k, []event.Envelope{{Seq: 20, Time: 1, Session: k.Info().Header.ID, Payload: event.HistoryRewound{ToSeq: 1, Prompt: "first"}}})
	closeJournal(t, k)
	if k = open(t, s, j.Info().Header.ID); !k.Info().Trusted {
		t.Error("no longer trusted after its header was changed")
	}
}
