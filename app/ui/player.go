package ui

import (
	"context"
	"sync"
	"time"

	"buddy/agent/event"
)

const longestGap = 2 * time.Second // waited for between two events, at any speed

// The limits of the replay speed, as a factor.
const (
	SlowestReplay = 0.125
	FastestReplay = 64.0
)

// player sends the events of a stored session at the intervals at which they happened, divided by the speed. Any
// goroutine may use it.
type player struct {
	mu      sync.Mutex // guards all below
	turn    int        // events before this turn are shown at once
	speed   float64
	paused  bool
	at      time.Time     // session time at since
	since   time.Time     // real time from which the session time runs
	changed chan struct{} // closed and replaced when speed or paused changes
}

func newPlayer(speed float64, turn int) *player {
	return &player{speed: speed, turn: turn, since: time.Now(), changed: make(chan struct{})}
}

// now returns the current time of the replayed session.
func (p *player) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clock()
}

// clock returns the current time of the replay. The caller holds p.mu.
func (p *player) clock() time.Time {
	if p.paused {
		return p.at
	}
	return p.at.Add(time.Duration(float64(time.Since(p.since)) * p.speed))
}

// pace returns the speed, and whether the replay is paused.
func (p *player) pace() (speed float64, paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.speed, p.paused
}

// change applies f and wakes the waiting player.
func (p *player) change(f func(*player)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.since = p.clock(), time.Now()
	f(p)
	p.speed = max(SlowestReplay, min(p.speed, FastestReplay))
	close(p.changed)
	p.changed = make(chan struct{})
}

// play sends all events of a session, one at a time, and reports whether it reached the end.
func (p *player) play(ctx context.Context, events Recording, out chan<- event.Envelope) (ended bool, err error) {
	before := p.turn > 0
	err = events(func(env event.Envelope) bool {
		if before {
			p.jump(time.UnixMilli(env.Time))
			if t, ok := env.Payload.(event.TurnStarted); ok && t.Number >= p.turn {
				before = false
			}
		} else if !p.wait(ctx, time.UnixMilli(env.Time)) {
			return false
		}
		select {
		case out <- env:
			return true
		case <-ctx.Done():
			return false
		}
	})
	return err == nil && ctx.Err() == nil, err
}

// jump sets the current time of the replay.
func (p *player) jump(to time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.since = to, time.Now()
}

// wait waits until the time of an event, at most for longestGap and the pauses of the replay. It returns false if ctx
// has ended.
func (p *player) wait(ctx context.Context, until time.Time) bool {
	p.mu.Lock()
	if p.at.IsZero() || until.Before(p.at) {
		p.at = until // the first event, or a clock that was set back
	}
	p.since = time.Now()
	p.mu.Unlock()
	remaining := longestGap
	for {
		p.mu.Lock()
		gap := min(remaining, time.Duration(float64(until.Sub(p.clock()))/p.speed))
		paused, changed, began := p.paused, p.changed, time.Now()
		if !paused && gap <= 0 {
			p.at, p.since = until, began
			p.mu.Unlock()
			return ctx.Err() == nil
		}
		p.mu.Unlock()
		if !p.rest(ctx, gap, paused, changed) {
			return false
		}
		if !paused {
			remaining -= time.Since(began)
		}
	}
}

// rest waits until gap has passed, the pace changes or ctx ends.
func (*player) rest(ctx context.Context, gap time.Duration, paused bool, changed <-chan struct{}) bool {
	var over <-chan time.Time
	if !paused {
		t := time.NewTimer(gap)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
	case <-changed:
	case <-ctx.Done():
		return false
	}
	return true
}
