package ui

import (
	"cmp"
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
		note(u, cmp.Or(modeMeans[mode], "Mode: "+string(mode)))
	}
	u.noted.mode = mode
}

// modeMeans names the modes and says what happens to calls in them.
var modeMeans = map[action.Mode]string{
	action.ModeAsk:    "Ask mode: you approve every change",
	action.ModeStrict: "Strict mode: you approve every call",
	action.ModeEdits:  "Accept-edits mode: files in this folder change without asking",
	action.ModeAuto:   "Auto mode: commands run in the sandbox without asking",
	action.ModePlan:   "Plan mode: read-only until you approve a plan",
	action.ModeAll:    "Mode all: everything runs without asking",
	action.ModeNone:   "Mode none: whatever needs approval is denied",
}
