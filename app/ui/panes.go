package ui

import (
	"slices"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/state"
	"buddy/views/dialog"
	"buddy/views/draw"
)

// askToKill kills a pane after the user has confirmed it. If why is not "", it only shows why the pane can't be killed.
func askToKill(u *UI, id, name, why string) {
	if why != "" {
		u.hint("", why)
		return
	}
	u.dock.confirm.Ask(dialog.Question{
		Title: "Kill this pane?", Scope: keymap.Confirm,
		Lines: []string{name, "The running command ends immediately."},
		Answer: func(a keymap.Action) {
			if a == keymap.ConfirmYes {
				u.deps.Send(event.KillPane{Pane: id})
			}
		},
	})
}

// Running returns the titles of the tasks that have not ended.
func Running(u *UI) (titles []string) {
	for _, t := range unfinished(&u.state) {
		titles = append(titles, draw.FirstLine(t.Title))
	}
	return titles
}

func unfinished(s *state.State) (all []*state.Task) {
	for _, t := range s.Tasks {
		if t.State != state.TaskDone {
			all = append(all, t)
		}
	}
	return all
}

// typeInto makes keys go to the command that is running in a pane, or returns why that is not possible.
func typeInto(u *UI) (why string) {
	c := u.following.shown(&u.state).Focused
	if c == nil || c.State != state.CallRunning || c.Pane == "" {
		return "no command is running in a terminal pane"
	}
	if u.deps.Now().UnixMilli()-c.Started < draw.GracePeriod.Milliseconds() {
		return "this command has only just started: look at it first"
	}
	if u.overlays.covered() {
		return "close this first"
	}
	u.arranged.setFocus(layout.Live)
	if !u.v.panes.TypeInto(c.Pane) {
		u.arranged.setFocus(layout.Prompt)
		return "its terminal pane is closed"
	}
	return ""
}

// shownPanes returns the ids of the panes whose contents are on the screen.
func shownPanes(v *viewSet, lay *placed) []string {
	if lay.Panes[layout.Live].Empty() {
		v.panes.Hide()
	}
	return v.panes.Visible()
}

// watched holds the ids of the panes whose contents were last requested.
type watched []string

// update requests the contents of the panes with these ids, and of no others.
func (w *watched) update(ids []string, send func(event.Command)) {
	if !slices.Equal(ids, *w) {
		*w = ids
		send(event.WatchPanes{IDs: ids})
	}
}
