package pane

import (
	"sync/atomic"
	"time"
)

// Keys is the stream of a [Chunk] that is no output: its last byte is 1 when the command has begun to wait for
// keys, and 0 when it waits no longer.
const Keys = "keys"

const (
	keysEvery = time.Second     // between two looks at a command that runs
	keysQuiet = 2 * time.Second // without output before a read of the terminal is a wait for the person
)

// watchKeys tells a mailbox when the command begins to wait for keys and when it does no longer, until it ends
// or the client has gone. heard is when it printed last, in Unix nanoseconds.
func watchKeys(c *Command, box *Mailbox, heard *atomic.Int64, gone <-chan struct{}) {
	t := time.NewTicker(keysEvery)
	defer t.Stop()
	waits := false
	for {
		select {
		case <-c.Done():
			return
		case <-gone:
			return
		case <-t.C:
		}
		now := time.Since(time.Unix(0, heard.Load())) >= keysQuiet && c.readsKeys()
		if now == waits {
			continue
		}
		if waits = now; waits {
			box.Put(Keys, []byte{1}, 0)
		} else {
			box.Put(Keys, []byte{0}, 0)
		}
	}
}

// readsKeys reports whether a program in the foreground of the command's terminal waits for what is typed: it
// reads the terminal, or has switched the echo off to ask for a password.
func (c *Command) readsKeys() bool {
	group := c.foreground()
	if group == 0 {
		return false
	}
	return c.hidesKeys() || readsTerminal(group)
}

// hidesKeys reports whether the terminal takes a line without showing it.
func (c *Command) hidesKeys() (hidden bool) {
	if c.started.inner != nil {
		c.started.inner.control(func(fd int) { hidden = asksForSecret(fd) })
		return hidden
	}
	return c.shell.tty != nil && asksForSecret(c.shell.tty.fd)
}
