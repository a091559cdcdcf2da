package agent

import (
	"fmt"
	"sync"

	"buddy/agent/event"
)

// maxCommands bounds the commands that wait. A person types far fewer, even into a pane that
// hangs.
const maxCommands = 4096

// inbox is a queue of commands. A sender never waits; what is too much is not taken.
type inbox struct {
	mu       sync.Mutex
	more     *sync.Cond
	commands []event.Command
	closed   bool
	full     bool // a command was not taken since one was handed out
}

func newInbox() *inbox {
	b := &inbox{}
	b.more = sync.NewCond(&b.mu)
	return b
}

// put adds a command. It returns an error for the first one that there is no room for.
func (b *inbox) put(c event.Command) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.commands) >= maxCommands {
		told := b.full
		b.full = true
		if told {
			return nil
		}
		return fmt.Errorf("%d commands are already waiting; this one was dropped", maxCommands)
	}
	b.commands = append(b.commands, c)
	b.more.Signal()
	return nil
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.more.Broadcast()
}

// next waits for a command; ok is false when the inbox was closed.
func (b *inbox) next() (c event.Command, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.commands) == 0 && !b.closed {
		b.more.Wait()
	}
	if b.closed {
		return nil, false
	}
	b.full = false
	c = b.commands[0]
	b.commands = b.commands[1:]
	return c, true
}
