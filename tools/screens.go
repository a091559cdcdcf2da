package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/tmux"
)

const (
	screensLimit = 2500 // bytes of all pictures together (E20)
	screenLeast  = 300  // bytes of one: more panes than fit are only named
)

// Screens says what the panes show in which commands go on after their call, for the model's
// next request; "" when there are none. Nothing of it is stored (E20).
func (t *RunShell) Screens(ctx context.Context) string {
	running := t.jobs.running()
	if len(running) == 0 {
		return ""
	}
	each := max(screensLimit/len(running), screenLeast)
	var b strings.Builder
	left := screensLimit
	for _, s := range running {
		fmt.Fprintf(&b, "Pane %s, task %d (%s), for %s:\n", s.pane, s.id, clip(strings.Join(strings.Fields(s.title), " "), 60), time.Since(s.since).Round(time.Second))
		_, text, err := t.panes.Capture(ctx, s.pane, tmux.View{})
		switch {
		case err != nil && ctx.Err() != nil:
			return ""
		case err != nil:
			b.WriteString("[it cannot be looked at]\n")
		case left < screenLeast:
			b.WriteString("[left out; capture-pane shows it]\n")
		default:
			text = lastLines(text, min(each, left))
			left -= len(text)
			for line := range strings.Lines(text) {
				b.WriteString("| " + strings.TrimRight(line, "\n") + "\n")
			}
		}
	}
	b.WriteString("Through use_tool, capture-pane and send-keys take the id of a pane. run_shell always works in its own.")
	return b.String()
}

// running returns the commands that still run in a pane, the newest last.
func (j *jobs) running() []*shellJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.all), func(s *shellJob) bool { return s.pane == "" || s.over() })
}

// lastLines returns the whole lines at the end of a text that have at most n bytes together;
// of one that is longer its end.
func lastLines(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = lastBytes(text, n)
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return text
}

// ChangedNote says which of the files that the model has read were changed by somebody
// since; "" for none. Each change is told once (K14).
func (w *Workspace) ChangedNote(context.Context) string {
	changed := w.Changed()
	if len(changed) == 0 {
		return ""
	}
	const most = 20
	var b strings.Builder
	b.WriteString("Changed since you last read or wrote them, so read them again before you rely on them:\n")
	for i, path := range changed {
		if i == most {
			fmt.Fprintf(&b, "… and %d more\n", len(changed)-most)
			break
		}
		fmt.Fprintf(&b, "- %q\n", w.show(path))
	}
	return strings.TrimRight(b.String(), "\n")
}
