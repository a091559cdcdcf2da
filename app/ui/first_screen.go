package ui

import (
	"fmt"

	"buddy/app/slash"
	"buddy/views/dialog"
)

// start holds what the person can begin with, and what they came for.
type start struct {
	goal   slash.Spot // to go to when it has been read
	recent []string   // ids of the sessions that the first screen offers by their digits
}

// Welcome returns what an empty conversation shows: what buddy is, what to try and where to read on. The demo
// has a tour; without an instruction file there is a command that lets the model write one.
func Welcome(demo, instructions bool) []string {
	first, last := "Ask in your words, or run a command yourself: !git status", "/help lists keys and commands"
	if demo {
		first = "Try the demo: tour"
	}
	if !instructions {
		last += " · /init writes AGENTS.md for models"
	}
	return []string{"buddy runs commands in tmux panes you can watch, and asks before changes.", first, last}
}

// OfferRecent makes the first screen's digits open sessions, the first the one that 1 opens.
func OfferRecent(u *UI, ids []string) { u.start.recent = ids }

// recentFor returns the session that a text is the digit of while the first screen shows, else "".
func recentFor(u *UI, text string) string {
	if len(text) != 1 || text[0] < '1' || int(text[0]-'1') >= len(u.start.recent) || len(u.state.Blocks) > 0 {
		return ""
	}
	return u.start.recent[text[0]-'1']
}

// awaitDigit opens a recent session when its digit was typed and nothing follows: a prompt may begin with one.
func awaitDigit(u *UI) {
	if len(u.start.recent) == 0 || len(u.state.Blocks) > 0 {
		return
	}
	text := u.v.prompt.Text()
	if recentFor(u, text) == "" {
		return
	}
	changes := u.v.prompt.Changes()
	u.deps.After(dialog.LetterPause, func() {
		if u.v.prompt.Changes() == changes && u.overlays.top() == nil {
			openRecent(u, text)
		}
	})
}

// openRecent goes on with the session that a text is the digit of, and reports whether it is one.
func openRecent(u *UI, text string) bool {
	id := recentFor(u, text)
	if id == "" {
		return false
	}
	u.v.prompt.SetText("")
	u.deps.Background(func() func() {
		_, err := u.deps.Catalog.Find(id)
		return func() {
			if err == nil {
				err = change(&u.state, u.deps.Leave, id, slash.Spot{})
			}
			if err != nil {
				u.hint("", fmt.Sprintf("the session was not opened: %v", err))
			}
		}
	})
	return true
}
