package ui

import (
	"fmt"
	"slices"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
	"buddy/views/panes"
)

// paneIntents says what becomes of what a person wants of terminal panes.
func (u *UI) paneIntents() panes.PaneIntents {
	send := u.deps.Send
	return panes.PaneIntents{
		OnZoom:    u.toggleZoom,
		OnType:    func(id string, p []byte) { send(event.PaneInput{Pane: id, Bytes: p}) },
		OnPaste:   func(id, text string) { send(event.PanePaste{Pane: id, Text: text}) },
		OnFit:     func(id string, w, h int) { send(event.FitPane{Pane: id, W: w, H: h}) },
		OnHistory: func(id string) { send(event.ReadPane{Pane: id}) },
		OnKill:    u.killPane,
	}
}

// killPane kills a pane once the person has said so again.
func (u *UI) killPane(id, name, why string) {
	if why != "" {
		u.hint("", why)
		return
	}
	u.v.confirm.Ask(dialog.Question{
		Title: "Kill this pane?", Scope: keymap.Confirm,
		Lines: []string{name, "What runs in it ends at once."},
		Answer: func(a keymap.Action) {
			if a == keymap.ConfirmYes {
				u.deps.Send(event.KillPane{Pane: id})
			}
		},
	})
}

// leaving asks what becomes of the commands that run in panes of their own, and reports
// whether there are any.
func (u *UI) leaving() bool {
	q := dialog.Question{Title: "Quit?", Scope: keymap.Leaving}
	attach := ""
	for _, t := range u.state.Tasks {
		if t.Kind != event.ShellTask || t.State == state.TaskDone {
			continue
		}
		q.Lines = append(q.Lines, fmt.Sprintf("#%d %s", t.ID, t.Title))
		for _, p := range u.state.Panes {
			if p.Pane == t.Pane {
				attach = p.Attach
			}
		}
	}
	if len(q.Lines) == 0 {
		return false
	}
	what := "1 command still runs:"
	if n := len(q.Lines); n > 1 {
		what = fmt.Sprintf("%d commands still run:", n)
	}
	q.Lines = append([]string{what}, q.Lines...)
	if attach != "" {
		q.Lines = append(q.Lines, "see it later with: "+attach)
	}
	if t := u.state.Running(); t != nil {
		q.Lines = append(q.Lines, fmt.Sprintf("task #%d, which works for you, is cancelled.", t.ID))
	}
	q.Answer = func(a keymap.Action) { u.deps.Leave(slash.Next{Kill: a == keymap.LeaveKilling}) }
	u.v.confirm.Ask(q)
	return true
}

// typing reports whether keys go to a terminal pane.
func (u *UI) typing() bool {
	return u.focus == layout.Panes && u.v.panes.Scope() == keymap.Typing
}

// watch asks for pictures of the panes that are on the screen, and of no others.
func (u *UI) watch() {
	if u.lay.Panes[layout.Panes].Empty() {
		u.v.panes.Hide()
	}
	visible := u.v.panes.Visible()
	if id := u.v.output.Watched(); id != "" && !u.lay.Panes[layout.Output].Empty() && !slices.Contains(visible, id) {
		visible = append(visible, id)
	}
	if !slices.Equal(visible, u.watched) {
		u.watched = visible
		u.deps.Send(event.WatchPanes{IDs: visible})
	}
}
