package cli

import (
	"os"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/compose"
	"buddy/sessions"
)

// buddy -c resumes the session that the user used last; "last" is the last of all, as for exec -c.
func TestContinueMeansThePersonsSession(t *testing.T) {
	apptest.Home(t)
	store, err := compose.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	made := func(by string, used time.Time) string {
		h := sessions.Header{ID: sessions.NewID(), By: by}
		j, err := store.Create(h)
		if err == nil {
			err = j.Append(event.Envelope{Seq: 1, Payload: event.PromptSubmitted{ID: 1, Text: "hello"}})
		}
		if err != nil || j.Close() != nil || os.Chtimes(store.File(h.ID), used, used) != nil {
			t.Fatal(err)
		}
		return h.ID
	}
	mine, exec := made("", time.Unix(1000, 0)), made(sessions.Exec, time.Unix(2000, 0))
	if id, err := lastOfPerson(&cli{err: os.Stderr}); id != mine || err != nil {
		t.Errorf("--continue means %s, %v; want %s, not that of exec %s", id, err, mine, exec)
	}
	if _, id, err := compose.FindSession(store, "last"); id != exec || err != nil {
		t.Errorf("last means %s, %v; want %s", id, err, exec)
	}
}
