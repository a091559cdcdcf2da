package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/views/dialog"
)

func TestDigitsOpenRecentSessions(t *testing.T) {
	const first, second = "0001-0000-0000-0000", "0002-0000-0000-0000"
	for _, c := range []struct {
		name, typed string
		busy        bool   // the conversation has begun
		opens       string // the session
		sends       string
	}{
		{name: "a digit", typed: "2", opens: second},
		{name: "a digit and Enter", typed: "1\n", opens: first},
		{name: "a prompt that begins with one", typed: "2 tests fail\n", sends: "2 tests fail"},
		{name: "a digit without a session", typed: "3\n", sends: "3"},
		{name: "a digit when the conversation has begun", typed: "1\n", busy: true, sends: "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 80, 24)
				x.u.deps.Later(func() { OfferRecent(x.u, []string{first, second}) })
				if c.busy {
					x.tell(event.PromptSubmitted{ID: 1, Text: "first"})
				}
				x.Settle()
				x.Type(c.typed)
				x.Settle()
				time.Sleep(dialog.LetterPause + 50*time.Millisecond)
				x.Settle()
				var want slash.Next
				if c.opens != "" {
					want = slash.Next{Again: true, Resume: c.opens}
				}
				if x.left != want {
					t.Errorf("left for %+v, want %+v", x.left, want)
				}
				if c.sends != "" {
					x.took(event.Submit{Text: c.sends})
				} else {
					x.took()
				}
			})
		})
	}
}
