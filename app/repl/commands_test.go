package repl

import (
	"testing"

	"buddy/app/slash"
)

// Every command of the table has a way to run line by line, or says why not.
func TestEveryCommandRunsLineByLine(t *testing.T) {
	for _, c := range slash.Commands {
		if (own[c.Name] != nil || c.Do != nil) == (c.ScreenOnly != "") {
			t.Errorf("/%s: is of the screen only: %q", c.Name, c.ScreenOnly)
		}
	}
	for name := range own {
		if _, ok := slash.Find(name); !ok {
			t.Errorf("/%s is not in the table of commands", name)
		}
	}
}
