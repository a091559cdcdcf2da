package shell

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/tmux/tmuxtest"
)

// TestScreens: the screens of panes with running tasks are shown, bounded and as plain text; the shared pane alone is
// not.
func TestScreens(t *testing.T) {
	d := newBench(t)
	d.call("run_shell", with("command", "echo shared"))
	if got := d.shell.Screens(t.Context()); got != "" {
		t.Errorf("with only the shared pane: %q", got)
	}
	first := d.get("run_shell", with("command", "printf '\\033[31mREADY\\033[m\\n'; sleep 1000", "wait", false))
	second := d.get("run_shell", with("command", "seq 1000 1200; sleep 1000", "wait", false))
	deadline := time.Now().Add(time.Minute)
	got := ""
	for !strings.Contains(got, "| 1200\n") || !strings.Contains(got, "| READY\n") {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %q", got)
		}
		got = d.shell.Screens(t.Context())
	}
	if !strings.Contains(got, "Pane "+first.Pane+", task 1 (printf") || !strings.Contains(got, "Pane "+second.Pane+", task 2 (seq") ||
		strings.ContainsRune(got, 0x1b) || len(got) > screensLimit+800 || !strings.Contains(got, "capture-pane and send-keys take the id") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if got := d.shell.Screens(ended); got != "" {
		t.Errorf("with no time left: %q", got)
	}
	d.call("task_kill", map[string]any{"id": first.ID, "why": "x"})
	d.call("task_kill", map[string]any{"id": second.ID, "why": "x"})
	if got := d.shell.Screens(t.Context()); got != "" {
		t.Errorf("after their end: %q", got)
	}
}

// TestScreensLimit: the screens have 2500 bytes together; rows of longer ones are left out.
func TestScreensLimit(t *testing.T) {
	d := newBench(t)
	for _, last := range []int{99, 100} {
		// 25 rows, 2500 bytes including line ends, or one byte more.
		const rows = `printf '\033[2J\033[H'; for i in $(seq 24); do printf '%099d\n' 0; done; printf 'end%0*d' LAST 0; sleep 1000`
		run := d.get("run_shell", with("command", strings.Replace(rows, "LAST", strconv.Itoa(last-3), 1), "wait", false))
		got := ""
		tmuxtest.Until(t, "the pane shows all", func() bool {
			got = d.shell.Screens(t.Context())
			return strings.Contains(got, "| end0")
		})
		if n, cut := strings.Count(got, "\n| "), strings.Contains(got, "| …"); cut != (last == 100) || !cut && n != 25 {
			t.Errorf("a last row of %d bytes: %d rows, some left out: %v\n%s", last, n, cut, got)
		}
		d.call("task_kill", map[string]any{"id": run.ID, "why": "x"})
	}
}

// TestCaptureLimit: a capture has the last 8000 bytes.
func TestCaptureLimit(t *testing.T) {
	d := newBench(t)
	for _, n := range []int{8000, 8001} {
		run := d.get("run_shell", with("command", fmt.Sprintf(`printf '\033[2J\033[H\033[3Jend%%0%dd' 0; sleep 1000`, n-3), "wait", false))
		var p ran
		tmuxtest.Until(t, "the pane shows all", func() bool {
			p = d.get("capture-pane", map[string]any{"pane": run.Pane, "start": "-", "why": "look"})
			return strings.Count(p.Stdout, "0") >= 7997
		})
		want := "end" + strings.Repeat("0", 7997)
		if n == 8001 {
			want = "[truncated 1 chars from start]\nnd" + strings.Repeat("0", 7998)
		}
		if p.Stdout != want {
			t.Errorf("of %d bytes %d: %.50q … %q", n, len(p.Stdout), p.Stdout, p.Stdout[max(0, len(p.Stdout)-20):])
		}
		d.call("task_kill", map[string]any{"id": run.ID, "why": "x"})
	}
}

func TestPicture(t *testing.T) {
	long := strings.Repeat("漢", 100)
	rows := append([]string{"head 1", "head 2", "head 3", long}, strings.Split(strings.TrimSpace(strings.Repeat("row\n", 500)), "\n")...)
	got := rowsOf(strings.Join(append(rows, "last"), "\n"), 600)
	size := len(strings.Join(got, "\n"))
	if size > 604 || size < 500 || got[0] != "head 1" || got[4] != "…" || got[len(got)-1] != "last" || len(got[3]) != 99 {
		t.Errorf("%d bytes: %q", size, got)
	}
	if got := rowsOf("a\nb", 600); len(got) != 2 {
		t.Errorf("%q", got)
	}
}
