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

	// restSpare is the number of bytes that can be allocated, on top of the memory in use, before a garbage collection
	// runs during a rest and in the first RestAfter of work.
	restSpare = 32 << 20

	// startTime limits the time in which the collector stays off at the start of the program, startLimit the memory.
	startTime  = 300 * time.Millisecond
	startLimit = 128 << 20
)

// QuickStart keeps the garbage collector off for the first 300 ms, because it would run over and over on the small heap
// of a starting program. That would take 2 to 5 of the 25 ms until the first frame and a tenth of the CPU, or a fifth
// in buddy exec with a short answer. Call QuickStart before anything else.
func QuickStart() {
	limit := debug.SetMemoryLimit(startLimit)
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(startTime, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// Rest returns memory to the system while the process is idle. It also turns the garbage collector off, which would
// wake an idle process every two minutes for nothing.
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

// NewRest returns a Rest that is awake. The caller starts a timer with the duration [RestAfter], calls Pause when it
// fires, and passes it to Pause and Wake.
func NewRest() *Rest {
	r := &Rest{armed: true}
	r.Touch()
	return r
}

// Touch records activity, and reports whether the owner of the timer should call Wake. It does not turn the collector
// on, because that would delay the handling of a key by a millisecond.
func (r *Rest) Touch() (asleep bool) {
	r.last.Store(time.Now().UnixNano())
	return r.asleep.Load()
}

// Busy must be called with 1 at the start of work that does not call Touch, and with -1 at its end. No rest starts in
// between, but a rest that has already started ends only with Wake. Any goroutine may call Busy.
func (r *Rest) Busy(works int32) { r.busy.Add(works) }

// Pause must be called when timer has fired. It starts a rest, or restarts timer for the remaining time if there was
// activity.
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
