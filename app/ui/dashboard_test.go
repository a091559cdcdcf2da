package ui

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/dashboard"
	"buddy/views/draw"
)

// testBoard is the dashboard of a screen, with sessions that the test makes.
type testBoard struct {
	*testUI
	sessions []dashboard.Session
	notes    []string
	changed  func()
	request  event.Event
	answered chan event.Event
	did      []string
	ends     []func() // of requests
}

// finish ends the requests that are still shown.
func (b *testBoard) finish() {
	for _, end := range b.ends {
		end()
	}
}

var waits = []dashboard.Session{
	{ID: "one", Group: dashboard.Waiting, State: client.WaitsForApproval, Title: "taxes", Folder: "/home/ann/shop", Began: 1, Latest: client.Latest{Prompt: "fix the taxes", Said: "I will look."}, Waits: []dashboard.Wait{{ID: "a1", Kind: dashboard.Approval, Text: "ls -la"}}},
	{ID: "two", Group: dashboard.Working, State: client.Working, Title: "a \x1b[31mblog", Folder: "/home/ann/blog", Began: 1},
	{ID: "far", Machine: "web-02", Group: dashboard.Idle, State: client.Idle, Title: "logs", Folder: "/srv", Began: 1},
}

// openTestBoard opens the dashboard with F7.
func openTestBoard(t *testing.T, cols, rows int) *testBoard {
	b := &testBoard{testUI: open(t, cols, rows), sessions: waits, request: asked}
	b.inside(func() {
		b.u.deps.Background = func(work func() func()) {
			go func() {
				apply := work()
				b.u.deps.Later(apply)
			}()
		}
		b.u.deps.Live = LiveSessions{
			Here: "/home/ann/docs", Home: "/home/ann",
			Watch: func(changed func()) LiveTable {
				b.changed = changed
				return LiveTable{Sessions: func() []dashboard.Session { return b.sessions }, Notes: func() []string { return b.notes }, Stop: func() { b.did = append(b.did, "closed") }}
			},
			Ask: func(s dashboard.Session) (*dashboard.Asked, error) {
				if b.request == nil {
					return nil, errors.New("the session is no longer waiting")
				}
				answers := make(chan event.Event, 1)
				b.answered = answers
				end := sync.OnceFunc(func() { close(answers) })
				b.ends = append(b.ends, end)
				return &dashboard.Asked{
					Request: b.request, Of: 1, Place: "pts/1", Answered: answers,
					Send:  func(c event.Command) { b.mu.Lock(); b.sent = append(b.sent, c); b.mu.Unlock() },
					Close: func() { end(); b.did = append(b.did, "left "+s.ID) },
				}, nil
			},
			Stop:   func(s dashboard.Session) error { b.did = append(b.did, "stop "+s.ID); return nil },
			Start:  func(folder, prompt string) error { b.did = append(b.did, "start "+folder+": "+prompt); return nil },
			Attach: func(s dashboard.Session) error { b.did = append(b.did, "attach "+s.Key()); return nil },
		}
	})
	b.Press("F7")
	return b
}

// answer opens the dialog and waits until keys can answer.
func (b *testBoard) answer() {
	b.t.Helper()
	b.Press("a")
	b.Settle()
	time.Sleep(draw.GracePeriod)
	b.Settle()
}

func (b *testBoard) didAll(want ...string) {
	b.t.Helper()
	b.Settle()
	if !slices.Equal(b.did, want) {
		b.t.Errorf("did %q, want %q\n%s", b.did, want, b.Screen())
	}
	b.did = nil
}

func TestDashboardAnswersAnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openTestBoard(t, 120, 32)
		defer b.finish()
		b.Want("Dashboard · 1 waiting", "waiting for you", "▸ taxes", "approve ls -la", "working", "idle", "web-02:srv", "▌ fix the taxes", "I will look.", "~/shop")
		b.answer()
		b.Want("Run this command? · in taxes", "1  Yes", "press Esc to go back to the list", "waiting for you")
		b.decide("y")
		b.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Once})
		b.answered <- event.ApprovalAnswered{ID: "a1", Decision: event.Once, By: "user", Screen: "pts/1"}
		b.Settle()
		b.Want("approved")
		b.unwanted("Run this command?", "another screen")
		b.didAll("left one")
		b.Press("Esc")
		b.didAll("closed")
	})
}

// Letters of a word that was meant for the filter never answer, and neither do keys pressed before the request showed.
func TestTypingInTheDashboardNeverAnswers(t *testing.T) {
	for _, keys := range []string{"apply", "ay", "yay", "asy"} {
		synctest.Test(t, func(t *testing.T) {
			b := openTestBoard(t, 120, 32)
			defer b.finish()
			b.Type(keys)
			b.rest()
			b.wantSent()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		b := openTestBoard(t, 120, 32)
		defer b.finish()
		b.answer()
		b.Press("y")
		time.Sleep(300 * time.Millisecond)
		b.Press("e")
		b.rest()
		b.wantSent()
		b.Want("Run this command?")
		b.decide("n") // the positive control
		b.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Deny})
	})
}

func TestDashboardSaysWhoAnsweredFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openTestBoard(t, 120, 32)
		defer b.finish()
		b.answer()
		b.answered <- event.ApprovalAnswered{ID: "a1", Decision: event.Deny, By: "user", Screen: "pts/7"}
		b.Settle()
		b.Want("denied on another screen (pts/7) before you could")
		b.unwanted("Run this command?")
		b.request = nil
		b.Press("a")
		b.Settle()
		b.Want("the session is no longer waiting")
	})
}

func TestDashboardAnswersQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openTestBoard(t, 80, 24)
		defer b.finish()
		b.request = event.QuestionAsked{ID: "q", Text: "Which database?", Choices: []string{"PostgreSQL", "SQLite"}}
		b.answer()
		b.Want("Which database?", "1  PostgreSQL")
		b.decide("2")
		b.Press("Enter")
		b.wantSent(event.Answer{ID: "q", Text: "SQLite"})
		b.answered <- event.QuestionAnswered{ID: "q", Text: "SQLite", By: "user", Screen: "pts/1"}
		b.Settle()
		b.Want("answered")

		b.answer()
		b.Type("MariaDB")
		b.Press("Enter")
		b.wantSent(event.Answer{ID: "q", Text: "MariaDB"})
		b.Press("Esc")

		b.request = event.QuestionAsked{ID: "p", Plan: "plan.md", Text: "# Plan\n\n1. look", Before: action.ModeAsk, Choices: []string{string(action.ModeAsk), event.PlanKeep, event.PlanEdit}}
		b.answer()
		b.Want("Carry out this plan?", "1. look")
		b.decide("1")
		b.Press("Enter")
		b.wantSent(event.Answer{ID: "p", Text: string(action.ModeAsk)})
	})
}

func TestDashboardKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openTestBoard(t, 80, 24)
		defer b.finish()
		b.Press("Down", "Enter")
		b.didAll("attach /two")
		b.Press("a")
		b.Want("that session is not waiting for you; this one is", "▸ taxes")
		b.Press("Down", "Down", "a") // answered over there
		b.Want("that session is not waiting")
		b.Press("Down", "Down", "Enter")
		b.didAll("attach web-02/far")
		b.Press("x")
		b.Want(`Stop "logs"? It stays saved.`)
		b.Press("y")
		b.didAll("stop far")
		b.Press("n")
		b.Want("folder: /home/ann/docs")
		b.Press("Enter")
		b.Type("run the tests")
		b.Press("Enter")
		b.didAll("start /home/ann/docs: run the tests")
		b.Press("/")
		b.Type("axes") // a alone would answer
		b.Want("> axes", "▸ taxes")
		b.unwanted("a ␛[31mblog")
		b.Press("F7")
		b.didAll("closed")
	})
}

// Rows change under the selection, which stays on its session; a session that starts to wait calls a user who looks
// elsewhere, once.
func TestDashboardFollowsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openTestBoard(t, 120, 32)
		defer b.finish()
		b.calls()
		b.Press("Down")
		b.Want("▸ a ␛[31mblog")
		b.Focus(false)
		two := b.sessions[1]
		two.Group, two.State, two.Waits = dashboard.Waiting, client.WaitsForAnswer, []dashboard.Wait{{ID: "q", Kind: dashboard.Question, Text: "Which?"}}
		b.sessions = []dashboard.Session{two, b.sessions[0], b.sessions[2]}
		for range 3 {
			b.changed()
			b.Settle()
		}
		b.Want("Dashboard · 2 waiting", "▸ a ␛[31mblog", "? Which?")
		if got := b.calls(); !slices.Equal(got, []string{"9;buddy: a session is waiting for you"}) {
			t.Errorf("%q", got)
		}
		b.notes = []string{"web-03: buddy isn't installed there"}
		b.sessions = nil
		b.changed()
		b.Settle()
		b.Want("web-03: buddy isn't installed there", "no session is running")
	})
}

// onBoard opens a dashboard with many sessions, with a filter and a row in the middle.
func onBoard(x *testUI) {
	var all []dashboard.Session
	for i := range 40 {
		all = append(all, dashboard.Session{ID: fmt.Sprint(i), Group: dashboard.Working, State: client.Working, Title: fmt.Sprint("session ", i), Began: 1})
	}
	x.inside(func() {
		x.u.deps.Live = LiveSessions{
			Watch: func(func()) LiveTable {
				return LiveTable{Sessions: func() []dashboard.Session { return all }, Notes: func() []string { return nil }, Stop: func() {}}
			},
			Attach: func(dashboard.Session) error { return errors.New("attached") },
		}
	})
	x.Press("F7")
	x.Type("s")
	x.Press("Down", "Down")
	x.Settle()
}
