// Package loop runs a tview application and passes it events from a channel.
//
//	l := loop.New(loop.Config[event.Envelope]{
//		Screen: s, Root: layout, Events: events,
//		Apply: func(batch []event.Envelope) bool { return ui.apply(batch) },
//		Stop:  func() { rt.Close(ctx) },
//	})
//	err := l.Run(ctx) // until l.Quit, the end of ctx or of the terminal
//
// Events are handled in batches, with one draw for each batch: the first is drawn at once, later ones at most every
// 33 ms. tview also draws after each key; the loop skips these draws only while many keys arrive at once. An idle
// loop runs no timer and never wakes up.
//
// Only one goroutine, the pump, calls tview's QueueUpdate and Stop, which block for ever if they are called at the
// wrong moment:
//
//	events ──▶ pump ──QueueUpdate──▶ UI goroutine ──mailbox──▶ pump
//	keys ──▶ screen ──PollEvent──▶ tview ──▶ UI goroutine
package loop

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/gc"
	"buddy/app/screen"
)

const (
	eventGap = 33 * time.Millisecond  // least time between two draws for events
	keyGap   = 16 * time.Millisecond  // least time between two draws for keys, after KeyBurst keys that came together
	tickGap  = 100 * time.Millisecond // a spinner's step
	lazyTime = 100 * time.Millisecond // see PostLazily

	// stuckTime limits how long the end waits for a terminal that accepts no output.
	stuckTime = time.Second
)

// KeyBurst limits the keys in 16 ms that are each drawn at once. A person types fewer; text typed before the start and
// a held key exceed it.
const KeyBurst = 8

// Config describes what a [Loop] shows and where its events come from. Screen and Root are required. The functions are
// called on the UI goroutine, except Stop.
type Config[T any] struct {
	Screen *screen.Screen
	Root   tview.Primitive

	// Events are gathered into batches for Apply, in order and without loss. Give the channel room for some hundred
	// events: it is read at most every 33 ms unless it is full. Closing it does not end the loop.
	Events <-chan T

	// Apply processes a batch and reports whether anything visible changed. It must not keep the slice, which is
	// reused.
	Apply func(batch []T) (changed bool)

	// Key gets each key before the focused primitive, including Ctrl-C, which does not end the loop. If it returns nil,
	// the primitive does not get the key.
	Key func(*tcell.EventKey) *tcell.EventKey

	// On holds handlers of pastes, focus changes and the like. Without On.Paste, pasted text goes to the root's paste
	// handler. If the terminal is gone, On.Failed is called before the loop ends.
	On screen.Handlers

	// Stop is called once, from another goroutine, when the loop should end. It stops the sender of Events and waits
	// for it. The screen stays open until Stop returns.
	Stop func()
}

// Stats counts the work of a loop.
type Stats struct {
	Draws   int // calls of the root primitive's Draw
	Wakeups int // how often the pump had work
}

// Loop is a running user interface. Make one with [New]. Any goroutine may call its methods, unless a method's comment
// says otherwise.
type Loop[T any] struct {
	cfg   Config[T]
	lease *screen.Lease
	app   *tview.Application
	mail  *mailbox
	rest  *gc.Rest

	// UI goroutine
	pumping bool // the pump draws
	keys    limiter
	unread  []tcell.Event // keys for the next loop

	draws, wakeups atomic.Int64
	quitting       atomic.Bool // the pump has received Quit
	keep           atomic.Bool // the screen is kept for another loop
	stopped        atomic.Bool // Stop has returned
	failure        atomic.Pointer[error]
}

// New returns a loop that has not started.
func New[T any](cfg Config[T]) *Loop[T] {
	return &Loop[T]{cfg: cfg, app: tview.NewApplication(), mail: newMailbox(), rest: gc.NewRest()}
}

// Run runs the loop until it ends, and then restores the terminal. It returns the terminal error that ended the loop,
// or nil if the loop ended for another reason. Call it once.
func (l *Loop[T]) Run(ctx context.Context) error {
	s := l.cfg.Screen
	l.lease = s.Lend(l.handlers(), l.stays)
	if err := s.Init(); err != nil {
		s.Fini()
		return err
	}
	l.app.SetScreen(l.lease).SetRoot(l.cfg.Root, true)
	l.app.SetInputCapture(l.capture).SetBeforeDrawFunc(l.beforeDraw)

	defer context.AfterFunc(ctx, l.Quit)()

	p := newPump(l)
	l.Go(p.run)
	err := l.app.Run()
	<-p.done
	l.lease.Unread(l.unread)
	if failure := l.Failure(); failure != nil {
		return failure
	}
	return err
}

// Failure returns the terminal error that ends the loop; nil if there is none. Stop may call it.
func (l *Loop[T]) Failure() error {
	if failure := l.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// handlers adds the loop's own handlers to those of Config.
func (l *Loop[T]) handlers() screen.Handlers {
	on := l.cfg.On
	if on.Paste == nil {
		on.Paste = l.paste
	}
	failed := on.Failed
	on.Failed = func(err error) {
		if failed != nil {
			failed(err)
		}
		l.failure.CompareAndSwap(nil, &err)
		l.Quit()
	}
	return on
}

// paste passes text to the focused primitive, as tview does.
func (l *Loop[T]) paste(p screen.Paste) {
	root := l.cfg.Root
	if !root.HasFocus() {
		return
	}
	if handle := root.PasteHandler(); handle != nil {
		handle(p.Text, func(p tview.Primitive) { l.app.SetFocus(p) })
	}
}

// HandOver ends the loop like Quit, but keeps the screen open for another loop. Keys and pastes that arrive from now on
// go to that loop.
func (l *Loop[T]) HandOver() {
	l.keep.Store(true)
	l.mail.change(func(m *mail) { m.quit = true })
}

// stays reports whether the loop has ended and the screen is kept.
func (l *Loop[T]) stays() bool { return l.keep.Load() && l.stopped.Load() }

// Quit ends the loop: Stop is called, then the screen closes and Run returns.
func (l *Loop[T]) Quit() {
	l.keep.Store(false)
	l.mail.change(func(m *mail) { m.quit = true })
	time.AfterFunc(stuckTime, func() {
		if !l.quitting.Load() { // the pump waits for a draw that waits for the terminal
			l.cfg.Screen.LimitWrites(time.Millisecond)
		}
	})
}

// Post runs f on the UI goroutine and draws. It does not wait. After the end of the loop it does nothing.
func (l *Loop[T]) Post(f func()) {
	l.mail.change(func(m *mail) { m.posts = append(m.posts, f) })
}

// PostLazily runs f on the UI goroutine just before the next draw. If nothing else is drawn within 100 ms, it draws
// then. It is for changes that can wait for a draw that is needed anyway.
func (l *Loop[T]) PostLazily(f func()) {
	l.mail.change(func(m *mail) { m.lazy = append(m.lazy, f) })
	time.AfterFunc(lazyTime, func() { l.mail.change(func(m *mail) { m.late = true }) })
}

// SetTicking turns animation on or off: while on, the loop draws at least ten times a second.
func (l *Loop[T]) SetTicking(on bool) { l.mail.setTicking(on) }

// SetFocus focuses p. UI goroutine only, and not while drawing.
func (l *Loop[T]) SetFocus(p tview.Primitive) { l.app.SetFocus(p) }

// Suspend restores the terminal, runs f, which may use the terminal for an editor, and then takes the terminal back. It
// reports whether f ran. Events are handled only afterwards. UI goroutine only.
func (l *Loop[T]) Suspend(f func()) bool { return l.app.Suspend(f) }

// Go runs f in a goroutine that restores the terminal before a panic is printed. Go does not wait for f.
func (l *Loop[T]) Go(f func()) {
	go func() {
		defer l.cfg.Screen.Guard()
		f()
	}()
}

// Busy runs f, which takes long and allocates memory. While f runs, the loop does not enter its idle
// mode, in which garbage is collected only when the memory limit is reached, and continuously from then on. Any goroutine
// may call Busy.
func (l *Loop[T]) Busy(f func()) {
	l.rest.Busy(1)
	defer l.rest.Busy(-1)
	l.mail.change(func(*mail) {}) // ends the rest
	f()
}

// Stats returns the counts so far.
func (l *Loop[T]) Stats() Stats {
	return Stats{Draws: int(l.draws.Load()), Wakeups: int(l.wakeups.Load())}
}

// capture handles each key before tview does, on the UI goroutine.
func (l *Loop[T]) capture(ev *tcell.EventKey) *tcell.EventKey {
	if l.keep.Load() {
		l.unread = append(l.unread, ev)
		return nil
	}
	if l.lease.Deliver(ev) {
		return nil
	}
	if l.cfg.Key != nil {
		if ev = l.cfg.Key(ev); ev == nil {
			return nil
		}
	}
	if ev.Key() == tcell.KeyCtrlC {
		// tview would stop if it got back its own Ctrl-C event. It does not stop for a copy.
		return tcell.NewEventKey(ev.Key(), ev.Rune(), ev.Modifiers())
	}
	return ev
}

// beforeDraw is called by tview before each draw, with tview's lock held. If it returns true, tview does not draw,
// because the pump draws later.
func (l *Loop[T]) beforeDraw(tcell.Screen) bool {
	if !l.pumping {
		if l.rest.Touch() {
			l.mail.change(func(*mail) {}) // ends the rest
		}
		if !l.keys.allow(time.Now()) {
			l.cfg.Screen.Skip()
			l.mail.change(func(m *mail) { m.draw = true })
			return true
		}
	}
	l.draws.Add(1)
	return false
}

// limiter allows KeyBurst draws within keyGap.
type limiter struct {
	since time.Time
	n     int
}

func (r *limiter) allow(now time.Time) bool {
	if now.Sub(r.since) >= keyGap {
		r.since, r.n = now, 0
	}
	r.n++
	return r.n <= KeyBurst
}
