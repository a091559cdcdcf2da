// Package gc turns Go's garbage collector off while it would cost more than it saves: when a process starts, and
// while it is idle.
//
//	gc.QuickStart()
//	rest := gc.NewRest()
//	if rest.Touch() { // on activity
//		rest.Wake(timer)
//	}
//	rest.Pause(timer) // after timer has fired: rests if there was no activity
package gc

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// RestAfter is the idle time before memory is returned to the system.
	RestAfter = 1500 * time.Millisecond

	// restSpare limits the bytes that may be allocated without a garbage collection in addition to those in use, while
	// resting and in the first RestAfter of work.
	restSpare = 32 << 20

	// startTime is the duration of the start, startLimit its memory limit without any garbage collection.
	startTime  = 300 * time.Millisecond
	startLimit = 128 << 20
)

// QuickStart keeps the garbage collector off for the first 300 ms. With the small heap of a starting program, it would
// run over and over. That costs 2 to 5 of the 25 ms until the first frame and a tenth of the CPU, or a fifth for an
// exec with a short answer. Call QuickStart before anything else.
func QuickStart() {
	limit := debug.SetMemoryLimit(startLimit)
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(startTime, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// Rest returns memory to the system while the process is idle, and turns the garbage collector off, which would wake
// the process every two minutes for nothing.
type Rest struct {
	last   atomic.Int64 // Unix nanoseconds of the last activity
	asleep atomic.Bool
	busy   atomic.Int32 // running work that does not call Touch

	// used by the owner of the timer
	armed   bool // the timer is running
	off     bool // no garbage collection before restSpare is used up
	percent int
	limit   int64
}

// NewRest returns a Rest that is awake. The caller makes its timer, running for [RestAfter], and passes it to Pause and
// Wake.
func NewRest() *Rest {
	r := &Rest{armed: true}
	r.Touch()
	return r
}

// Touch records activity, and reports whether the owner of the timer should call Wake. It does not turn the collector
// on itself, which would delay a key by a millisecond.
func (r *Rest) Touch() (asleep bool) {
	r.last.Store(time.Now().UnixNano())
	return r.asleep.Load()
}

// Busy records with 1 the start of work that does not call Touch, and with -1 its end. No rest starts in between; an
// earlier rest ends only when the owner of the timer calls Wake. Any goroutine may call it.
func (r *Rest) Busy(works int32) { r.busy.Add(works) }

// Pause is called when timer has fired. It rests, or restarts timer for the remaining time if there was activity.
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
	// Both limits are set before FreeOSMemory. With the collector on, Go would return memory again a second later;
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

// Wake ends the rest and starts timer unless it is running. The collector stays off until timer has fired, so that
// short work such as a key or a short answer runs without it.
func (r *Rest) Wake(timer *time.Timer) {
	r.asleep.Store(false)
	if !r.armed {
		r.armed = true
		timer.Reset(RestAfter)
	}
}

// collect turns the collector on again.
func (r *Rest) collect() {
	if r.off {
		r.off = false
		debug.SetGCPercent(r.percent)
		debug.SetMemoryLimit(r.limit)
	}
}

// memoryInUse returns the bytes that count towards the memory limit.
func memoryInUse() int64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return int64(min(all[0].Value.Uint64()-all[1].Value.Uint64(), math.MaxInt64/2))
}
