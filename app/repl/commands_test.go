package repl

import (
	"testing"

	"buddy/app/slash"
)

// Every command of the table has a way to run line by line, or says why not.
func TestEveryCommandRunsLineByLine(t *testing.T) {
	for _, c := range slash.Commands {
		if (own[c.Name] != nil || c.Events != nil || c.Answers) == (c.ScreenOnly != "") {
			t.Errorf("/%s: is of the screen only: %q", c.Name, c.ScreenOnly)
		}
	}
	for name := range own {
		if _, ok := slash.Find(name); !ok {
			t.Errorf("/%s is not in the table of commands", name)
		}
	}
}

// What begins work beside the agent's, and what asks about it, does not wait until that is done.
func TestCommandsThatRunAtOnce(t *testing.T) {
	for line, want := range map[string]bool{
		"/review": true, "/review main": true, " /REVIEW main": true, "/bg look": true, "/workflow runs": true,
		"/workflow code_review": false, "/findings": false, "/model x": false, "review": false, "/reviewer": false,
	} {
		if got := atOnce(line); got != want {
			t.Errorf("%q runs at once: %v, want %v", line, got, want)
		}
	}
}
