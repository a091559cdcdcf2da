package screen

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
)

// Device is the terminal that a [Tty] uses: the real one, or one in memory for tests.
type Device interface {
	// Start switches the terminal to raw mode. Stop restores the earlier mode. Both may be called repeatedly.
	Start() error
	Stop() error

	// Read blocks until something is typed or [Device.Interrupt] is called.
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)

	// Interrupt makes Read fail, now and until the next Start.
	Interrupt()

	// LimitWrites makes writes fail once d has passed, until the next Start.
	LimitWrites(d time.Duration)

	// Size returns columns and rows. Resized registers a function, called from any goroutine after they have changed;
	// nil unregisters it.
	Size() (cols, rows int, err error)
	Resized(f func())

	Close() error
}

var errInterrupted = errors.New("reading the terminal was interrupted")

// Tty is the tcell.Tty between tcell and the terminal. It writes each frame in one piece, and keeps pastes and the
// terminal's replies away from tcell's parser. Bytes that were typed before the screen was opened are read first.
type Tty struct {
	dev Device
	in  input // used by the reading goroutine

	reading     atomic.Pointer[chan struct{}] // closed when tcell's reading has ended
	interrupted atomic.Bool
	ended       atomic.Bool // nothing is written any more
	readErr     atomic.Pointer[error]

	mu    sync.Mutex // guards the fields below
	out   output
	held  int  // while positive, output waits for release
	muted bool // output is dropped
	cols  int
	rows  int
}

// NewTty returns a Tty on dev. early holds bytes that were typed before this call.
func NewTty(dev Device, early []byte) *Tty {
	t := &Tty{dev: dev}
	t.in.pasted, t.in.reply, t.in.key = func(Paste) {}, func(string) {}, func(*tcell.EventKey) {}
	t.in.feed(bytes.ReplaceAll(early, []byte("\n"), []byte("\r"))) // Enter, as the cooked terminal reported it
	t.in.burst.now = time.Now
	t.cols, t.rows = t.size()
	t.out.reset(t.cols)
	return t
}

// size returns the size of the terminal, or a common default.
func (t *Tty) size() (cols, rows int) {
	cols, rows, err := t.dev.Size()
	if err != nil || cols <= 0 || rows <= 0 {
		return 80, 24
	}
	return cols, rows
}

// Start implements [tcell.Tty].
func (t *Tty) Start() error {
	t.mu.Lock()
	t.out.reset(t.cols)
	t.mu.Unlock()
	t.interrupted.Store(false)
	if err := t.dev.Start(); err != nil {
		return fmt.Errorf("terminal: raw mode: %w", err)
	}
	return nil
}

// Stop implements [tcell.Tty]. It writes held output before it restores the terminal.
func (t *Tty) Stop() error {
	t.mu.Lock()
	t.flush()
	t.mu.Unlock()
	return t.dev.Stop()
}

// Close implements [tcell.Tty]. Nothing is written to the terminal afterwards.
func (t *Tty) Close() error {
	if t.ended.Swap(true) {
		return nil
	}
	return errors.Join(t.dev.Stop(), t.dev.Close())
}

// Drain implements [tcell.Tty].
func (t *Tty) Drain() error {
	t.interrupt()
	return nil
}

// NotifyResize implements [tcell.Tty]. It ignores the callback, because tcell would repaint the old frame at the new
// size. [Screen] resizes with the next frame.
func (t *Tty) NotifyResize(func()) {}

// WindowSize implements [tcell.Tty] with the size that the frame was drawn for.
func (t *Tty) WindowSize() (tcell.WindowSize, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return tcell.WindowSize{Width: t.cols, Height: t.rows}, nil
}

// Read implements [tcell.Tty].
func (t *Tty) Read(p []byte) (int, error) {
	var buf []byte
	for {
		if t.interrupted.Load() {
			return 0, errInterrupted
		}
		if n := copy(p, t.in.out); n > 0 {
			if n > 1 && n < len(t.in.out) && p[n-1] == esc {
				n-- // tcell would wait for the rest, and might report Esc
			}
			t.in.out = t.in.out[n:]
			return n, nil
		}
		if buf == nil {
			buf = make([]byte, 4096) // the size of a terminal's line buffer
		}
		t.in.out = t.in.out[:0]
		n, err := t.wait(buf)
		if err != nil {
			t.readErr.Store(&err)
			return 0, err
		}
		t.in.feed(buf[:n])
	}
}

// wait reads from the terminal. Held bytes that may be a key are reported as a key if no bytes arrive within keyTime.
func (t *Tty) wait(buf []byte) (int, error) {
	if t.in.pending() {
		defer time.AfterFunc(keyTime, t.in.expire).Stop()
	}
	return t.dev.Read(buf)
}

// interrupt makes Read fail until the next Start.
func (t *Tty) interrupt() {
	t.interrupted.Store(true)
	t.dev.Interrupt()
}

// startReading records that tcell is about to start its reading goroutine.
func (t *Tty) startReading() {
	ended := make(chan struct{})
	t.reading.Store(&ended)
}

// stopReading ends tcell's reading goroutine. It must be called before tcell ends or suspends, because afterwards
// unread input would block the goroutine forever.
func (t *Tty) stopReading() {
	t.interrupt()
	select {
	case <-*t.reading.Load():
	case <-time.After(endTime):
	}
}

// readingEnded is called once after each start, when tcell's reading goroutine has ended. It returns the error that
// ended it, nil if it was stopped intentionally.
func (t *Tty) readingEnded() error {
	close(*t.reading.Load())
	err := t.readErr.Swap(nil)
	if t.interrupted.Load() || err == nil {
		return nil
	}
	return fmt.Errorf("terminal: %w", *err)
}

// Write implements [tcell.Tty]. It never returns an error: if the terminal is gone, Read does.
func (t *Tty) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.muted {
		return len(p), nil
	}
	t.out.pass(p)
	if t.held == 0 {
		t.flush()
	}
	return len(p), nil
}

// draw writes a frame, whose cells f writes to o.
func (t *Tty) draw(f func(o *output)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.frame = true
	f(&t.out)
	if t.held == 0 {
		t.flush()
	}
}

// flush writes the frame. The caller holds t.mu.
func (t *Tty) flush() {
	frame := t.out.finish()
	if len(frame) == 0 || t.ended.Load() {
		return
	}
	_, _ = t.dev.Write(frame)
}

// hold collects output until release is called, which writes it in one piece.
func (t *Tty) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held++
}

func (t *Tty) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held--; t.held == 0 {
		t.flush()
	}
}

// resize sets the size that WindowSize returns.
func (t *Tty) resize(cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cols, t.rows = cols, rows
	t.out.cols = cols
}

func (t *Tty) mute(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.muted = on
}

// rescue restores the terminal when tcell can't.
func (t *Tty) rescue() {
	if t.ended.Swap(true) {
		return
	}
	const reset = syncEnd + "\x1b[m\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b[?2004l\x1b[?1004l" +
		"\x1b[?9001l\x1b[<u\x1b[>4;0m\x1b[?7h\x1b[?1l\x1b>\x1b[?1049l" + showCursor
	t.dev.LimitWrites(endTime)
	_, _ = t.dev.Write([]byte(reset))
	_ = t.dev.Stop()
	_ = t.dev.Close()
}
