package loop

import (
	"time"

	"buddy/app/gc"
)

// pump moves events and posts to the UI goroutine. All fields except work belong to its own goroutine.
type pump[T any] struct {
	l        *Loop[T]
	events   <-chan T // nil after its end
	work     work[T]
	full     bool      // the last batch filled the channel: its sender had to wait
	last     time.Time // of the last flush
	timer    *time.Timer
	due      time.Time // when timer fires; zero when it is not armed
	ticking  bool
	beat     *time.Timer // fires a step after the last draw, while ticking
	resting  *time.Timer
	quitting chan struct{} // closed when Stop has returned; nil before Quit
	done     chan struct{}
}

// work holds the next flush to the UI goroutine.
type work[T any] struct {
	batch []T
	posts []func()
	lazy  []func()
	draw  bool
}

func newPump[T any](l *Loop[T]) *pump[T] {
	p := &pump[T]{l: l, events: l.cfg.Events, done: make(chan struct{})}
	p.timer, p.beat, p.resting = time.NewTimer(0), time.NewTimer(0), time.NewTimer(gc.RestAfter)
	p.timer.Stop()
	p.beat.Stop()
	return p
}

func (p *pump[T]) run() {
	defer close(p.done)
	for stopped := false; !stopped; p.l.wakeups.Add(1) {
		select {
		case ev, ok := <-p.source():
			p.receive(ev, ok)
		case <-p.l.mail.arrived:
			p.collect()
		case <-p.timer.C:
			p.due = time.Time{}
			p.flush()
		case <-p.beat.C:
			p.work.draw = true
			p.schedule(eventGap)
		case <-p.resting.C:
			p.l.rest.Pause(p.resting)
		case <-p.quitting:
			stopped = true
		}
	}
	p.end()
}

// maxBatch limits the events gathered between two draws.
const maxBatch = 32768

// source returns the event channel, or nil while a draw is due. Events that stay in the channel until the draw need no
// wake-up of their own. If the sender is too fast for the channel, events are received at once.
func (p *pump[T]) source() <-chan T {
	if !p.due.IsZero() && (!p.full || len(p.work.batch) >= maxBatch) {
		return nil
	}
	return p.events
}

func (p *pump[T]) receive(ev T, ok bool) {
	if !ok {
		p.events = nil
		return
	}
	p.work.batch = append(p.work.batch, ev)
	p.drain()
	p.schedule(eventGap)
}

// drain receives all events that are waiting in the channel.
func (p *pump[T]) drain() {
	for len(p.work.batch) < maxBatch {
		select {
		case ev, ok := <-p.events:
			if !ok {
				p.events = nil
				return
			}
			p.work.batch = append(p.work.batch, ev)
		default:
			return
		}
	}
}

// collect reads the mailbox.
func (p *pump[T]) collect() {
	m := p.l.mail.next()
	p.l.rest.Wake(p.resting)
	p.setTicking(m.ticking)
	if m.quit {
		p.quit()
	}
	p.work.posts = append(p.work.posts, m.posts...)
	p.work.lazy = append(p.work.lazy, m.lazy...)
	p.work.draw = p.work.draw || m.draw
	switch {
	case len(m.posts) > 0, m.late && len(p.work.lazy) > 0:
		p.schedule(keyGap)
	case m.draw:
		p.armAt(time.Now().Add(keyGap)) // more keys are coming
	}
}

func (p *pump[T]) setTicking(on bool) {
	switch {
	case on && !p.ticking:
		p.beat.Reset(tickGap)
	case !on:
		p.beat.Stop()
	}
	p.ticking = on
}

// schedule flushes now if at least gap has passed since the last flush, else when it has passed.
func (p *pump[T]) schedule(gap time.Duration) {
	now := time.Now()
	if at := p.last.Add(gap); at.After(now) {
		p.armAt(at)
		return
	}
	if !p.due.IsZero() {
		p.timer.Stop()
		p.due = time.Time{}
	}
	p.flush()
}

func (p *pump[T]) armAt(at time.Time) {
	if p.due.IsZero() || at.Before(p.due) {
		p.due = at
		p.timer.Reset(time.Until(at))
	}
}

// flush does the work on the UI goroutine and waits for it.
func (p *pump[T]) flush() {
	p.l.rest.Wake(p.resting)
	p.drain()
	if len(p.work.batch) > 0 || p.work.draw { // saving a draft, for instance, is no activity
		p.l.rest.Touch()
	}
	p.full = len(p.work.batch) >= cap(p.events)
	w, drawn := p.work, false
	p.l.app.QueueUpdate(func() { drawn = p.l.apply(w) })
	p.last = time.Now()
	if drawn && p.ticking {
		p.beat.Reset(tickGap)
	}
	clear(w.batch)
	p.work = work[T]{batch: w.batch[:0]}
}

// apply does the work on the UI goroutine, and reports whether it has drawn.
func (l *Loop[T]) apply(w work[T]) (changed bool) {
	changed = w.draw || len(w.posts) > 0 || len(w.lazy) > 0
	for _, f := range w.lazy {
		f()
	}
	for _, f := range w.posts {
		f()
	}
	if len(w.batch) > 0 && l.cfg.Apply != nil && l.cfg.Apply(w.batch) {
		changed = true
	}
	if changed {
		l.pumping = true
		l.app.ForceDraw()
		l.pumping = false
	}
	return changed
}

// quit calls Stop. The loop continues until Stop has returned.
func (p *pump[T]) quit() {
	if p.quitting != nil {
		return
	}
	p.l.quitting.Store(true)
	p.quitting = make(chan struct{})
	p.l.Go(func() {
		defer close(p.quitting)
		if p.l.cfg.Stop != nil {
			p.l.cfg.Stop()
		}
	})
}

// end flushes for the last time and stops tview, which must not be used afterwards.
func (p *pump[T]) end() {
	p.setTicking(false)
	if !p.l.keep.Load() {
		p.l.cfg.Screen.LimitWrites(stuckTime)
	}
	p.flush()
	p.timer.Stop()
	p.resting.Stop()
	p.l.stopped.Store(true)
	p.l.app.Stop()
}
