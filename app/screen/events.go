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
	// carrier is the code of a key event that brings another event past tview.
	carrier tcell.Key = 20000

	// backgroundTime limits how long an answer to AskBackground counts. What comes later
	// is taken out of the input all the same.
	backgroundTime = 200 * time.Millisecond
)

// Handlers are told of what tview does not pass on. All but Failed are called on the
// UI goroutine by [Lease.Deliver], in order with the keys. Any may be nil.
type Handlers struct {
	// Paste gets a whole bracketed paste.
	Paste func(Paste)

	// Focus tells whether the terminal has the focus now.
	Focus func(focused bool)

	// Background gets the terminal's background colour after AskBackground, if the
	// answer came within 200 ms.
	Background func(tcell.Color)

	// Failed is told, from any goroutine, that the terminal cannot be read any more.
	Failed func(error)
}

// inbox holds what waits for PollEvent, and what travels between those keys as a carrier
// key: each carrier in events has its call, which runs in order with the keys.
type inbox struct {
	events *queue
	size   atomic.Pointer[[2]int] // columns and rows of the next frame
	cut    atomic.Bool            // the terminal had another size since the last frame

	mu       sync.Mutex // guards what follows
	handlers Handlers
	calls    map[*tcell.EventKey]func(Handlers)
	pastes   []Paste // complete, their end has not passed tcell yet
	asked    time.Time
}

func newInbox() *inbox {
	return &inbox{events: newQueue(), calls: map[*tcell.EventKey]func(Handlers){}}
}

// setHandlers sets who is told of special events, also of those that wait already.
func (in *inbox) setHandlers(h Handlers) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.handlers = h
}

// deliver runs the call of a carrier.
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

// paste keeps a paste until its end marker has passed tcell.
func (in *inbox) paste(p Paste) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pastes = append(in.pastes, p)
}

// filter takes an event of tcell.
func (in *inbox) filter(ev tcell.Event) {
	switch ev := ev.(type) {
	case *tcell.EventKey:
		in.events.push(normal(ev))
	case *tcell.EventPaste:
		in.deliverPastes()
	case *tcell.EventResize: // our own come from the terminal, see resized
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

// normal gives one name to what terminals send for Alt+Enter.
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

// failed tells the handler that the terminal cannot be read any more, unless err is nil.
func (in *inbox) failed(err error) {
	in.mu.Lock()
	failed := in.handlers.Failed
	in.mu.Unlock()
	if failed != nil && err != nil {
		failed(err)
	}
}

// answered takes an answer of the terminal, such as "11;rgb:ffff/ffff/ffff" with its background.
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

// resized tells tview of the terminal's new size. The next frame is painted in full even
// if the size is that of the last one: on the way there the terminal may have cut it.
func (in *inbox) resized(cols, rows int) {
	in.size.Store(&[2]int{cols, rows})
	if in.cut.Swap(true) {
		return // there is an event that nobody has drawn for
	}
	in.events.push(tcell.NewEventResize(cols, rows))
}

// parseColor reads rgb:R/G/B with 1 to 4 hex digits each.
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

// drain takes tcell's events, so that its goroutines never wait, until Fini.
func (s *Screen) drain(source <-chan tcell.Event) {
	defer s.Guard()
	defer close(s.life.drainDone) // first, since Guard waits for it
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

// AskBackground asks the terminal for its background colour. Call it after the first
// frame; a terminal that does not know answers nothing.
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

// Lend lends the screen to one user, whom h tells of special events from now on, also of
// those that wait already. It is called before Init, and when another user takes over. What
// the lease polls ends with its Fini or with the screen. Unless kept returns true, its Fini
// is the screen's.
func (s *Screen) Lend(h Handlers, kept func() bool) *Lease {
	s.inbox.setHandlers(h)
	return &Lease{Screen: s, kept: kept, quit: make(chan struct{})}
}

// Lease is the screen for one user.
type Lease struct {
	*Screen
	kept func() bool
	once sync.Once
	quit chan struct{}
}

// Deliver runs the handler of the event that ev stands for and reports true, or false
// for an ordinary key. It is the first thing to do in tview's input capture.
func (l *Lease) Deliver(ev *tcell.EventKey) bool {
	if ev.Key() != carrier {
		return false
	}
	l.inbox.deliver(ev)
	return true
}

// Unread puts events back before those that wait, for the next user.
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

// ChannelEvents sends events to ch until quit is closed or Fini was called.
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

// EnableMouse asks for buttons and drags, whatever the flags: reports of every motion
// would wake the program for nothing.
func (s *Screen) EnableMouse(...tcell.MouseFlags) {
	s.Screen.EnableMouse(tcell.MouseButtonEvents | tcell.MouseDragEvents)
}

// SetMouse says whether mouse events come from the terminal, which they do at first. If not, the terminal uses the
// mouse itself, to select text. It is called before Init or on the UI goroutine.
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
