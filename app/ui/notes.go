package ui

import (
	"time"

	"buddy/agent/action"
)

// noteTime says how long a note shows.
const noteTime = 2 * time.Second

// noted holds what the status line says for a moment.
type noted struct {
	mode  action.Mode // that was in force last
	times int         // how many notes there were: the end of an earlier one does not end a later one
}

// note shows a text in the status line for a moment, whatever is typed.
func note(u *UI, text string) {
	u.noted.times++
	this := u.noted.times
	u.v.status.SetNote(text)
	u.deps.After(noteTime, func() {
		if this == u.noted.times {
			u.v.status.SetNote("")
		}
	})
}

// noteMode says which mode is in force, when that has changed while the person looks.
func noteMode(u *UI) {
	mode := u.state.Info.Mode
	if before := u.noted.mode; before != "" && mode != before {
		text := "mode " + string(mode)
		if means := modeMeans[mode]; means != "" {
			text += " · " + means
		}
		note(u, text)
	}
	u.noted.mode = mode
}

// modeMeans says in a few words what happens to calls in a mode.
var modeMeans = map[action.Mode]string{
	action.ModeAsk:    "you approve what changes something",
	action.ModeStrict: "you approve every call",
	action.ModeEdits:  "files of the workspace are written without asking",
	action.ModeAuto:   "commands run without asking, inside the fence",
	action.ModePlan:   "nothing is changed, only planned",
	action.ModeAll:    "everything runs without asking",
	action.ModeNone:   "what needs approval is denied",
}
