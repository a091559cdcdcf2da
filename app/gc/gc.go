// Package gc keeps Go's garbage collector from running when it would cost more than it gives:
// while a process starts, and while nothing happens in it.
//
//	gc.QuickStart()
//	rest := gc.NewRest()
//	rest.Touch()      // something happens
//	rest.Pause(timer) // timer has fired: perhaps nothing does any more
package gc

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// RestAfter says how long nothing happens before memory goes back to the system.
	RestAfter = 1500 * time.Millisecond

	// restSpare limits how many bytes may be allocated, beyond those in use, without a garbage collection while
	// resting and in the first RestAfter of work.
	restSpare = 32 << 20

	// startTime says how long the program is busy starting, startLimit how much memory
	// it may have by then without any garbage collected.
	startTime  = 300 * time.Millisecond
	startLimit = 128 << 20
)

// QuickStart keeps the garbage collector out of the first 300 ms: at the small heap of
// a starting program it would run over and over, which costs 2 to 5 of the 25 ms until the first
// frame, and a tenth of the CPU; of an exec with a short answer it is a fifth of the CPU. Call it before
// anything else.
func QuickStart() {
	limit := debug.SetMemoryLimit(startLimit)
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(startTime, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// Rest gives memory back while nothing happens and turns the garbage collector off,
// which would wake the process every two minutes for nothing.
type Rest struct {
	last   atomic.Int64 // Unix nanoseconds of the last activity
	asleep atomic.Bool
	busy   atomic.Int32 // how much work goes on that Touch is not told of

	// of the owner of the timer
	armed   bool // the timer is running
	off     bool // Go does not collect garbage before restSpare is used up
	percent int
	limit   int64
}

// NewRest returns one that is awake. Its timer, which the caller makes and passes to Pause and Wake,
// is running and lasts [RestAfter].
func NewRest() *Rest {
	r := &Rest{armed: true}
	r.Touch()
	return r
}

// Touch notes that something happens, and reports whether the owner of the timer should call Wake.
// It costs a key nothing: turning the collector on takes a millisecond.
func (r *Rest) Touch() (asleep bool) {
	r.last.Store(time.Now().UnixNano())
	return r.asleep.Load()
}

// Busy notes with 1 that work begins which goes on without any Touch, and with -1 that it has ended. No rest begins
// meanwhile; one that has begun before ends only when the owner of the timer calls Wake. Any goroutine may call it.
func (r *Rest) Busy(works int32) { r.busy.Add(works) }

// Pause is called when timer has fired: it rests, or starts timer for the remainder
// if something happened in the meantime.
func (r *Rest) Pause(timer *time.Timer) {
	if r.busy.Load() > 0 {
		r.Touch()
	}
	if left := RestAfter - time.Since(time.Unix(0, r.last.Load())); left > 0 {
		r.collect()
		timer.Reset(left)
		return
	}
	r.armed = false
	// Both before FreeOSMemory. With the collector on, Go would give memory back a second time, a second later;
	// without a limit it would expect a large heap and ask for huge pages for its tables, 2 MB of them.
	if !r.off {
		r.off = true
		r.limit = debug.SetMemoryLimit(restSpare)
		r.percent = debug.SetGCPercent(-1)
	}
	debug.FreeOSMemory()
	debug.SetMemoryLimit(min(memoryInUse()+restSpare, r.limit))
	dropCode()
	r.asleep.Store(true)
}

// Wake ends the rest and starts timer, if it is not running. The collector stays off until timer has fired: what takes
// no longer, as a key or a short answer, goes without.
func (r *Rest) Wake(timer *time.Timer) {
	r.asleep.Store(false)
	if !r.armed {
		r.armed = true
		timer.Reset(RestAfter)
	}
}

// collect puts the collector back to work.
func (r *Rest) collect() {
	if r.off {
		r.off = false
		debug.SetGCPercent(r.percent)
		debug.SetMemoryLimit(r.limit)
	}
}

// memoryInUse returns what the memory limit counts, in bytes.
func memoryInUse() int64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return int64(min(all[0].Value.Uint64()-all[1].Value.Uint64(), math.MaxInt64/2))
}
