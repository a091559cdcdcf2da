package slash

import (
	"context"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/sessions"
)

// Sessions that could not be moved yet are listed, found and shown like the others.
func TestSavedInAllPlaces(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	dir := t.TempDir()
	want := map[string]bool{}
	var open *sessions.Journal
	for _, where := range []sessions.Location{sessions.InProject, sessions.InState} {
		store, _, err := sessions.Dir(dir, where)
		if err != nil {
			t.Fatal(err)
		}
		j, err := store.Create(sessions.Header{Cwd: dir})
		if err != nil {
			t.Fatal(err)
		}
		id := j.Info().Header.ID
		if err := j.Append(event.Envelope{Seq: 1, Session: id, Payload: event.PromptSubmitted{ID: 1, Text: "needle"}}); err != nil {
			t.Fatal(err)
		}
		want[id] = true
		if open == nil {
			open = j // a process works on it
		} else if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	defer open.Close() //nolint:errcheck // it is not of interest any more
	store, _, err := sessions.Dir(dir, sessions.InState)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := sessions.Move(store); m.Busy != 1 || err != nil {
		t.Fatalf("moved %v, %v", m, err)
	}
	saved := SavedIn(store)
	all, err := saved.List()
	if len(all) != 2 || err != nil {
		t.Fatalf("%v, %v", all, err)
	}
	for _, s := range all {
		if head, err := saved.Head(s.ID, 9); !want[s.ID] || len(head) != 1 || err != nil {
			t.Errorf("%s has %d events, %v", s.ID, len(head), err)
		}
	}
	hits := 0
	if err := saved.Search(context.Background(), "needle", func(Hit) bool { hits++; return true }); hits != 2 || err != nil {
		t.Errorf("%d hits, %v", hits, err)
	}
	if _, err := saved.Exchanges("none"); err == nil {
		t.Error("a session that is nowhere has exchanges")
	}
}
