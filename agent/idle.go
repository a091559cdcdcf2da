package agent

import (
	"sync"
	"time"
)

// idleTime delays the hooks that run when a session is idle: it must have been idle this long.
const idleTime = time.Minute

// idleness runs a function once when a session has been idle for idleTime. The zero value runs no timer. It is safe
// for concurrent use.
type idleness struct {
	mu    sync.Mutex
	timer *time.Timer // nil: not idle, or already notified
}

// start starts the timer; notify must not block.
func (i *idleness) start(notify func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.timer = time.AfterFunc(idleTime, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.timer != nil { // the session is still idle
			i.timer = nil
			notify()
		}
	})
}

// reset restarts a running timer, because the person is active.
func (i *idleness) reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil && i.timer.Stop() {
		i.timer.Reset(idleTime)
	}
}

// end stops the timer, because the session is not idle any more.
func (i *idleness) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
}
