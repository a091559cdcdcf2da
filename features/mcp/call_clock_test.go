package mcp

import (
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/settings"
)

// The limits of a call are paused while any of its questions is open.
func TestTimeOfACallRestsWhileThePersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCallClock(settings.MCPTimes{Timeout: 10 * time.Minute, Idle: time.Minute})
		defer c.stop()
		time.Sleep(30 * time.Second)
		c.pause(true)
		time.Sleep(4 * time.Minute)
		c.pause(true)
		time.Sleep(4 * time.Minute)
		c.pause(false)
		c.alive()
		time.Sleep(4 * time.Minute)
		select {
		case <-c.wall.C:
			t.Error("the whole time of the call ran while a question was open")
		case <-c.idle.C:
			t.Error("the call was silent for too long while a question was open")
		default:
		}
		c.pause(false)
		if want := 10*time.Minute - 30*time.Second; c.left != want {
			t.Errorf("%v are left, want %v", c.left, want)
		}
		time.Sleep(time.Minute)
		if at := <-c.idle.C; time.Since(at) != 0 {
			t.Error("silence does not count after the answers")
		}
	})
}
