package screen

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
)

const (
	// carrier is the code of a key event that brings another event past tview.
	carrier tcell.Key = 20000

	// backgroundTime is how long an answer to AskBackground counts. What comes later
	// is taken out of the input all the same.
	backgroundTime = 200 * time.Millisecond
)

// Handlers are told of what tview does not pass on. All but Failed are called on the
// UI goroutine by [Screen.Deliver], in order with the keys. Any may be nil.
type Handlers struct {
	// Paste gets a whole bracketed paste.
	Paste func(Paste)

	// Focus tells whether the terminal has the focus now.
	Focus func(focused bool)

	// Clipboard gets the answer to GetClipboard.
	Clipboard func(data []byte)

	// Background gets the terminal's background colour after AskBackground, if the
	// answer came within 200 ms.
	Background func(tcell.Color)

	// Failed is told, from any goroutine, that the terminal cannot be read any more.
	Failed func(error)
}

// special holds the events that travel as a carrier key.
type special struct {
	mu       sync.Mutex // guards what follows
	handlers Handlers
	calls    map[*tcell.EventKey]func(Handlers)
	pastes   []Paste // complete, their end has not passed tcell yet
	asked    time.Time
}

// paste keeps a paste until its end marker has passed tcell.
func (sp *special) paste(p Paste) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.pastes = append(sp.pastes, p)
}

// Handle sets who is told of special events, also of those that wait already. It is called
// before Init, and when another user takes over.
func (s *Screen) Handle(h Handlers) {
	s.special.mu.Lock()
	defer s.special.mu.Unlock()
	s.special.handlers = h
}

// Deliver runs the handler of the event that ev stands for and reports true, or false
// for an ordinary key. It is the first thing to do in tview's input capture.
func (s *Screen) Deliver(ev *tcell.EventKey) bool {
	if ev.Key() != carrier {
		return false
	}
	s.special.mu.Lock()
	call, h := s.special.calls[ev], s.special.handlers
	delete(s.special.calls, ev)
	s.special.mu.Unlock()
	if call != nil {
		call(h)
	}
	return true
}

// carry queues call, to run on the UI goroutine after the keys before it.
func (s *Screen) carry(call func(h Handlers)) {
	ev := tcell.NewEventKey(carrier, 0, tcell.ModNone)
	s.special.mu.Lock()
	s.special.calls[ev] = call
	s.special.mu.Unlock()
	s.events.push(ev)
}

// drain takes tcell's events, so that its goroutines never wait, until Fini.
func (s *Screen) drain(source <-chan tcell.Event) {
	defer s.Guard()
	defer close(s.life.drainDone) // first, since Guard waits for it
	for {
		select {
		case ev := <-source:
			s.filter(ev)
		case <-s.life.draining:
			return
		}
	}
}

func (s *Screen) filter(ev tcell.Event) {
	switch ev := ev.(type) {
	case *tcell.EventKey:
		s.events.push(normal(ev))
	case *tcell.EventPaste:
		s.deliverPastes()
	case *tcell.EventResize: // our own come from the terminal, see resized
	case *tcell.EventFocus:
		s.carry(func(h Handlers) {
			if h.Focus != nil {
				h.Focus(ev.Focused)
			}
		})
	case *tcell.EventError:
		s.readingEnded()
	default:
		s.events.push(ev)
	}
}

// normal gives one name to what terminals send for Alt+Enter.
func normal(ev *tcell.EventKey) *tcell.EventKey {
	if ev.Key() == tcell.KeyRune && ev.Modifiers() == tcell.ModCtrl|tcell.ModAlt && (ev.Rune() == 'm' || ev.Rune() == 'j') {
		return tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModAlt)
	}
	return ev
}

func (s *Screen) deliverPastes() {
	s.special.mu.Lock()
	pastes := s.special.pastes
	s.special.pastes = nil
	s.special.mu.Unlock()
	for _, p := range pastes {
		s.carry(func(h Handlers) {
			if h.Paste != nil {
				h.Paste(p)
			}
		})
	}
}

// readingEnded is called once after each start, when tcell's reading goroutine ends.
func (s *Screen) readingEnded() {
	close(*s.life.reading.Load())
	err := s.tty.readErr.Swap(nil)
	if s.tty.interrupted.Load() || err == nil {
		return
	}
	s.special.mu.Lock()
	failed := s.special.handlers.Failed
	s.special.mu.Unlock()
	if failed != nil {
		failed(fmt.Errorf("terminal: %w", *err))
	}
}

// answered takes an answer of the terminal: "11;rgb:ffff/ffff/ffff" or "52;c;base64".
func (s *Screen) answered(reply string) {
	number, data, _ := strings.Cut(reply, ";")
	switch number {
	case "11":
		s.special.mu.Lock()
		late := time.Since(s.special.asked) > backgroundTime
		s.special.mu.Unlock()
		color, ok := parseColor(data)
		if late || !ok {
			return
		}
		s.carry(func(h Handlers) {
			if h.Background != nil {
				h.Background(color)
			}
		})
	case "52":
		_, data, _ = strings.Cut(data, ";")
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return
		}
		s.carry(func(h Handlers) {
			if h.Clipboard != nil {
				h.Clipboard(text)
			}
		})
	}
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

// AskBackground asks the terminal for its background colour. Call it after the first
// frame; a terminal that does not know answers nothing.
func (s *Screen) AskBackground() {
	s.special.mu.Lock()
	s.special.asked = time.Now()
	s.special.mu.Unlock()
	s.tty.ask("\x1b]11;?\x1b\\")
}

// GetClipboard asks the terminal for the clipboard. Many refuse or do not answer.
func (s *Screen) GetClipboard() {
	s.tty.in.awaited.Add(1)
	s.Screen.GetClipboard()
}

// resized tells tview of the terminal's new size. The next frame is painted in full even
// if the size is that of the last one: on the way there the terminal may have cut it.
func (s *Screen) resized() {
	cols, rows := s.tty.size()
	s.life.size.Store(&[2]int{cols, rows})
	if s.life.cut.Swap(true) {
		return // there is an event that nobody has drawn for
	}
	s.events.push(tcell.NewEventResize(cols, rows))
}

// PollEvent waits for the next event. It returns nil after Fini.
func (s *Screen) PollEvent() tcell.Event { return s.events.pop(s.life.stop, nil) }

// HasPendingEvent reports whether PollEvent would return at once.
func (s *Screen) HasPendingEvent() bool { return s.events.len() > 0 }

// Unread puts events back before those that wait, for another user of the screen.
func (s *Screen) Unread(events []tcell.Event) { s.events.unread(events) }

// Lend returns the screen for one user: what it polls ends with its Fini or with the
// screen. Unless kept returns true, its Fini is the screen's.
func (s *Screen) Lend(kept func() bool) tcell.Screen {
	return &lent{Screen: s, kept: kept, quit: make(chan struct{})}
}

type lent struct {
	*Screen
	kept func() bool
	once sync.Once
	quit chan struct{}
}

func (l *lent) PollEvent() tcell.Event { return l.events.pop(l.life.stop, l.quit) }

func (l *lent) Fini() {
	l.once.Do(func() { close(l.quit) })
	if !l.kept() {
		l.Screen.Fini()
	}
}

// PostEvent queues ev for PollEvent. It never fails.
func (s *Screen) PostEvent(ev tcell.Event) error {
	s.events.push(ev)
	return nil
}

// PostEventWait is [Screen.PostEvent].
func (s *Screen) PostEventWait(ev tcell.Event) { s.events.push(ev) }

// ChannelEvents sends events to ch until quit is closed or Fini was called.
func (s *Screen) ChannelEvents(ch chan<- tcell.Event, quit <-chan struct{}) {
	defer close(ch)
	for {
		ev := s.events.pop(s.life.stop, quit)
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
