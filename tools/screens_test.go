package tools

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestScreens (E20): what runs on in panes is shown, bounded and as plain text, and nothing
// of the shared pane alone.
func TestScreens(t *testing.T) {
	d := newDesk(t)
	d.call("run_shell", with("command", "echo shared"))
	if got := d.shell.Screens(t.Context()); got != "" {
		t.Errorf("with only the shared pane: %q", got)
	}
	var first, second runningResult
	d.get("run_shell", &first, with("command", "printf '\\033[31mREADY\\033[m\\n'; sleep 1000", "wait", false))
	d.get("run_shell", &second, with("command", "seq 1000 1200; sleep 1000", "wait", false))
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

func TestChangedNote(t *testing.T) { // K14
	b := newBench(t)
	b.put("a", "x\n", "b <c>", "x\n")
	b.know("a", "b <c>")
	if got := b.ws.ChangedNote(t.Context()); got != "" {
		t.Errorf("nothing changed: %q", got)
	}
	b.put("a", "theirs\n", "b <c>", "theirs\n")
	const want = "Changed since you last read or wrote them, so read them again before you rely on them:\n- \"a\"\n- \"b <c>\""
	if got := b.ws.ChangedNote(t.Context()); got != want {
		t.Errorf("ChangedNote = %q, want %q", got, want)
	}
	if got := b.ws.ChangedNote(t.Context()); got != "" {
		t.Errorf("told twice: %q", got)
	}
}
