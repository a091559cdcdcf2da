package ui

import (
	"cmp"
	"strings"

	"buddy/agent/event"
	"buddy/app/state"
)

// Show shows a fact that concerns this screen alone, as if it were one of the session. UI goroutine
// only.
func Show(u *UI, e event.Event) { u.update(u.state.Apply(alone(u, e))) }

// alone returns a fact as the session would tell it.
func alone(u *UI, e event.Event) event.Envelope {
	return event.Envelope{Seq: u.heard.newest, Time: u.deps.Now().UnixMilli(), Session: u.state.Info.Session, Payload: e}
}

// Lose shows that nobody runs the session any more, and why. Nothing of it runs then; Enter starts it again and
// sends nothing, because what is in the prompt may be half a text. Prompts that were sent and not taken come back. UI goroutine
// only.
func Lose(u *UI, why string, sent []string) {
	u.Tell("")
	u.heard.lost = true
	e, mode, until := u.state.Info.Event, u.state.Info.Mode, u.state.Info.Until
	changed := u.state.Apply(alone(u, event.SessionResumed{
		Version: e.Version, Cwd: e.Cwd, Target: e.Target, Profile: e.Profile, Model: e.Model, API: e.API, Window: e.Window, Effort: e.Effort,
	}))
	u.state.Info.Mode, u.state.Info.Until = mode, until // which the next process says
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

// Restart shows that another process runs the session, which nobody ran. UI goroutine only.
func Restart(u *UI) {
	u.heard.lost = false
	Show(u, event.Interrupted{Text: "the session continues in a new process"})
}

// ApplyOpen shows what is open of a session that runs and was joined: the events that began it. UI
// goroutine only.
func ApplyOpen(u *UI, open []event.Envelope) { u.update(state.ApplyOpen(&u.state, open)) }

// SetPlace says how the session calls this screen, to know its answers from those of others. UI
// goroutine only.
func SetPlace(u *UI, place string) { u.heard.place = place }

// elsewhere says what a person has answered, or which mode they have chosen, at another screen, "" for all other events.
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
			return "mode " + p.Mode.Label() + " from another screen (" + p.Screen + ")"
		}
	}
	return ""
}

// SetHome changes which folder is the person's own, for people. UI goroutine only.
func SetHome(u *UI, home string) { u.v.header.SetHome(home) }
