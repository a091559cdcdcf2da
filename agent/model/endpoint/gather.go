package endpoint

import (
	"context"
	"time"
)

const (
	// gatherTime is the least time between two moments at which words are handed on. Each of them is
	// a frame of the screen, so this is what an answer that streams costs.
	gatherTime = 50 * time.Millisecond

	slowRead  = time.Millisecond // a read that took as long had to wait for the server
	largeRead = 8 << 10          // bytes of a read, of which there are few a second if it had to wait
)

// gather hands on text that comes word by word some words at a time: one wake-up of the process for
// each word is most of what an answer costs. It holds what a read had to wait for; meanwhile the
// next words arrive, and are then read without a wait. The first words are not held, nor are calls
// and the end of an answer, for which something waits. One goroutine uses it: that which reads.
type gather struct {
	text bool      // what came last was text or a thought, and more is to come
	last time.Time // when words were handed on
}

// hold returns when it is time to hand on the n bytes of a read that took so long, or ctx ends.
func (g *gather) hold(ctx context.Context, n int, now time.Time, took time.Duration) {
	wait := gatherTime - now.Sub(g.last)
	g.last = now
	if !g.text || wait <= 0 || took < slowRead || n >= largeRead {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	g.last = time.Now()
}
