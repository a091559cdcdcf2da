package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
)

func askTimeout(ask *dialog.Ask, send func(event.Command), id int) {
	ask.Show(fmt.Sprintf("Time limit for task #%d", id), "Cancel the task after (30s, 10m, 1h):", func(text string) error {
		set, err := slash.Timeout(id, text)
		if err == nil {
			send(set)
		}
		return err
	})
}

// openTask shows the conversation of a subagent, or the details of another task.
func openTask(u *UI, t *state.Task) {
	if t.Agent != nil {
		follow(u, t.ID)
		return
	}
	u.v.pager.Show(taskDocument(&u.state, t, u.deps.Now()))
}

// taskDocument returns the details of a task, with the output of a command.
func taskDocument(s *state.State, t *state.Task, now time.Time) dialog.Document {
	d := dialog.Document{Title: fmt.Sprintf("Task #%d", t.ID)}
	p := slash.Pieces{}
	p.Say(describe(s, t, now))
	if t.Dir != "" {
		out, err := slash.Document(&state.Call{Name: string(t.Kind), Dir: t.Dir, Terminal: onTerminal(s, t)})
		if err != nil {
			p.Say("\nthe task's output can't be read: " + err.Error() + "\n")
		} else {
			p.Say("\n── output ──\n")
			p.Add(out.Text, out.Size)
			d.Close = out.Close
		}
	}
	d.Text, d.Size = p, p.Size()
	return d
}

// onTerminal reports whether the call that started a task had its own terminal.
func onTerminal(s *state.State, t *state.Task) bool {
	for _, b := range slices.Backward(s.Blocks) {
		if b.Call != nil && b.Call.Dir != "" && (t.Dir == b.Call.Dir || filepath.Dir(t.Dir) == b.Call.Dir) { // one of several targets
			return b.Call.Terminal
		}
	}
	return false
}

// describe returns the details of a task, one per line.
func describe(s *state.State, t *state.Task, now time.Time) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name, value)
		}
	}
	line("task", fmt.Sprintf("#%d %s", t.ID, t.Kind))
	line("what", t.Title)
	line("target", t.Target())
	line("state", taskWord(t))
	at := func(ms int64) string {
		if ms == 0 {
			return ""
		}
		return time.UnixMilli(ms).Format("15:04:05")
	}
	line("started", at(t.Started))
	line("ended", at(t.Ended))
	if t.Started > 0 {
		end := t.Ended
		if end == 0 {
			end = now.UnixMilli()
		}
		line("took", (time.Duration(end-t.Started) * time.Millisecond).Round(time.Second).String())
	}
	line("deadline", at(t.Deadline))
	line("doing", t.Doing)
	for _, p := range s.Panes {
		if p.Pane == t.Pane {
			line("pane", p.Title+" on "+p.Target)
			line("attach", p.Attach)
		}
	}
	if t.Turns > 0 {
		cost := "–"
		if t.Own.Cost > 0 {
			cost = t.Own.Cost.String()
		}
		line("used", fmt.Sprintf("%d turns, %d tokens in, %d out", t.Turns, t.Own.Usage.Prompt, t.Own.Usage.Completion))
		line("cost", cost)
	}
	line("error", t.Error)
	return b.String()
}

func taskWord(t *state.Task) string {
	switch t.State {
	case state.TaskQueued:
		return "queued"
	case state.TaskWaiting:
		return "waiting for approval"
	case state.TaskCancelling:
		return "cancelling"
	case state.TaskDone:
		return string(t.Outcome)
	}
	return "running"
}
