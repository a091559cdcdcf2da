package loop

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// restAfter is how long nothing happens before memory goes back to the system.
	restAfter = 2 * time.Second

	// restSpare is how much memory may be taken while resting before Go collects
	// garbage all the same.
	restSpare = 64 << 20

	// startTime is how long the program is busy starting, startLimit how much memory
	// it may have by then without any garbage collected.
	startTime  = 300 * time.Millisecond
	startLimit = 128 << 20
)

// QuickStart keeps the garbage collector out of the first 300 ms: at the small heap of
// a starting program it would run over and over, which costs 2 to 5 of the 25 ms until the first
// frame, and a tenth of the CPU. It is called before anything else of the screen.
func QuickStart() {
	limit := debug.SetMemoryLimit(startLimit)
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(startTime, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// rest gives memory back while nothing happens and turns the garbage collector off,
// which would wake the process every two minutes for nothing.
type rest struct {
	last   atomic.Int64 // Unix nanoseconds of the last activity
	asleep atomic.Bool

	// of the pump
	armed   bool // the timer is running
	percent int
	limit   int64
}

func newRest() *rest {
	r := &rest{armed: true}
	r.touch()
	return r
}

// touch notes that something happens, and reports whether the pump should call wake.
// It costs a key nothing: turning the collector on takes a millisecond.
func (r *rest) touch() (asleep bool) {
	r.last.Store(time.Now().UnixNano())
	return r.asleep.Load()
}

// pause is called when timer has fired: it rests, or starts timer for the remainder
// if something happened in the meantime.
func (r *rest) pause(timer *time.Timer) {
	if left := restAfter - time.Since(time.Unix(0, r.last.Load())); left > 0 {
		timer.Reset(left)
		return
	}
	r.armed = false
	debug.FreeOSMemory()
	r.limit = debug.SetMemoryLimit(min(memoryInUse()+restSpare, debug.SetMemoryLimit(-1)))
	r.percent = debug.SetGCPercent(-1)
	r.asleep.Store(true)
}

// wake puts the collector back to work and starts timer, if they are not.
func (r *rest) wake(timer *time.Timer) {
	if r.asleep.Swap(false) {
		debug.SetGCPercent(r.percent)
		debug.SetMemoryLimit(r.limit)
	}
	if !r.armed {
		r.armed = true
		timer.Reset(restAfter)
	}
}

// memoryInUse returns what the memory limit counts, in bytes.
func memoryInUse() int64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return int64(min(all[0].Value.Uint64()-all[1].Value.Uint64(), math.MaxInt64/2))
}
