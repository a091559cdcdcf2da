// Package screen puts a thin layer under and over tcell, so that tview draws well.
//
// A [Screen] is a [tcell.Screen] between tview and tcell. It forwards only the cells
// that differ from the last frame (tview clears before it draws, which makes tcell send
// every cell again), lets no control or bidi rune through, and keeps the events that
// tview would drop. A [Tty] below tcell writes each frame at once and without what the
// terminal knows already, and keeps pastes and terminal answers out of the keys.
//
//	s, err := screen.Open() // among the first lines of main: keeps what is typed early
//	if err != nil {
//		return err
//	}
//	defer s.Fini()
//	app := tview.NewApplication().SetScreen(s)
//
// Drawing and [Screen.Deliver] belong to the UI goroutine; Init, Fini, Guard and
// PollEvent may be called from any.
package screen

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"
)

// endTime is how long Fini waits for tcell and for a terminal that does not read.
const endTime = time.Second

// Screen is a tcell.Screen with a cell diff, a sanitiser and an event filter.
// Create it with [Open] or [New].
type Screen struct {
	tcell.Screen // tcell's terminfo screen
	tty          *Tty

	grid   grid // UI goroutine
	cursor cursor
	skip   bool
	stale  bool // the terminal needs a full repaint

	events  *queue
	special special
	life    life
}

// cursor is where the cursor should be and where tcell has it; hidden at -1, -1.
type cursor struct {
	x, y           int
	shownX, shownY int
	restyled       bool
}

// life is the state of starting and ending.
type life struct {
	mu        sync.Mutex // guards starting, suspending and resuming
	started   atomic.Bool
	reading   atomic.Pointer[chan struct{}] // closed when tcell's reading has ended
	size      atomic.Pointer[[2]int]        // columns and rows of the next frame
	cut       atomic.Bool                   // the terminal had another size since the last frame
	once      sync.Once
	ended     atomic.Bool
	stop      chan struct{} // closed at the end: PollEvent returns nil
	draining  chan struct{} // closed at the end: nothing more comes from tcell
	drainDone chan struct{}
}

// Open opens the terminal that the program was started in. The error wraps
// [ErrNotTerminal] if stdin or stdout is none.
func Open() (*Screen, error) {
	tty, err := OpenTty()
	if err != nil {
		return nil, err
	}
	s, err := New(tty, os.Getenv("TERM"))
	if err != nil {
		return nil, errors.Join(err, tty.Close())
	}
	return s, nil
}

// New returns a screen on tty, for a terminal of type term as in $TERM; an unknown
// type is taken for xterm-256color. The screen owns tty.
func New(tty *Tty, term string) (*Screen, error) {
	if term == "dumb" {
		return nil, fmt.Errorf("TERM=%q cannot show a full screen", term)
	}
	info, err := terminfo.LookupTerminfo(term)
	if err != nil {
		if info, err = terminfo.LookupTerminfo("xterm-256color"); err != nil {
			return nil, err
		}
	}
	own := *info     // tcell writes to it
	own.PadChar = "" // no terminal of today needs pauses
	inner, err := tcell.NewTerminfoScreenFromTtyTerminfo(tty, &own)
	if err != nil {
		return nil, fmt.Errorf("terminal %q: %w", term, err)
	}
	s := &Screen{Screen: inner, tty: tty, events: newQueue()}
	s.cursor = cursor{x: -1, y: -1, shownX: -1, shownY: -1}
	s.grid.ink = newInk()
	s.special.calls = map[*tcell.EventKey]func(Handlers){}
	s.life.stop, s.life.draining = make(chan struct{}), make(chan struct{})
	s.life.drainDone = make(chan struct{})
	tty.out.gap = s.gap
	tty.in.pasted, tty.in.reply = s.special.paste, s.answered
	return s, nil
}

// Init takes over the terminal, with mouse, paste and focus reports. Further calls
// do nothing: tview calls it again and drops the error.
func (s *Screen) Init() error {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	if s.life.started.Load() {
		return nil
	}
	source, ok := s.Screen.(interface{ EventQ() chan tcell.Event })
	if !ok {
		return errors.New("this version of tcell does not give out its event queue")
	}
	s.tty.hold()
	defer s.tty.release()
	s.startReading()
	if err := s.Screen.Init(); err != nil {
		if errors.Is(err, tcell.ErrNoCharset) {
			err = fmt.Errorf("%w: set LC_ALL to a UTF-8 locale, such as C.UTF-8", err)
		}
		return errors.Join(err, s.tty.Close())
	}
	s.life.started.Store(true)
	go s.drain(source.EventQ())
	s.tty.dev.Resized(s.resized)
	cols, rows := s.tty.size()
	s.life.size.Store(&[2]int{cols, rows})
	s.fit()
	s.EnablePaste()
	s.EnableFocus()
	s.EnableMouse()
	return nil
}

func (s *Screen) startReading() {
	ended := make(chan struct{})
	s.life.reading.Store(&ended)
}

// stopReading ends tcell's reading goroutine. It must be gone before tcell ends or
// suspends, or it blocks for ever with input that nobody takes.
func (s *Screen) stopReading() {
	s.tty.interrupt()
	select {
	case <-*s.life.reading.Load():
	case <-time.After(endTime):
	}
}

// Suspend gives the terminal back for a while, for instance to an editor.
func (s *Screen) Suspend() error {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	s.stopReading()
	s.tty.hold()
	defer s.tty.release()
	return s.Screen.Suspend()
}

// Resume takes the terminal again after [Screen.Suspend]; the next frame paints all.
func (s *Screen) Resume() error {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	s.startReading()
	s.tty.hold()
	defer s.tty.release()
	s.stale = true
	if cols, rows := s.tty.size(); cols != s.grid.w || rows != s.grid.h {
		s.resized()
	}
	return s.Screen.Resume()
}

// Fini gives the terminal back. It may be called from any goroutine and more than
// once, also while a panic is on its way, and takes at most about 3 seconds.
func (s *Screen) Fini() { s.life.once.Do(s.finish) }

func (s *Screen) finish() {
	s.life.ended.Store(true)
	defer close(s.life.stop)
	if !s.life.started.Load() {
		_ = s.tty.Close()
		return
	}
	s.tty.dev.Resized(nil)
	s.LimitWrites(endTime)
	s.stopReading()
	s.LimitWrites(endTime) // again, now that time has passed
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.tty.hold()
		defer s.tty.release()
		s.Screen.Fini()
	}()
	select {
	case <-ended:
	case <-time.After(endTime): // a panic in tcell has left it locked
		s.tty.rescue()
	}
	close(s.life.draining)
	<-s.life.drainDone
}

// LimitWrites makes a write fail that the terminal does not take within d, from now
// on. It is for the end: nobody waits for a terminal that is stuck.
func (s *Screen) LimitWrites(d time.Duration) { s.tty.dev.LimitWrites(d) }

// Guard is to be deferred in every goroutine but the UI's: when it panics, the
// terminal is restored before the panic goes on and is printed.
func (s *Screen) Guard() {
	if p := recover(); p != nil {
		s.Fini()
		panic(p)
	}
}

// Size returns the columns and rows that the next frame will have.
func (s *Screen) Size() (cols, rows int) {
	if size := s.life.size.Load(); size != nil {
		return size[0], size[1]
	}
	return s.tty.size()
}

// fit makes the frame as large as the terminal.
func (s *Screen) fit() {
	cut := s.life.cut.Swap(false)
	if w, h := s.Size(); w != s.grid.w || h != s.grid.h {
		s.grid.resize(w, h)
		s.stale = true
	}
	s.stale = s.stale || cut
}

// Skip makes the next Show do nothing and forget the Clear before it. It is for
// tview's before-draw hook: when the hook returns true, tview still calls Show.
func (s *Screen) Skip() { s.skip = true }

// Show brings the frame to the terminal, with one write and only what changed.
func (s *Screen) Show() {
	if s.skip {
		s.skip, s.grid.clearing = false, false
		return
	}
	if s.life.ended.Load() {
		return
	}
	s.grid.settle()
	if s.stale {
		s.repaint()
		return
	}
	if s.forward() {
		s.tty.hold()
		defer s.tty.release()
		s.Screen.Show()
	}
}

// Sync paints the last frame again in full, over whatever the terminal shows.
func (s *Screen) Sync() {
	s.stale = true
	s.skip, s.grid.clearing = false, false
	s.Show()
}

// repaint sends every cell.
func (s *Screen) repaint() {
	s.stale = false
	if w, h := s.Screen.Size(); w != s.grid.w || h != s.grid.h {
		s.tty.resize(s.grid.w, s.grid.h)
		s.tty.mute(true) // tcell takes a new size only while it shows a frame, here the old one
		s.Screen.Show()
		s.tty.mute(false)
	}
	s.grid.forget()
	s.forward()
	s.tty.hold()
	defer s.tty.release()
	s.Screen.Sync()
}

// forward hands to tcell what differs from the frame that is shown, and reports
// whether anything did.
func (s *Screen) forward() bool {
	g := &s.grid
	changed := false
	for i := range g.back {
		if c := &g.back[i]; *c != g.front[i] {
			s.Screen.Put(i%g.w, i/g.w, g.ink.string(c.text), g.ink.styles[c.style])
			g.front[i] = *c
			changed = true
		}
	}
	g.shown()
	c := &s.cursor
	if c.x != c.shownX || c.y != c.shownY {
		s.Screen.ShowCursor(c.x, c.y)
		c.shownX, c.shownY = c.x, c.y
		changed = true
	}
	if c.restyled {
		c.restyled = false
		changed = true
	}
	return changed
}

// gap is output's: the terminal shows front, but for what the frame has not written yet.
// It is called while tcell shows a frame, on the UI goroutine.
func (s *Screen) gap(x, y, n int) []byte {
	g := &s.grid
	if x < 1 || y < 0 || y >= g.h || x+n > g.w {
		return nil
	}
	row := g.front[y*g.w : (y+1)*g.w]
	style := row[x-1].style
	if st := g.ink.styles[style]; st != st.Url("") {
		return nil
	}
	text := make([]byte, 0, shortGap)
	for _, c := range row[x : x+n] {
		if c.text < ' ' || c.text >= utf8.RuneSelf || c.style != style {
			return nil
		}
		text = append(text, byte(c.text))
	}
	return text
}

// ShowCursor puts the cursor at x, y with the next frame; outside of the screen it
// is hidden.
func (s *Screen) ShowCursor(x, y int) {
	if x < 0 || y < 0 {
		x, y = -1, -1
	}
	s.cursor.x, s.cursor.y = x, y
}

// HideCursor hides the cursor with the next frame.
func (s *Screen) HideCursor() { s.ShowCursor(-1, -1) }

// SetCursorStyle sets the shape of the cursor with the next frame.
func (s *Screen) SetCursorStyle(style tcell.CursorStyle, colors ...tcell.Color) {
	s.Screen.SetCursorStyle(style, colors...)
	s.cursor.restyled = true
}

// SetStyle sets the style of cells drawn with tcell.StyleDefault.
func (s *Screen) SetStyle(style tcell.Style) {
	s.Screen.SetStyle(style)
	s.stale = true
}

// SetSize does nothing: the size of the window is the person's business.
func (s *Screen) SetSize(int, int) {}

// SetTitle sets the title of the window, without control characters. The one that there
// was before comes back at the end, in terminals that can keep it.
func (s *Screen) SetTitle(title string) { s.Screen.SetTitle(plainText(title)) }

// Call is a way to call a person who looks elsewhere.
type Call string

// The ways, by their names in the configuration.
const (
	CallOff    Call = "off"
	CallBell   Call = "bell"
	CallOSC9   Call = "osc9"   // a notification in iTerm2, Windows Terminal, kitty, foot and others
	CallOSC777 Call = "osc777" // the same in urxvt, foot, Ghostty and others
)

// Notify calls the person. Control characters of text are left out; a bell has none. A
// terminal that does not know the way does nothing.
func (s *Screen) Notify(how Call, text string) {
	text = plainText(text)
	switch how {
	case CallBell:
		text = "\a"
	case CallOSC9:
		text = "\x1b]9;" + text + "\a"
	case CallOSC777:
		text = "\x1b]777;notify;buddy;" + strings.ReplaceAll(text, ";", ",") + "\a"
	default:
		return
	}
	_, _ = s.tty.Write([]byte(text))
}

// Output returns how many frames and other sequences were written to the terminal,
// and how many bytes that were.
func (s *Screen) Output() (writes int, bytes int64) {
	s.tty.mu.Lock()
	defer s.tty.mu.Unlock()
	return s.tty.frames, s.tty.bytes
}
