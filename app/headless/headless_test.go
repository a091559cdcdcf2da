package headless

import (
	"os"
	"testing"

	"buddy/agent/event"
)

// Before the prompt is accepted there is nothing to cancel: the first signal ends exec.
func TestInterruptBeforeTheTask(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	interrupts <- os.Interrupt
	l := &line{}
	if got := l.follow(make(chan event.Envelope), interrupts); got != event.Cancelled {
		t.Errorf("follow = %q, want %q", got, event.Cancelled)
	}
}
