package shell_test

import (
	"strings"
	"testing"
	"time"

	"buddy/agent/policy/shell"
)

// Any number of unknown options is analysed quickly.
func TestUnknownOptionsAreReadQuickly(t *testing.T) {
	for text, want := range map[string]shell.Match{
		"git " + strings.Repeat("--x ", 300) + "push": shell.Yes, "git " + strings.Repeat("--x y ", 200) + "push": shell.Yes,
		"git " + strings.Repeat("--x ", 300) + "pull": shell.No, "git " + strings.Repeat("--x ", 300) + "$y": shell.Maybe,
	} {
		start := time.Now()
		got := shell.No
		for _, c := range shell.Analyse(text, env).Commands {
			got = max(got, c.Begins([]string{"git", "push"}))
		}
		if took := time.Since(start); got != want || took > 5*time.Second {
			t.Errorf("%.40s…: %v after %v, want %v", text, got, took, want)
		}
	}
}

// Every row of the table of programs has a reason and a unique name.
func TestPrograms(t *testing.T) {
	for _, problem := range shell.CheckPrograms() {
		t.Error(problem)
	}
}

// A blank word after a program that runs another one is not a command.
func TestBlankWordsAreNoCommand(t *testing.T) {
	for text, want := range map[string]shell.Match{"docker exec c ' '": shell.No, "docker exec c ' ' git push": shell.Yes, "docker exec c ' git push'": shell.Yes} {
		if got := shell.Analyse(text, env).Commands[0].Begins([]string{"git", "push"}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
