package shell_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/policy"
)

// repository creates the repository for the lines of reading.txt, with secrets in it.
func repository(t *testing.T) string {
	t.Helper()
	dir := scratch(t)
	for _, name := range []string{"Makefile", "nums.txt", "data/a.csv", "data/a.json", "logs/a.gz", ".github/workflows/ci.yml", "pyproject.toml", "keys/id_rsa", "deploy/credentials.json", "server/cert.pem"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// in returns the policy of ask mode for a folder with the sandbox.
func in(dir string) policy.Policy {
	return policy.Policy{
		Workspace: dir, Home: "/home/ann", Confined: true, Resolve: filepath.Clean,
		Match: func(dir, pattern string) ([]string, bool) {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			hidden := func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }
			return slices.DeleteFunc(found, func(name string) bool { return hidden(name) && !hidden(pattern) }), err == nil
		},
	}
}

// Exploring an unknown repository rarely needs approval: for at most 3 % of the lines, each of which runs a program
// of an interpreter or a project.
func TestReading(t *testing.T) {
	dir := repository(t)
	var asked []string
	lines := corpus(t, "reading.txt")
	for _, line := range lines {
		if v := in(dir).Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Cwd: dir, Command: line}, action.ModeAsk); v.Decision != action.Allow {
			asked = append(asked, line+"   ("+v.Reason+")")
		}
	}
	t.Logf("%d of %d ask:\n%s", len(asked), len(lines), strings.Join(asked, "\n"))
	if len(lines) < 400 || len(asked)*100 > 3*len(lines) {
		t.Errorf("%d of %d lines ask", len(asked), len(lines))
	}
}
