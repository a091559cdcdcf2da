package agent

import (
	"fmt"
	"sync"

	"buddy/agent/event"
)

// maxCommands limits the queued commands. A person types far fewer, even into a pane that hangs.
const maxCommands = 4096

// inbox is a queue of commands. Senders never wait; a full inbox drops commands.
type inbox struct {
	mu       sync.Mutex
	more     *sync.Cond
	commands []event.Command
	closed   bool
	full     bool // a command was dropped since the last one was taken out
}

func newInbox() *inbox {
	b := &inbox{}
	b.more = sync.NewCond(&b.mu)
	return b
}

// put adds a command. If the inbox is full, put drops the command; it returns an error for the first one dropped, nil
// for those after it.
func (b *inbox) put(c event.Command) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.commands) >= maxCommands {
		warned := b.full
		b.full = true
		if warned {
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

// next waits for a command; ok is false after the inbox was closed.
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
