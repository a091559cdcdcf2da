package ui

import (
	"testing"

	"buddy/app/slash"
)

// Every command of the table can run on the screen.
func TestEveryCommandRunsOnTheScreen(t *testing.T) {
	for _, c := range slash.Commands {
		if own[c.Name] == nil && c.Events == nil && !c.Answers {
			t.Errorf("/%s does nothing", c.Name)
		}
	}
	for name := range own {
		if _, ok := slash.Find(name); !ok {
			t.Errorf("/%s is not in the table of commands", name)
		}
	}
}
