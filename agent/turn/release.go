package turn

import (
	"sync"

	"buddy/tools"
)

// Release moves all running calls that support it to the background. It reports whether there were any.
func (x *Exchange) Release() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, release := range x.waits {
		release()
	}
	return len(x.waits) > 0
}

// releasable lets a person move a call to the background until end is called.
func (x *Exchange) releasable(j *job) (end func()) {
	if !tools.IsReleasable(j.tool, j.call) {
		return func() {}
	}
	released := make(chan struct{})
	j.call.Release = released
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waits[j.call.ID] = sync.OnceFunc(func() { close(released) })
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.waits, j.call.ID)
	}
}
