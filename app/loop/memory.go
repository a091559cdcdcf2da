package loop

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// restAfter is how long nothing happens before memory goes back to the system.
	restAfter = 3 * time.Second

	// restSpare is how much memory may be taken while resting before Go collects
	// garbage all the same.
	restSpare = 64 << 20

	// startTime is how long the program is busy starting.
	startTime = 300 * time.Millisecond
)

// QuickStart keeps the garbage collector out of the first 300 ms: at the small heap of
// a starting program it would run over and over, and double the time to the first
// frame. It is the first line of main.
func QuickStart() {
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(startTime, func() { debug.SetGCPercent(percent) })
}

// rest gives memory back while nothing happens and turns the garbage collector off,
// which would wake the process every two minutes for nothing.
type rest struct {
	last   atomic.Int64 // Unix nanoseconds of the last activity
	asleep atomic.Bool
	armed  atomic.Bool // the timer is running

	mu      sync.Mutex // guards what follows
	percent int
	limit   int64
}

func newRest() *rest {
	r := &rest{}
	r.armed.Store(true)
	r.last.Store(time.Now().UnixNano())
	return r
}

// touch notes that something happens, and reports whether that ended a rest.
func (r *rest) touch() (woken bool) {
	r.last.Store(time.Now().UnixNano())
	return r.wake()
}

// wanted reports whether the timer should be started, and takes it as started.
func (r *rest) wanted() bool {
	return !r.asleep.Load() && r.armed.CompareAndSwap(false, true)
}

// pause is called when timer has fired: it rests, or starts timer for the remainder
// if something happened in the meantime.
func (r *rest) pause(timer *time.Timer) {
	if left := restAfter - time.Since(time.Unix(0, r.last.Load())); left > 0 {
		timer.Reset(left)
		return
	}
	r.armed.Store(false)
	debug.FreeOSMemory()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = debug.SetMemoryLimit(min(memoryInUse()+restSpare, debug.SetMemoryLimit(-1)))
	r.percent = debug.SetGCPercent(-1)
	r.asleep.Store(true)
}

// wake puts the collector back to work. It reports whether there was a rest.
func (r *rest) wake() bool {
	if !r.asleep.Load() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asleep.Swap(false) {
		return false
	}
	debug.SetGCPercent(r.percent)
	debug.SetMemoryLimit(r.limit)
	return true
}

// memoryInUse returns what the memory limit counts, in bytes.
func memoryInUse() int64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return int64(min(all[0].Value.Uint64()-all[1].Value.Uint64(), math.MaxInt64/2))
}
