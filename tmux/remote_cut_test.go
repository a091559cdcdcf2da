package tmux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux/pane"
)

// A command whose line is cut while it waits for the slot is not sent to an unknown folder: the supervisor is searched
// for again first.
func TestCommandWhoseLineIsCutWhileItWaits(t *testing.T) {
	r := newRemote(Options{}, "shell")
	if _, err := r.run(t.Context(), t.TempDir(), Capture, pane.Unheld); !errors.Is(err, errGone) {
		t.Errorf("run: %v, want %v", err, errGone)
	}
	select {
	case r.slot <- struct{}{}:
	default:
		t.Error("the next command waits for its turn for ever")
	}
}

// Without the functions on the target nothing is called: / has a readable lib, which is a folder.
func TestScriptWithoutItsFunctions(t *testing.T) {
	call := func(dir string) (code int, output string) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", libOf(dir, "greet"))
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, output := call(""); code != codeGone || output != "" {
		t.Errorf("without a folder: exit code %d, %q", code, output)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib"), []byte("greet() { echo hello; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, output := call(dir); code != 0 || strings.TrimSpace(output) != "hello" {
		t.Errorf("with it: exit code %d, %q", code, output)
	}
}
