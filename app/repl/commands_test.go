package repl

import (
	"testing"

	"buddy/app/ui"
)

// Every command of line mode is one of the table.
func TestLineCommands(t *testing.T) {
	known := make(map[string]bool)
	for _, c := range ui.Commands() {
		known[c.Name] = true
	}
	for name := range lineCommands {
		if !known[name] {
			t.Errorf("/%s is not in the table of commands", name)
		}
	}
}
