package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/sessions"
)

// TestSearchLeadsToThePlace: opening a session from a search shows the match, even far before the part that is read
// first.
func TestSearchLeadsToThePlace(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a terminal and some seconds")
	}
	x := newTerminal(t, modeltest.Steps())
	t.Setenv("XDG_STATE_HOME", filepath.Join(x.srv.Dir, "home", ".local", "state")) // as the program sets it
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	store, _, err := sessions.Dir(x.work, sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	j, err := store.Create(sessions.Header{ID: "0001-0000-0000-0000", Cwd: x.work, Target: "local", Model: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		text := fmt.Sprintf("answer %d", i)
		if i == 20 {
			text = "here is the needle of the search"
		}
		for k, p := range []event.Event{
			event.PromptSubmitted{ID: i + 1, Text: fmt.Sprintf("prompt %d", i)},
			event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}},
		} {
			if err := j.Append(event.Envelope{Seq: uint64(2*i + k + 1), Time: time.Now().UnixMilli(), Session: "0001-0000-0000-0000", Task: i + 1, Payload: p}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	x.keys("F4")
	x.want("Sessions · 1", "prompt 0", "answer 0")
	x.srv.Tmux("send-keys", "-t", "t", "-l", "/needle")
	x.want("> /needle", "1 hit", "▸ here is") // matches all letters, not just the first ones
	x.keys("Enter")
	x.want("here is the needle of the search", "1 of 1", "prompt 21")
	x.gone("Sessions", "answer 399")
	x.quit()
}
