package turn

import (
	"sync"

	"buddy/tools"
)

// Release sends the calls that run to the background, as far as their tools can. It reports whether
// there was one.
func (x *Exchange) Release() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, release := range x.waits {
		release()
	}
	return len(x.waits) > 0
}

// releasable lets a person send a call to the background from here on, until end is called.
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
