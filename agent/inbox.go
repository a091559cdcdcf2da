package agent

import (
	"sync"

	"buddy/agent/event"
)

// inbox is an unbounded queue of commands: a person types them, so there are few, and
// who sends must never wait.
type inbox struct {
	mu       sync.Mutex
	more     *sync.Cond
	commands []event.Command
	closed   bool
}

// queues are the commands that wait: most of them, and those for panes, which may be slow.
type queues struct {
	*inbox
	panes *inbox
}

func newInbox() *inbox {
	b := &inbox{}
	b.more = sync.NewCond(&b.mu)
	return b
}

func (b *inbox) put(c event.Command) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commands = append(b.commands, c)
	b.more.Signal()
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
	c = b.commands[0]
	b.commands = b.commands[1:]
	return c, true
}
