package ui

import (
	"cmp"
	"strings"

	"buddy/agent/event"
	"buddy/app/state"
)

// Show applies an event to this screen only, as if the session had sent it. Call it on the UI goroutine.
func Show(u *UI, e event.Event) { u.update(u.state.Apply(alone(u, e))) }

// alone wraps an event that only this screen gets in an envelope of the session.
func alone(u *UI, e event.Event) event.Envelope {
	return event.Envelope{Seq: u.received.newest, Time: u.deps.Now().UnixMilli(), Session: u.state.Info.Session, Payload: e}
}

// Lose shows that no process runs the session any more, and why. It puts the prompts in sent, which the session did not
// receive, back into the prompt. Enter then restarts the session without sending the draft, which may be incomplete.
// Call it on the UI goroutine.
func Lose(u *UI, why string, sent []string) {
	u.ShowHint("")
	u.received.lost = true
	e, mode, until := u.state.Info.Event, u.state.Info.Mode, u.state.Info.Until
	changed := u.state.Apply(alone(u, event.SessionResumed{
		Version: e.Version, Cwd: e.Cwd, Target: e.Target, Profile: e.Profile, Model: e.Model, API: e.API, Window: e.Window, Effort: e.Effort,
	}))
	u.state.Info.Mode, u.state.Info.Until = mode, until // until the next process reports them
	u.update(changed)
	Show(u, event.Error{Text: why, NextStep: "press Enter to restart it"})
	Show(u, event.Interrupted{Text: "the answer was interrupted; commands keep running in their panes", CanContinue: true})
	if len(sent) > 0 {
		back := strings.Join(sent, "\n\n")
		if typed := u.v.prompt.Text(); typed != "" {
			back += "\n\n" + typed
		}
		u.v.prompt.SetText(back)
		Show(u, event.Notice{Text: "the session did not receive your message; it is back in the prompt"})
	}
}

// Restart shows that a new process runs the session. Call it on the UI goroutine.
func Restart(u *UI) {
	u.received.lost = false
	Show(u, event.Interrupted{Text: "the session continues in a new process"})
}

// ApplyOpen applies the events that started anything still open in a running session that this screen has joined. Call
// it on the UI goroutine.
func ApplyOpen(u *UI, open []event.Envelope) { u.update(state.ApplyOpen(&u.state, open)) }

// SetPlace sets the name that the session has given to this screen. With it, the screen distinguishes its own answers
// from other screens' answers. Call it on the UI goroutine.
func SetPlace(u *UI, place string) { u.received.place = place }

// elsewhere describes an answer or a mode change that came from another screen than here. It is "" for all other
// events.
func elsewhere(e event.Event, here string) string {
	switch p := e.(type) {
	case event.ApprovalAnswered:
		if p.By == "user" && p.Screen != "" && p.Screen != here {
			word := map[event.Decision]string{event.Deny: "denied", event.Edit: "edited and approved"}[p.Decision]
			return cmp.Or(word, "approved") + " on another screen (" + p.Screen + ")"
		}
	case event.QuestionAnswered:
		if p.By == "user" && p.Screen != "" && p.Screen != here {
			return "answered on another screen (" + p.Screen + ")"
		}
	case event.ModeChanged:
		if p.Screen != "" && p.Screen != here {
			return "mode " + p.Mode.Label() + ", set on another screen (" + p.Screen + ")"
		}
	}
	return ""
}

// SetHome changes the home folder that paths are abbreviated with. Call it on the UI goroutine.
func SetHome(u *UI, home string) { u.v.header.SetHome(home) }
