package fullscreen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"buddy/agent/event"
	"buddy/sessions"
)

// A prompt that the session stored before its process died does not return to the user, who would send it twice.
func TestPromptsThatWereNotStored(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	store, _, err := sessions.Dir(t.TempDir(), sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	if left := notStored(store, "none", 0, []string{"one"}); !slices.Equal(left, []string{"one"}) {
		t.Errorf("without a session: %q", left)
	}
	j, err := store.Create(sessions.Header{})
	if err != nil {
		t.Fatal(err)
	}
	id := j.Info().Header.ID
	for i, text := range []string{"zero", "one"} {
		if err := j.Append(event.Envelope{Seq: uint64(i) + 1, Time: 1, Session: id, Payload: event.PromptSubmitted{ID: i + 1, Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[uint64][]string{1: {"two"}, 2: {"one", "two"}} {
		if left := notStored(store, id, after, []string{"one", "two"}); !slices.Equal(left, want) {
			t.Errorf("after %d: %q, want %q", after, left, want)
		}
	}
}

// The message about a session that has not ended in time names what may still run, and where to look.
func TestNotEnded(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("asked: %w", context.DeadlineExceeded), "the session did not end within 15s: commands on a target that does not answer may still be running · " +
			"check with buddy ls; when the session has ended, buddy resume 7f3a shows how the commands ended"},
		{errors.New("broken"), "the session did not end cleanly: broken"},
	} {
		if got := notEnded("7f3a-5b6c-90d1-22ef", tt.err); got != tt.want {
			t.Errorf("%v: %q", tt.err, got)
		}
	}
}
