package ui

import (
	"path/filepath"
	"strings"
	"unicode"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/screen"
	"buddy/app/state"
)

// longTask is the minimum duration, in milliseconds, of a task whose end causes a notification.
const longTask = 10_000

// Attention configures how buddy notifies a user who is not looking at the screen.
type Attention struct {
	How      screen.Call
	Notify   func(how screen.Call, text string)
	SetTitle func(title string) // nil leaves the title alone
}

// attention notifies a user who is not looking at the screen. The window title always shows the status. A notification
// is sent when an approval, a question or a command starts to wait for the user, and when a long task ends. Both
// contain only fixed words and the harmless characters of the folder's name, never text from a model, a tool or a file.
type attention struct {
	Attention
	away    bool   // the terminal does not have the focus
	asked   string // the newest pending approval, question or command input
	running int    // the running main task; 0 for none
	ended   string // outcome of the last task that ended while the terminal was not focused
	title   string
}

// update notifies about changes of the state.
func (a *attention) update(s *state.State) {
	asked, what := "", ""
	if c := s.Focused; c != nil && c.WaitsForKeys {
		asked, what = "keys for "+c.ID, "a command is waiting for your input"
	}
	if n := len(s.Questions); n > 0 {
		asked, what = s.Questions[n-1].ID, "a question is waiting for you"
	}
	if n := len(s.Approvals); n > 0 {
		asked, what = s.Approvals[n-1].ID, "an approval is waiting for you"
	}
	if asked != a.asked {
		if a.asked = asked; asked != "" {
			a.call(what)
		}
	}
	t := s.Running()
	if a.running != 0 && (t == nil || t.ID != a.running) {
		a.finished(s, a.running)
	}
	a.running = 0
	if t != nil {
		a.running, a.ended = t.ID, ""
	}
	a.showTitle(s)
}

// finished records the outcome of a main task that has ended, and notifies the user if the task was long.
func (a *attention) finished(s *state.State, id int) {
	for _, t := range s.Tasks {
		if t.ID != id || t.State != state.TaskDone || !a.away {
			continue
		}
		switch t.Outcome {
		case event.Completed:
			a.ended = "✓ done"
		case event.Cancelled, record.Interrupted:
			return
		default:
			a.ended = "✗ failed"
		}
		if t.Started > 0 && t.Ended-t.Started >= longTask {
			a.call(strings.Fields(a.ended)[1])
		}
	}
}

func (a *attention) call(text string) {
	if a.away {
		a.Notify(a.How, "buddy: "+text)
	}
}

// focused records whether the terminal has the focus.
func (a *attention) focused(on bool, s *state.State) {
	a.away = !on
	if on {
		a.ended = ""
	}
	a.showTitle(s)
}

// showTitle sets the window title if it has changed.
func (a *attention) showTitle(s *state.State) {
	if a.SetTitle == nil {
		return
	}
	if title := a.titleOf(s); title != a.title {
		a.title = title
		a.SetTitle(title)
	}
}

// titleOf returns the window title: the program, its status and the folder, as in "buddy · ‖ approval · shop".
func (a *attention) titleOf(s *state.State) string {
	parts := []string{"buddy"}
	switch {
	case len(s.Approvals) > 0:
		parts = append(parts, "‖ approval")
	case len(s.Questions) > 0:
		parts = append(parts, "‖ question")
	case a.running != 0:
		parts = append(parts, "working")
	case a.ended != "":
		parts = append(parts, a.ended)
	}
	if name := titleName(s.Info.Event.Cwd); name != "" {
		parts = append(parts, name)
	}
	return strings.Join(parts, " · ")
}

// maxTitleName limits the characters of a folder's name in the title.
const maxTitleName = 40

// titleName returns the last element of a path. It replaces everything but letters, digits and common punctuation,
// because unknown programs read the title, such as a window manager or a shell's prompt.
func titleName(path string) string {
	var name []rune
	for _, r := range filepath.Base(path) {
		if len(name) == maxTitleName {
			return string(name) + "…"
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-+@", r) {
			r = '_'
		}
		name = append(name, r)
	}
	if path == "" {
		return ""
	}
	return string(name)
}
