package target

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// duration matches the duration of a command.
var duration = regexp.MustCompile(`\d+\.\d s`)

// TestShellFolderIsSaidAndFilesAskBack: after cd the results of commands name the shell's folder, and a change of a
// file that exists in this folder and in the first one asks which one is meant.
func TestShellFolderIsSaidAndFilesAskBack(t *testing.T) {
	one := newTestTarget(t, nil, "local")
	_, r := process([]string{"local"}, map[string]*testTarget{"local": one})
	foo := filepath.Join(one.dir, "foo")
	if err := os.Mkdir(foo, 0o755); err != nil {
		t.Fatal(err)
	}
	write := map[string]any{"path": "a.txt", "content": "x\n"}
	if _, res := do(t, r, "write_file", write); res.IsError {
		t.Fatal(res.Content)
	}
	for _, step := range []struct{ command, want string }{
		{"echo a >foo/a.txt", "[exit code 0, no output]"},
		{"cd foo", "[exit code 0, no output; the shell is in " + foo + "]"},
		{"pwd; false", foo + "\n[exit code 1, T; the shell is in " + foo + "]"},
		{"cd /; cat " + foo + "/a.txt", "a\n[the shell is in /]"},
		{"cd " + foo + "; cat a.txt", "a\n[the shell is in " + foo + "]"},
	} {
		_, res := do(t, r, "run_shell", map[string]any{"command": step.command})
		if got := duration.ReplaceAllString(res.Content, "T"); got != step.want {
			t.Errorf("%s: %q, want %q", step.command, got, step.want)
		}
	}
	_, res := do(t, r, "write_file", write)
	if !res.IsError || !strings.Contains(res.Content, filepath.Join(one.dir, "a.txt")) || !strings.Contains(res.Content, filepath.Join(foo, "a.txt")) {
		t.Errorf("write_file = %s", res.Content)
	}
	if _, res := do(t, r, "run_shell", map[string]any{"command": "cd .."}); res.Content != "[exit code 0, no output]" {
		t.Errorf("back in the first folder: %q", res.Content)
	}
	if _, res := do(t, r, "write_file", write); res.IsError {
		t.Errorf("back in the first folder: %s", res.Content)
	}
}
