package turn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A hint after a missing program or unknown option names a replacement: a tool only where it is offered, and a
// program only if the command itself names it.
func TestHintsAfterACommandThatFailed(t *testing.T) {
	for _, tt := range []struct {
		command string
		exit    int
		output  string
		want    string
	}{
		{"rg TODO src", 127, "bash: line 1: rg: command not found\n", "rg is not installed on web: the tool grep searches files there without it"},
		{"cd src && /usr/bin/fd x", 127, "sh: 1: fd: not found", "fd is not installed on web: the tool glob"},
		{"rg x | head", 127, "zsh: command not found: rg\n", "rg is not installed on web"},
		{"python a.py", 127, "bash: python: command not found", "python is not installed on web: python3 may exist"},
		{"sed -i s/a/b/ x", 1, "sed: illegal option -- z\nusage: sed …", "sed on web does not have all the options"},
		{"grep -P a b", 2, "grep: unrecognized option: P\n", "grep on web does not have all the options"},

		{"wget x", 127, "bash: wget: command not found", ""},   // fetch_url is not offered
		{"frob x", 127, "bash: frob: command not found", ""},   // no replacement is known
		{"./run.sh", 127, "bash: rg: command not found", ""},   // it is not in the command
		{"make", 2, "rg: command not found", ""},               // the exit status is not that of a missing program
		{"echo", 1, "rm: illegal option -- x", ""},             // not in the command
		{"rg x", 127, "run curl: rg is not installed, ok", ""}, // not a shell's message
		{"false", 1, "", ""},
	} {
		s := setbacks{hinted: make(map[string]bool)}
		offers := func(tool string) bool { return slices.Contains([]string{"grep", "glob", "read_file"}, tool) }
		got := s.ofCommand(offers, tt.command, "web", tt.exit, tt.output)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.command, got, tt.want)
		}
		if again := s.ofCommand(offers, tt.command, "web", tt.exit, tt.output); again != "" {
			t.Errorf("%s: told again: %q", tt.command, again)
		}
		if other := s.ofCommand(offers, tt.command, "db", tt.exit, tt.output); (other == "") != (tt.want == "") {
			t.Errorf("%s: on another target %q", tt.command, other)
		}
	}
}

// The number of hints in an exchange is limited.
func TestHintsAreFew(t *testing.T) {
	s, hints := setbacks{hinted: make(map[string]bool)}, 0
	for i := range 1000 {
		if s.ofCommand(func(string) bool { return true }, "rg x", fmt.Sprint(i), 127, "sh: rg: not found") != "" {
			hints++
		}
	}
	if hints != maxHinted || len(s.hinted) != maxHinted {
		t.Errorf("%d hints", hints)
	}
}

// A hint names the tool that must be offered for it, and no program is listed twice.
func TestHintsNameOneProgramOnce(t *testing.T) {
	seen := make(map[string]bool)
	for _, i := range instead {
		if i.tool != "" && !strings.Contains(i.hint, "the tool "+i.tool+" ") {
			t.Errorf("%q does not name %s", i.hint, i.tool)
		}
		for _, p := range i.programs {
			if seen[p] {
				t.Errorf("%s is there twice", p)
			}
			seen[p] = true
		}
	}
}
