package ui

import (
	"cmp"
	"time"

	"buddy/agent/action"
)

// noteTime is the time that a note is shown.
const noteTime = 2 * time.Second

// noted holds the note of the status line.
type noted struct {
	mode  action.Mode // the last mode in force
	times int         // number of notes: the end of an earlier one must not remove a later one
}

// note shows text in the status line for noteTime, whatever is typed.
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

// noteMode shows a note about the approval mode when it has changed.
func noteMode(u *UI) {
	mode := u.state.Info.Mode
	if before := u.noted.mode; before != "" && mode != before {
		note(u, cmp.Or(modeMeans[mode], "Mode: "+string(mode)))
	}
	u.noted.mode = mode
}

// modeMeans maps approval modes to the texts that explain them.
var modeMeans = map[action.Mode]string{
	action.ModeAsk:    "Ask mode: you approve every change",
	action.ModeStrict: "Strict mode: you approve every call",
	action.ModeEdits:  "Accept-edits mode: files in this folder change without asking",
	action.ModeAuto:   "Auto mode: commands run in the sandbox without asking",
	action.ModePlan:   "Plan mode: read-only until you approve a plan",
	action.ModeAll:    "All mode: everything runs without asking",
	action.ModeNone:   "None mode: whatever needs approval is denied",
}
