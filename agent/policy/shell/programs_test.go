package shell_test

import (
	"strings"
	"testing"
	"time"

	"buddy/agent/policy/shell"
)

// Options that are not known, however many, are read in every way without taking long.
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

// Every row of the table of programs gives its reason, and no name stands twice.
func TestPrograms(t *testing.T) {
	for _, problem := range shell.CheckPrograms() {
		t.Error(problem)
	}
}

// A word of blanks behind a program that runs another one is no command.
func TestBlankWordsAreNoCommand(t *testing.T) {
	for text, want := range map[string]shell.Match{"docker exec c ' '": shell.No, "docker exec c ' ' git push": shell.Yes, "docker exec c ' git push'": shell.Yes} {
		if got := shell.Analyse(text, env).Commands[0].Begins([]string{"git", "push"}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
