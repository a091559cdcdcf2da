package compose

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/extensions"
)

// asked lists the commands in the texts of built-in skills that need approval; the texts propose them, run them after a
// question, or warn about them.
var asked = []string{"curl -sS -m 3", "gh pr diff 7", "git add -A", "git add .", "git init", "make check", "nginx -t", "sshd -t", "systemd-analyze verify"}

// TestCommandsOfBuiltInSkills: commands that a built-in skill uses to look around run without asking.
func TestCommandsOfBuiltInSkills(t *testing.T) {
	found, err := extensions.Read(t.Context(), extensions.Skill, extensions.BuiltInSource())
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([a-z-]+ [^`]+)`")
	names := strings.NewReplacer("UNIT", "nginx", "NAME", "web", "NUMBER", "7", "MAIN", "main", "BRANCH", "topic")
	free, seen := 0, make(map[string]bool)
	for _, it := range found.Items {
		for _, m := range code.FindAllStringSubmatch(it.Body, -1) {
			command := names.Replace(m[1])
			p := policy.Policy{Workspace: "/w", Home: "/home/ann", Confined: true, Resolve: func(path string) string { return path }}
			v := p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Command: command, Cwd: "/w"}, action.ModeAsk)
			want := action.Allow
			if seen[command] = true; slices.Contains(asked, command) {
				want = action.Ask
			} else {
				free++
			}
			if v.Decision != want {
				t.Errorf("%s: %q is %s (%s), want %s", it.Name, command, v.Decision, v.Reason, want)
			}
		}
	}
	if free < 20 {
		t.Errorf("only %d commands were found", free)
	}
	for _, command := range asked {
		if !seen[command] {
			t.Errorf("%q is in no text", command)
		}
	}
}
