package gc

import (
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// There is no rest while a long work goes on of which no activity tells, and one soon after it.
func TestNoRestWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRest()
		timer := time.NewTimer(RestAfter)
		passes := func() (rests bool) {
			<-timer.C
			r.Pause(timer)
			return r.asleep.Load()
		}
		r.Busy(1)
		r.Busy(1)
		r.Busy(-1)
		for range 5 {
			if passes() {
				t.Fatal("it rests")
			}
		}
		r.Busy(-1)
		for range 2 {
			if passes() {
				r.Wake(timer)
				return
			}
		}
		t.Error("it does not rest when the work has ended")
	})
}

// What takes no longer than a rest needs to begin goes without the collector, what goes on has it.
func TestCollectorComesBackForLongWork(t *testing.T) {
	percent := func() (n int) {
		n = debug.SetGCPercent(100)
		debug.SetGCPercent(n)
		return n
	}
	was := percent()
	synctest.Test(t, func(t *testing.T) {
		r := NewRest()
		timer := time.NewTimer(RestAfter)
		for range 2 {
			for !r.asleep.Load() {
				<-timer.C
				r.Pause(timer)
			}
			if got := percent(); got != -1 {
				t.Errorf("at rest the collector runs at %d %%", got)
			}
			r.Wake(timer)
			if got := percent(); got != -1 {
				t.Errorf("at the first key the collector runs at %d %%", got)
			}
		}
		<-timer.C
		r.Touch()
		r.Pause(timer)
		if got := percent(); got != was {
			t.Errorf("in long work the collector runs at %d %%, want %d", got, was)
		}
	})
}
