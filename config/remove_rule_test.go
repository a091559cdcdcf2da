package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
)

// TestRemoveRule: the lines of a rule are removed, everything else stays.
func TestRemoveRule(t *testing.T) {
	const before = `# mine
[agent]
max_iterations = 9 # few

# no pushes
[[deny]]
prefix = ["git", "push"]

[[allow]] # tests
tool = "run_shell"
# only these
prefix = ["go", "test"]

# and no more
[[deny]]
path = "private/**"

[ui]
theme = "dark"
`
	for _, tt := range []struct {
		name string
		rule action.Rule
		cut  string // missing afterwards
		err  string
	}{
		{"the first", action.Rule{Decision: "deny", Prefix: []string{"git", "push"}}, "[[deny]]\nprefix = [\"git\", \"push\"]\n\n", ""},
		{"one with comments", action.Rule{Decision: "allow", Tool: "run_shell", Prefix: []string{"go", "test"}}, "[[allow]] # tests\ntool = \"run_shell\"\n# only these\nprefix = [\"go\", \"test\"]\n\n", ""},
		{"the last, of a project", action.Rule{Decision: "deny", Path: "private/**", Source: action.FromProject}, "[[deny]]\npath = \"private/**\"\n\n", ""},
		{"another decision", action.Rule{Decision: "ask", Path: "private/**"}, "", "not in it"},
		{"fewer keys", action.Rule{Decision: "allow", Prefix: []string{"go", "test"}}, "", "not in it"},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := RemoveRule(path, tt.rule)
		after, _ := os.ReadFile(path)
		switch {
		case tt.err != "":
			if !errors.Is(err, ErrNoRule) || string(after) != before {
				t.Errorf("%s: %v, the file is now\n%s", tt.name, err, after)
			}
		case err != nil || string(after) != strings.Replace(before, tt.cut, "", 1) || !strings.Contains(before, tt.cut):
			t.Errorf("%s: %v, the file is now\n%s", tt.name, err, after)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.toml")
	if err := RemoveRule(missing, action.Rule{Decision: "deny", Tool: "x"}); !errors.Is(err, ErrNoRule) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Errorf("it is there now: %v", err)
	}
}
