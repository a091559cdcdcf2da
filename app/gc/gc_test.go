package gc

import (
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
