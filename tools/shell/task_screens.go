package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/texts"
	"buddy/tmux"
	"buddy/tools"
)

const (
	screensLimit = 2500 // bytes of all screens together
	screenLeast  = 500  // bytes of one screen; panes that don't fit are only named
)

// Screens returns the screens of the panes with tasks on all targets, "" if there are none. The model gets them as a
// reminder with one request; they are not stored.
func (t *Shell) Screens(ctx context.Context) string {
	running := t.jobs.running()
	if len(running) == 0 {
		return ""
	}
	each := max(screensLimit/len(running), screenLeast)
	var b strings.Builder
	left := screensLimit
	for _, s := range running {
		fmt.Fprintf(&b, "Pane %s, task %d (%s), for %s:\n", s.pane, s.id, texts.ClipBytes(texts.OneLine(s.title), 60), time.Since(s.since).Round(time.Second))
		_, text, err := s.shell.panes.Capture(ctx, s.shell.paneID(s.pane), tmux.View{})
		switch {
		case err != nil && ctx.Err() != nil:
			return ""
		case err != nil:
			b.WriteString("[it cannot be looked at]\n")
		case left < screenLeast:
			b.WriteString("[left out; capture-pane shows it]\n")
		default:
			for _, row := range rowsOf(text, min(each, left)) {
				left -= len(row) + 1
				b.WriteString("| " + row + "\n")
			}
		}
	}
	b.WriteString("Through use_tool, capture-pane and send-keys take the id of a pane. run_shell always works in its own.")
	return b.String()
}

// running returns the commands that still run in a pane, newest last.
func (j *jobs) running() []*shellJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.all), func(s *shellJob) bool { return s.pane == "" || s.over() })
}

// screenWide limits the length of a row, in bytes. If not all rows fit, the first screenTop rows are kept, because
// full-screen programs have their headings there.
const (
	screenWide = 100
	screenTop  = 4
)

// rowsOf returns rows of a screen that take at most n bytes together, from the top and the bottom.
func rowsOf(text string, n int) []string {
	rows := strings.Split(text, "\n")
	size := 0
	for i, r := range rows {
		rows[i] = tools.Head(r, screenWide)
		size += len(rows[i]) + 1
	}
	if size <= n || len(rows) <= screenTop {
		return rows
	}
	for size > n && len(rows) > screenTop {
		size -= len(rows[screenTop]) + 1
		rows = slices.Delete(rows, screenTop, screenTop+1)
	}
	return slices.Insert(rows, screenTop, "…")
}
