package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/sessions"
)

// A list has all sessions unless limited by a flag, whatever the limit of a search is.
func TestListHasAllSessions(t *testing.T) {
	apptest.Home(t)
	store, _, err := sessions.Dir(".", sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	const most = 51
	for range most {
		j, err := store.Create(sessions.Header{ID: sessions.NewID()})
		if err == nil {
			err = j.Append(event.Envelope{Seq: 1, Payload: event.PromptSubmitted{ID: 1, Text: "hello"}})
		}
		if err != nil || j.Close() != nil {
			t.Fatal(err)
		}
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for args, want := range map[string]int{"sessions list": most, "sessions list -n 2": 2} {
		if err := out.Truncate(0); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Seek(0, 0)
		if code := Main(strings.Fields(args), os.Stdin, out, os.Stderr); code != 0 {
			t.Fatalf("%s ends with %d", args, code)
		}
		text, err := os.ReadFile(out.Name())
		if got := strings.Count(string(text), "\n"); err != nil || got != want {
			t.Errorf("%s: %d lines, %v; want %d", args, got, err, want)
		}
	}
}
