package agent

import (
	"sync"
	"time"
)

// idleTime says how long a session has to be idle before its hooks are told so.
const idleTime = time.Minute

// idleness tells, once, that a session has been idle for idleTime. The zero value runs no timer. It is
// safe for concurrent use.
type idleness struct {
	mu    sync.Mutex
	timer *time.Timer // nil: something happens, or it was told
}

// begin begins the wait after which tell is called, which must not wait.
func (i *idleness) begin(tell func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.timer = time.AfterFunc(idleTime, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.timer != nil { // nothing happened meanwhile
			i.timer = nil
			tell()
		}
	})
}

// reset starts the wait again, if there is one: a person is there.
func (i *idleness) reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil && i.timer.Stop() {
		i.timer.Reset(idleTime)
	}
}

// end ends the wait: something happens.
func (i *idleness) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
}
