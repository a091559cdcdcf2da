package app

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/sessions"
	"buddy/views"
)

var testModels = []views.PickerRow{
	{ID: "fast", Cells: []string{"fast", "gpt-5.3-codex", "400k", "$1.25/$10", "high"}},
	{ID: "demo", Cells: []string{"demo", "built in", "–", "free", "–"}},
}

// savedSessions makes a store with sessions of one exchange each, the last one used last.
func savedSessions(t *testing.T, titles ...string) (sessions.Store, []string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	store, _, err := sessions.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i, title := range titles {
		id := fmt.Sprintf("%04x-0000-0000-0000", i+1)
		j, err := store.Create(sessions.Header{ID: id, Cwd: "/home/ann/shop", Target: "local", Model: "gpt-5.3"})
		if err != nil {
			t.Fatal(err)
		}
		for n, e := range []event.Event{
			event.PromptSubmitted{ID: 1, Text: title},
			event.TaskStarted{ID: 1, Kind: event.MainTask, Title: title},
			event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "Answer to " + title + "."}},
			event.TaskFinished{ID: 1, Outcome: event.Completed},
		} {
			env := event.Envelope{Seq: uint64(n + 1), Time: time.Now().UnixMilli(), Session: id, Task: 1, Payload: e}
			if err := j.Append(env); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(time.Duration(i-len(titles)) * time.Hour)
		if err := os.Chtimes(store.File(id), used, used); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return store, ids
}

const wideTitle = "修复 nginx 配置 👩‍🚀 [red]x[-] \x1b[31m"

func TestSessionBrowser(t *testing.T) { // UX "Session browser", J05, J06
	store, ids := savedSessions(t, "why do the tests fail", "restart the web server", wideTitle)
	synctest.Test(t, func(t *testing.T) {
		x := openOn(t, 120, 32, store)
		x.Type("/session\n")
		x.Want("Sessions · 3", "why do the tests fail", "restart the web server", "修复 nginx", "used", "turns", "Conversation")
		x.Press("Down", "Down")
		x.Want("▸ why do the tests fail", "Answer to why do the tests fail.")
		x.Press("Home")
		x.Type("web rest") // words in any order; a letter that is no key filters
		x.Want("Sessions · 1 of 3", "▸ restart the web server", "Answer to restart")
		x.unwanted("why do the tests")
		x.Press("Enter")
		if err := x.Ended(); err != nil || x.left.resume != ids[1] {
			t.Errorf("left for %+v, %v, want %s", x.left, err, ids[1])
		}
	})
}
