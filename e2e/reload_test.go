package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"buddy/tmux/tmuxtest"
)

// TestReload runs the real program in a terminal and changes its settings from another one: keys, theme and rules apply
// at once; a mistake is shown once and changes nothing.
func TestReload(t *testing.T) {
	srv := tmuxtest.New(t)
	home := filepath.Join(srv.Dir, "home")
	work := filepath.Join(home, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(srv.Env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.local/state", "XDG_RUNTIME_DIR="+srv.Dir,
		"BUDDY_TMUX_SOCKET="+filepath.Join(srv.Dir, "inner"), "NO_COLOR=", "BUDDY_MODEL=", "BUDDY_BASE_URL=", "BUDDY_API_KEY=")
	set := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "buddy", append([]string{"config", "set"}, args...)...)
		c.Env, c.Dir = env, work
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("config set %v: %v\n%s", args, err, out)
		}
	}
	screen := func() string { return srv.Tmux("capture-pane", "-p") }
	shows := func(texts ...string) {
		t.Helper()
		tmuxtest.Until(t, strings.Join(texts, ", "), func() bool {
			now := screen()
			for _, text := range texts {
				if !strings.Contains(now, text) {
					return false
				}
			}
			return true
		})
	}
	rests := func() {
		t.Helper()
		tmuxtest.Until(t, "nothing runs", func() bool { return !strings.Contains(screen(), `Ctrl+\ detach`) })
	}
	start := []string{"new-session", "-d", "-x", "120", "-y", "32", "-c", work, "env"}
	srv.Tmux(append(append(start, env...), "buddy", "--model", "demo")...)
	shows("F1 help")
	srv.Tmux("send-keys", "help", "Enter")
	shows("This is the built-in demo")
	rests() // the session's process, which starts after the screen, has read the settings too
	pid, err := strconv.Atoi(srv.Tmux("display-message", "-p", "#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	set("keys.help", "F10")
	shows("Settings reloaded: keys", "F10 help")
	file := filepath.Join(home, ".config", "buddy", "buddy.toml")
	right, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, append(slices.Clip(right), text...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("oops\n")
	shows("expected '=' after key", "F10 help")
	write("[[deny]]\nprefix = [\"ls\"]\n")
	shows("Settings reloaded: rules")
	set("ui.notify", "off")
	shows("these settings apply after a restart or /session new: ui.notify")
	srv.Tmux("send-keys", "run ls -la", "Enter")
	shows("Denied by the policy")
	rests() // nothing runs that quitting would ask about
	srv.Tmux("send-keys", "C-c", "C-c")
	tmuxtest.Until(t, "the end", func() bool { return syscall.Kill(pid, 0) != nil })
}
