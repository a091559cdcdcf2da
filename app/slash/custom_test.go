package slash

import (
	"testing"

	"buddy/agent/event"
)

// TestSkillsWithTheNameOfACommand: who types the name gets the command, so it is offered once.
func TestSkillsWithTheNameOfACommand(t *testing.T) {
	got := Typed([]event.CustomCommand{{Name: "compact"}, {Name: "commit"}})
	if len(got) != 1 || got[0].Name != "commit" {
		t.Errorf("offered are %+v, want commit only", got)
	}
}
