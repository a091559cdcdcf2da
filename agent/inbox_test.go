package agent

import (
	"testing"

	"buddy/agent/event"
)

func TestCommandsAreBounded(t *testing.T) {
	b := newInbox()
	refused := 0
	for range 2 * maxCommands {
		if b.put(event.Cancel{}) != nil {
			refused++
		}
	}
	if len(b.commands) != maxCommands || refused != 1 {
		t.Errorf("%d commands wait, told %d times that no more are taken", len(b.commands), refused)
	}
	if _, ok := b.next(); !ok || b.put(event.Cancel{}) != nil {
		t.Error("nothing is taken after there is room again")
	}
}
