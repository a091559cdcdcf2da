// Package screen is a layer between tview and tcell that draws the screen with little output, and loses no input.
//
// A [Screen] is a [tcell.Screen] for tview. It writes only the cells that differ from the last frame, removes control
// and bidirectional characters, and keeps events that tview would drop. It does not let tcell draw, because tview
// clears the screen before it draws, so that tcell would write every cell again. A [Tty] between tcell and the
// terminal writes each frame at once, and separates pastes and the terminal's replies from keys.
//
//	s, err := screen.Open() // among the first lines of main: keeps keys that are typed early
//	if err != nil {
//		return err
//	}
//	defer s.Fini()
//	app := tview.NewApplication().SetScreen(s)
//
// Drawing and [Lease.Deliver] belong to the UI goroutine; Init, Fini, Guard and PollEvent may be called from any
// goroutine.
package screen

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"
)

// endTime limits how long Fini waits for tcell and for a terminal that does not read.
const endTime = time.Second

// Screen is a tcell.Screen with a cell diff, a sanitizer and an event filter. Create it with [Open] or [New].
type Screen struct {
	tcell.Screen // tcell's terminfo screen
	tty          *Tty
	info         *terminfo.Terminfo
	frame        frame // only on the UI goroutine
	inbox        *inbox
	mouse        bool // whether the program uses the mouse
	life         life
}

// life is the state of starting and ending.
type life struct {
	mu        sync.Mutex // guards starting, suspending and resuming
	started   atomic.Bool
	once      sync.Once
	ended     atomic.Bool
	stop      chan struct{} // closed at the end: PollEvent returns nil
	draining  chan struct{} // closed at the end: tcell sends no more events
	drainDone chan struct{}
}

// Open opens the terminal that the program was started in. The error wraps [ErrNotTerminal] if stdin or stdout is not a
// terminal.
func Open() (*Screen, error) {
	tty, err := openTty()
	if err != nil {
		return nil, err
	}
	s, err := New(tty, os.Getenv("TERM"))
	if err != nil {
		return nil, errors.Join(err, tty.Close())
	}
	return s, nil
}

// New returns a screen on tty, for a terminal of type term as in $TERM; unknown types are treated as xterm-256color.
// The screen owns tty.
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
	own.PadChar = "" // today's terminals need no pauses
	inner, err := tcell.NewTerminfoScreenFromTtyTerminfo(tty, &own)
	if err != nil {
		return nil, fmt.Errorf("terminal %q: %w", term, err)
	}
	s := &Screen{Screen: inner, info: &own, tty: tty, frame: newFrame(), inbox: newInbox(), mouse: true}
	s.life.stop, s.life.draining = make(chan struct{}), make(chan struct{})
	s.life.drainDone = make(chan struct{})
	tty.out.gap, tty.out.sync, tty.out.hides = s.frame.gap, own.XTermLike, own.HideCursor != ""
	tty.out.wraps = own.AutoMargin && own.DisableAutoMargin == ""
	tty.in.linux = term == "linux"
	tty.in.pasted, tty.in.reply = s.inbox.paste, s.inbox.answered
	tty.in.key = func(ev *tcell.EventKey) { s.inbox.events.push(ev) }
	return s, nil
}

// Init takes control of the terminal, with paste and focus reports, and the mouse unless [Screen.SetMouse] disabled it.
// Further calls do nothing, because tview calls Init again and drops the error.
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
	s.tty.startReading()
	if err := s.Screen.Init(); err != nil {
		if errors.Is(err, tcell.ErrNoCharset) {
			err = fmt.Errorf("%w: set LC_ALL to a UTF-8 locale, such as C.UTF-8", err)
		}
		return errors.Join(err, s.tty.Close())
	}
	s.life.started.Store(true)
	s.frame.encoder = newStyleEncoder(s.info, s.Colors(), s.CharacterSet())
	go s.drain(source.EventQ())
	s.tty.dev.Resized(func() { s.inbox.resized(s.tty.size()) })
	cut := s.inbox.cut.Swap(false)
	cols, rows := s.tty.size()
	s.inbox.size.Store(&[2]int{cols, rows})
	s.frame.fit(cols, rows, cut)
	s.EnablePaste()
	s.EnableFocus()
	if s.mouse {
		s.EnableMouse()
	}
	return nil
}

// Suspend restores the terminal for a while, for instance for an editor.
func (s *Screen) Suspend() error {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	s.tty.stopReading()
	s.tty.hold()
	defer s.tty.release()
	return s.Screen.Suspend()
}

// Resume takes control of the terminal again after [Screen.Suspend]; the next frame paints everything.
func (s *Screen) Resume() error {
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	s.tty.startReading()
	s.tty.hold()
	defer s.tty.release()
	s.frame.stale = true
	if cols, rows := s.tty.size(); cols != s.frame.w || rows != s.frame.h {
		s.inbox.resized(cols, rows)
	}
	return s.Screen.Resume()
}

// Fini restores the terminal. It may be called from any goroutine and more than once, also during a panic, and takes at
// most about 3 seconds.
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
	s.tty.stopReading()
	s.LimitWrites(endTime) // again, because time has passed
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

// LimitWrites makes writes to the terminal fail once d has passed, so that a stuck terminal does not block the end of
// the program.
func (s *Screen) LimitWrites(d time.Duration) { s.tty.dev.LimitWrites(d) }

// Guard restores the terminal when the goroutine panics, before the panic continues and is printed. Defer it in every
// goroutine except the UI's.
func (s *Screen) Guard() {
	if p := recover(); p != nil {
		s.Fini()
		panic(p)
	}
}

// Size returns the columns and rows of the next frame.
func (s *Screen) Size() (cols, rows int) {
	if size := s.inbox.size.Load(); size != nil {
		return size[0], size[1]
	}
	return s.tty.size()
}

// Skip makes the next Show do nothing and drop the Clear before it. It is for tview's before-draw hook: when the hook
// returns true, tview still calls Show.
func (s *Screen) Skip() { s.frame.skip = true }

// Show sends the changes of the frame to the terminal in one write.
func (s *Screen) Show() {
	f := &s.frame
	if f.skip {
		f.skip, f.clearing = false, false
		return
	}
	if s.life.ended.Load() {
		return
	}
	f.settle()
	if f.stale {
		s.repaint()
		return
	}
	s.tty.draw(func(o *output) {
		moved := s.info.XTermLike && f.moveRows(o) // other terminals may not be able to
		if f.forward(o) || moved {                 // a move displaces the cursor
			o.cursor(f.cursor.x, f.cursor.y)
		}
	})
}

// Sync paints the last frame again in full, over whatever the terminal shows.
func (s *Screen) Sync() {
	s.frame.stale = true
	s.frame.skip, s.frame.clearing = false, false
	s.Show()
}

// repaint writes every cell that is not blank.
func (s *Screen) repaint() {
	f := &s.frame
	f.stale = false
	if w, h := s.Screen.Size(); w != f.w || h != f.h {
		s.tty.resize(f.w, f.h)
		s.tty.mute(true) // tcell applies a new size only while it shows a frame, here an empty one
		s.Screen.Show()
		s.tty.mute(false)
	}
	s.tty.draw(func(o *output) {
		o.clear()
		f.markBlank()
		f.forward(o)
		o.cursor(f.cursor.x, f.cursor.y)
	})
}

// ShowCursor sets the position of the cursor for the next frame. Outside of the screen it is hidden.
func (s *Screen) ShowCursor(x, y int) {
	if x < 0 || y < 0 {
		x, y = -1, -1
	}
	s.frame.cursor.x, s.frame.cursor.y = x, y
}

// HideCursor hides the cursor with the next frame.
func (s *Screen) HideCursor() { s.ShowCursor(-1, -1) }

// SetSize does nothing: the user controls the size of the window, the colours of a cell without any, and the shape of
// the cursor.
func (s *Screen) SetSize(int, int) {}

// SetStyle does nothing, see [Screen.SetSize].
func (s *Screen) SetStyle(tcell.Style) {}

// SetCursorStyle does nothing, see [Screen.SetSize].
func (s *Screen) SetCursorStyle(tcell.CursorStyle, ...tcell.Color) {}

// SetTitle sets the title of the window, without control characters. Terminals that support it restore the earlier
// title at the end.
func (s *Screen) SetTitle(title string) { s.Screen.SetTitle(plainText(title)) }

// Call is a way to notify a user who is not looking at the screen.
type Call string

// The ways, by their names in the configuration.
const (
	CallOff    Call = "off"
	CallBell   Call = "bell"
	CallOSC9   Call = "osc9"   // a notification in iTerm2, Windows Terminal, kitty, foot and others
	CallOSC777 Call = "osc777" // the same in urxvt, foot, Ghostty and others
)

// Notify notifies the user. Control characters of text are removed; a bell has no text. A terminal that does not
// support the way does nothing.
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
