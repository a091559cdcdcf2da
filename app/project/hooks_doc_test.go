package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/hooks"
)

// The examples of docs/extensions.md, "Hooks", work: the guard refuses only rm, and the formatter formats edited files.
func TestHooksExampleOfTheManual(t *testing.T) {
	for _, needed := range []string{"jq", "gofmt"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skip(err)
		}
	}
	page, err := os.ReadFile("../../docs/extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Hooks\n")
	blocks := strings.Split(section, "```")
	if len(blocks) < 5 {
		t.Fatalf("%d pieces, want two examples", len(blocks))
	}
	example := func(n int) string { _, text, _ := strings.Cut(blocks[n], "\n"); return text }
	home := t.TempDir()
	t.Setenv("HOME", home)
	folder := filepath.Join(home, ".config", "buddy")
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("no_rm.sh", example(3), 0o700)
	set := hooks.Parse([]byte(example(1)), hooks.Origin{Source: hooks.Person, File: "hooks.json"})
	if len(set.Handlers) != 3 || len(set.Problems) > 0 {
		t.Fatalf("%+v", set)
	}
	r := hooks.New(hooks.Options{Handlers: set.Handlers, Cwd: home, Project: home})
	defer r.Close()
	for command, want := range map[string]action.Decision{"rm -rf build": action.Deny, "ls": ""} {
		c := hooks.Call{Tool: "run_shell", Arguments: `{"command":"` + command + `"}`, Action: action.Action{Kind: action.Shell, Command: command}}
		if m := r.BeforeTools(t.Context(), hooks.Where{}, c)[0]; m.Decision != want || want != "" && m.Reason != "deleting is done by hand here" {
			t.Errorf("%s: %+v", command, m)
		}
	}
	edited := write("a.go", "package  a\n", 0o600)
	c := hooks.Call{Tool: "edit_file", Arguments: `{"path":"a.go"}`, Action: action.Action{Kind: action.FileWrite, Path: edited}}
	r.AfterTool(t.Context(), hooks.Where{}, c, hooks.Response{})
	if text, err := os.ReadFile(edited); string(text) != "package a\n" {
		t.Errorf("after the edit it is %q, %v", text, err)
	}
}
