package pane

import (
	"fmt"
	"time"
)

// Keys is the stream of a [Chunk] that is not output: its last byte is 1 when the command has started to wait for keys,
// and 0 when it has stopped.
const Keys = "keys"

const (
	keysEvery = time.Second     // between two checks of a running command
	keysQuiet = 2 * time.Second // without output before a read of the terminal counts as waiting for the user
)

// watchKeys puts the start and end of each wait for keys into a mailbox, until the command ends or the client has gone.
func watchKeys(c *Command, box *Mailbox, gone <-chan struct{}) {
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
		now := c.silent() >= keysQuiet && c.readsKeys()
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

// silent returns the time since the command's last output, or its start.
func (c *Command) silent() time.Duration { return time.Since(time.Unix(0, c.lastOutput.Load())) }

// watchUnattended ends the command after it has waited for keys for the time that an unattended shell allows, even if
// its client has gone.
func (c *Command) watchUnattended() {
	t := time.NewTicker(keysEvery)
	defer t.Stop()
	var since time.Time // start of the wait; zero: the command does not wait
	for {
		select {
		case <-c.Done():
			return
		case <-t.C:
		}
		limit := c.shell.patience()
		switch reads := limit > 0 && c.readsKeys(); {
		case !reads:
			since = time.Time{}
			continue
		case since.IsZero():
			since = time.Now()
		}
		if min(time.Since(since), c.silent()) >= limit {
			c.mu.Lock()
			c.fault = fmt.Sprintf("it waited %v for keys, and nobody is there to type: it was ended (unattended_timeout under [tools])", limit)
			c.mu.Unlock()
			c.Cancel()
			return
		}
	}
}

// readsKeys reports whether a program in the foreground of the command's terminal waits for keys: it reads lines from
// the terminal, has switched the echo off to ask for a password, or reads each key at once, like an editor.
func (c *Command) readsKeys() bool {
	group := c.foreground()
	if group == 0 {
		return false
	}
	secret, keys := c.asks()
	return secret || readsTerminal(group, keys)
}

// asks reports how the command's terminal reads keys: secret means a line without echo, keys means each key at once.
func (c *Command) asks() (secret, keys bool) {
	if c.started.inner != nil {
		c.started.inner.control(func(fd int) { secret, keys = asksFor(fd) })
		return secret, keys
	}
	return asksFor(c.shell.tty.fd) // the pane's terminal has a foreground group
}
