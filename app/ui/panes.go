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
)

// askToKill kills a pane once the person has said so again, unless there is a reason not to.
func askToKill(u *UI, id, name, why string) {
	if why != "" {
		u.hint("", why)
		return
	}
	u.dock.confirm.Ask(dialog.Question{
		Title: "Kill this pane?", Scope: keymap.Confirm,
		Lines: []string{name, "What runs in it ends at once."},
		Answer: func(a keymap.Action) {
			if a == keymap.ConfirmYes {
				u.deps.Send(event.KillPane{Pane: id})
			}
		},
	})
}

// askToLeave asks what becomes of the commands that run in panes of their own, and reports
// whether there are any.
func askToLeave(s *state.State, confirm *dialog.Confirm, leave func(slash.Next)) bool {
	q := dialog.Question{Title: "Quit?", Scope: keymap.Leaving}
	attach := ""
	for _, t := range s.Tasks {
		if t.Kind != event.ShellTask || t.State == state.TaskDone {
			continue
		}
		q.Lines = append(q.Lines, fmt.Sprintf("#%d %s", t.ID, t.Title))
		for _, p := range s.Panes {
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
	if t := s.Running(); t != nil {
		q.Lines = append(q.Lines, fmt.Sprintf("task #%d, which works for you, is cancelled.", t.ID))
	}
	q.Answer = func(a keymap.Action) {
		if a != keymap.ConfirmNo {
			leave(slash.Next{Kill: a == keymap.LeaveKilling})
		}
	}
	confirm.Ask(q)
	return true
}

// shownPanes returns the panes whose pictures are on the screen.
func shownPanes(v *viewSet, lay *placed) []string {
	if lay.Panes[layout.Panes].Empty() {
		v.panes.Hide()
	}
	visible := v.panes.Visible()
	if id := v.output.Watched(); id != "" && !lay.Panes[layout.Output].Empty() && !slices.Contains(visible, id) {
		visible = append(visible, id)
	}
	return visible
}

// watched are the panes whose pictures were asked for last.
type watched []string

// update asks for the pictures of these panes and of no others.
func (w *watched) update(ids []string, send func(event.Command)) {
	if !slices.Equal(ids, *w) {
		*w = ids
		send(event.WatchPanes{IDs: ids})
	}
}
