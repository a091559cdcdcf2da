package screen

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
)

const (
	// carrier is the code of a key event that carries another event past tview.
	carrier tcell.Key = 20000

	// backgroundTime limits the time from AskBackground to an accepted answer. A later answer is ignored, but still kept
	// out of the input.
	backgroundTime = 200 * time.Millisecond
)

// Handlers receive the special events, which tview does not pass on. [Lease.Deliver] calls all handlers except Failed
// on the UI goroutine, in order with the keys. A handler may be nil.
type Handlers struct {
	// Paste receives a complete paste.
	Paste func(Paste)

	// Focus receives whether the terminal has the focus.
	Focus func(focused bool)

	// Background receives the terminal's background colour after AskBackground, if the answer came within 200 ms.
	Background func(tcell.Color)

	// Failed is called, from any goroutine, when the terminal can't be read any more.
	Failed func(error)
}

// inbox holds the events for PollEvent. A special event is queued between the keys as a carrier key, so that the call
// that handles it runs in order with the keys.
type inbox struct {
	events *queue
	size   atomic.Pointer[[2]int] // columns and rows of the next frame
	cut    atomic.Bool            // the terminal had another size since the last frame

	mu       sync.Mutex // guards the fields below
	handlers Handlers
	calls    map[*tcell.EventKey]func(Handlers)
	pastes   []Paste // complete, until tcell reports their end
	asked    time.Time
}

func newInbox() *inbox {
	return &inbox{events: newQueue(), calls: map[*tcell.EventKey]func(Handlers){}}
}

// setHandlers sets the handlers of special events, including queued ones.
func (in *inbox) setHandlers(h Handlers) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.handlers = h
}

// deliver makes the call that belongs to a carrier key.
func (in *inbox) deliver(ev *tcell.EventKey) {
	in.mu.Lock()
	call, h := in.calls[ev], in.handlers
	delete(in.calls, ev)
	in.mu.Unlock()
	if call != nil {
		call(h)
	}
}

// carry queues call, to run on the UI goroutine after the keys before it.
func (in *inbox) carry(call func(h Handlers)) {
	ev := tcell.NewEventKey(carrier, 0, tcell.ModNone)
	in.mu.Lock()
	in.calls[ev] = call
	in.mu.Unlock()
	in.events.push(ev)
}

// paste keeps a paste until tcell reports its end marker.
func (in *inbox) paste(p Paste) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pastes = append(in.pastes, p)
}

// filter queues an event of tcell, or handles it if it is a special event.
func (in *inbox) filter(ev tcell.Event) {
	switch ev := ev.(type) {
	case *tcell.EventKey:
		in.events.push(normal(ev))
	case *tcell.EventPaste:
		in.deliverPastes()
	case *tcell.EventResize: // resized sends these
	case *tcell.EventFocus:
		in.carry(func(h Handlers) {
			if h.Focus != nil {
				h.Focus(ev.Focused)
			}
		})
	default:
		in.events.push(ev)
	}
}

// normal returns the same key for all encodings of Alt+Enter.
func normal(ev *tcell.EventKey) *tcell.EventKey {
	if ev.Key() == tcell.KeyRune && ev.Modifiers() == tcell.ModCtrl|tcell.ModAlt && (ev.Rune() == 'm' || ev.Rune() == 'j') {
		return tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModAlt)
	}
	return ev
}

func (in *inbox) deliverPastes() {
	in.mu.Lock()
	pastes := in.pastes
	in.pastes = nil
	in.mu.Unlock()
	for _, p := range pastes {
		in.carry(func(h Handlers) {
			if h.Paste != nil {
				h.Paste(p)
			}
		})
	}
}

// failed calls the Failed handler unless err is nil.
func (in *inbox) failed(err error) {
	in.mu.Lock()
	failed := in.handlers.Failed
	in.mu.Unlock()
	if failed != nil && err != nil {
		failed(err)
	}
}

// answered handles a reply of the terminal, such as "11;rgb:ffff/ffff/ffff" with its background.
func (in *inbox) answered(reply string) {
	data, ok := strings.CutPrefix(reply, "11;")
	in.mu.Lock()
	late := time.Since(in.asked) > backgroundTime
	in.mu.Unlock()
	color, known := parseColor(data)
	if !ok || late || !known {
		return
	}
	in.carry(func(h Handlers) {
		if h.Background != nil {
			h.Background(color)
		}
	})
}

// resized sends tview the terminal's new size. The next frame is painted in full even if it has the same size as the
// last one, because the terminal may have had another size in between and lost cells.
func (in *inbox) resized(cols, rows int) {
	in.size.Store(&[2]int{cols, rows})
	if in.cut.Swap(true) {
		return // an earlier event is still waiting for a draw
	}
	in.events.push(tcell.NewEventResize(cols, rows))
}

// parseColor parses rgb:R/G/B with 1 to 4 hex digits each.
func parseColor(s string) (tcell.Color, bool) {
	s, ok := strings.CutPrefix(s, "rgb:")
	parts := strings.Split(s, "/")
	if !ok || len(parts) != 3 {
		return 0, false
	}
	var rgb [3]int32
	for i, p := range parts {
		if len(p) == 0 || len(p) > 4 {
			return 0, false
		}
		v, err := strconv.ParseUint(p, 16, 16)
		if err != nil {
			return 0, false
		}
		rgb[i] = int32(v * 255 / (1<<(4*len(p)) - 1))
	}
	return tcell.NewRGBColor(rgb[0], rgb[1], rgb[2]), true
}

// drain receives tcell's events until Fini, so that tcell's goroutines never block.
func (s *Screen) drain(source <-chan tcell.Event) {
	defer s.Guard()
	defer close(s.life.drainDone) // before Guard, which waits for it
	for {
		select {
		case ev := <-source:
			if _, ended := ev.(*tcell.EventError); ended {
				s.inbox.failed(s.tty.readingEnded())
				continue
			}
			s.inbox.filter(ev)
		case <-s.life.draining:
			return
		}
	}
}

// AskBackground asks the terminal for its background colour. Call it after the first frame; not every terminal answers.
func (s *Screen) AskBackground() {
	s.inbox.mu.Lock()
	s.inbox.asked = time.Now()
	s.inbox.mu.Unlock()
	_, _ = s.tty.Write([]byte("\x1b]11;?\x1b\\"))
}

// PollEvent waits for the next event. It returns nil after Fini.
func (s *Screen) PollEvent() tcell.Event { return s.inbox.events.pop(s.life.stop, nil) }

// HasPendingEvent reports whether PollEvent would return at once.
func (s *Screen) HasPendingEvent() bool { return s.inbox.events.len() > 0 }

// Lend lends the screen to a user, such as a loop. From now on h receives the special events, including queued ones.
// Call Lend before Init, and for each further user. The lease's PollEvent returns nil after Fini of the lease or of the
// screen. The lease's Fini also ends the screen, unless kept returns true.
func (s *Screen) Lend(h Handlers, kept func() bool) *Lease {
	s.inbox.setHandlers(h)
	return &Lease{Screen: s, kept: kept, quit: make(chan struct{})}
}

// Lease is the screen as lent to one user; see [Screen.Lend].
type Lease struct {
	*Screen
	kept func() bool
	once sync.Once
	quit chan struct{}
}

// Deliver calls the handler of the special event that ev carries and returns true. For an ordinary key it returns
// false. Call it first in tview's input capture.
func (l *Lease) Deliver(ev *tcell.EventKey) bool {
	if ev.Key() != carrier {
		return false
	}
	l.inbox.deliver(ev)
	return true
}

// Unread puts events back at the front, for the next user.
func (l *Lease) Unread(events []tcell.Event) { l.inbox.events.unread(events) }

// PollEvent waits for the next event. It returns nil after Fini.
func (l *Lease) PollEvent() tcell.Event { return l.inbox.events.pop(l.life.stop, l.quit) }

// Fini ends the lease.
func (l *Lease) Fini() {
	l.once.Do(func() { close(l.quit) })
	if !l.kept() {
		l.Screen.Fini()
	}
}

// PostEvent queues ev for PollEvent. It never fails.
func (s *Screen) PostEvent(ev tcell.Event) error {
	s.inbox.events.push(ev)
	return nil
}

// PostEventWait is [Screen.PostEvent].
func (s *Screen) PostEventWait(ev tcell.Event) { s.inbox.events.push(ev) }

// ChannelEvents sends events to ch until quit is closed or Fini is called.
func (s *Screen) ChannelEvents(ch chan<- tcell.Event, quit <-chan struct{}) {
	defer close(ch)
	for {
		ev := s.inbox.events.pop(s.life.stop, quit)
		if ev == nil {
			return
		}
		select {
		case ch <- ev:
		case <-quit:
			return
		case <-s.life.stop:
			return
		}
	}
}

// EnableMouse enables reports of buttons and drags, whatever the flags, because reports of every motion would wake the
// program for nothing.
func (s *Screen) EnableMouse(...tcell.MouseFlags) {
	s.Screen.EnableMouse(tcell.MouseButtonEvents | tcell.MouseDragEvents)
}

// SetMouse sets whether the program gets mouse events; by default it gets them. Without them, the terminal uses the
// mouse itself, to select text. Call it before Init or on the UI goroutine.
func (s *Screen) SetMouse(on bool) {
	changed := s.mouse != on
	s.mouse = on
	switch {
	case !changed || !s.life.started.Load():
	case on:
		s.EnableMouse()
	default:
		s.DisableMouse()
	}
}
