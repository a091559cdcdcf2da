package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/layout"
)

// answer is a complete answer of the model.
func answer(text string) event.Event {
	return event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}}
}

func TestFindFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.PromptSubmitted{ID: 1, Text: "where is the needle?"}, answer("In the haystack."))
		for range 30 {
			x.feed(answer("hay"), event.PromptSubmitted{ID: 2, Text: "and?"})
		}
		x.feed(answer("No needle here, but needle work."))
		x.Press("Tab", "/")
		x.Type("needle")
		x.Want("find: needle", "3 of 3", "No needle here", "keep (n next")
		x.Press("Enter", "N", "N")
		x.Want("find: needle", "1 of 3", "n next", "N previous", "Esc close", "where is the needle?")
		x.Press("Esc") // back to the prompt and the previous position
		x.Want("No needle here")
		x.unwanted("find:", "1 of 3")
		if x.focus() != layout.Prompt {
			t.Errorf("the focus is on %v after a search", x.focus())
		}
		x.Press("Tab", "/")
		x.Type("needle")
		x.Want("3 of 3")
		x.Press("Enter", "N")
		x.Want("2 of 3")
		x.Paste("needle")
		x.Want("> needle") // text goes to the prompt, and the search ends at its match
		x.unwanted("find:", "2 of 3")
		x.Press("Ctrl+U")
		x.rest()
		x.Press("Tab", "/", "x", "Esc")
		x.unwanted("find:")
		x.rest()
		x.Press("Tab", "/")
		x.Paste("hay\nstack")
		x.Want("find: hay stack", "no match")
		x.Press("Esc")
		x.Type("typed")
		x.Want("> typed")
	})
}

func TestFindCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.PromptSubmitted{ID: 1, Text: "where is the needle?"})
		x.Paste("/find the needle")
		x.Press("Enter")
		x.wantSent()
		x.Want("1 of 1")
		x.Press("Esc", "Esc")
		x.Paste("/find")
		x.Press("Enter")
		x.Want("find:")
		x.Type("where")
		x.Want("find: where", "1 of 1")
	})
}

// A search through 10 MB does not block keys.
func TestFindInLongSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		hay := answer(strings.Repeat("hay and straw\n\n", 1000))
		x.feed(answer("the needle"))
		for range 200 {
			x.feed(hay)
		}
		x.Paste("/find needle")
		x.Press("Enter")
		for range 100 {
			if strings.Contains(x.Screen(), "1 of 1") {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		x.Want("1 of 1", "the needle")
	})
}

// The notice on the edge between a pane and the prompt is readable.
func TestNewTextIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(answer(strings.Repeat("line\n\n", 50)))
		x.Press("Tab", "PgUp")
		x.feed(answer("one more"))
		x.Want("↓ 2 new lines")
		x.Press("Esc")
		x.Want("↓ 2 new lines")
	})
}
