package apptest

import (
	"errors"
	"os"
	"strings"
	"sync"
	"time"
)

// Terminal is a terminal in memory. It implements screen.Device and turns the bytes that
// reach it into the screen that a person would see. All its methods may be called from any
// goroutine.
type Terminal struct {
	mu          sync.Mutex // guards the fields below
	vt          *vt
	typed       []byte
	gone        error
	raw         bool
	interrupted bool
	stuck       bool
	resized     func()
	written     []byte
	writes      int
	deadline    time.Time // of writes; zero for none

	changed chan struct{} // closed and replaced when a field above changes
}

// NewTerminal returns a terminal of the given size. A test with a synctest bubble must call it inside the bubble.
func NewTerminal(cols, rows int) *Terminal {
	return &Terminal{vt: newVT(cols, rows), changed: make(chan struct{})}
}

// change runs f with the lock held, and wakes all blocked reads and writes.
func (t *Terminal) change(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
	close(t.changed)
	t.changed = make(chan struct{})
}

// Start implements screen.Device.
func (t *Terminal) Start() error {
	t.change(func() { t.raw, t.interrupted, t.deadline = true, false, time.Time{} })
	return nil
}

// Stop implements screen.Device.
func (t *Terminal) Stop() error {
	t.change(func() { t.raw = false })
	return nil
}

// Read implements screen.Device.
func (t *Terminal) Read(p []byte) (int, error) {
	for {
		t.mu.Lock()
		changed := t.changed
		n := copy(p, t.typed)
		t.typed = t.typed[n:]
		interrupted, gone := t.interrupted, t.gone
		t.mu.Unlock()
		switch {
		case interrupted:
			return 0, os.ErrDeadlineExceeded
		case n > 0:
			return n, nil
		case gone != nil:
			return 0, gone
		}
		<-changed
	}
}

// Write implements screen.Device.
func (t *Terminal) Write(p []byte) (int, error) {
	for {
		t.mu.Lock()
		changed, stuck, left := t.changed, t.stuck, time.Until(t.deadline)
		limited := !t.deadline.IsZero()
		if !stuck && (!limited || left > 0) {
			t.written = append(t.written, p...)
			t.writes++
			t.vt.write(p)
			t.mu.Unlock()
			return len(p), nil
		}
		t.mu.Unlock()
		var late <-chan time.Time
		if limited {
			late = time.After(left)
		}
		select {
		case <-changed:
		case <-late:
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// Interrupt implements screen.Device.
func (t *Terminal) Interrupt() { t.change(func() { t.interrupted = true }) }

// LimitWrites implements screen.Device.
func (t *Terminal) LimitWrites(d time.Duration) { t.change(func() { t.deadline = time.Now().Add(d) }) }

// Size implements screen.Device.
func (t *Terminal) Size() (cols, rows int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.vt.cols, t.vt.rows, nil
}

// Resized implements screen.Device.
func (t *Terminal) Resized(f func()) { t.change(func() { t.resized = f }) }

// Close implements screen.Device.
func (t *Terminal) Close() error {
	t.change(func() { t.gone = errors.New("terminal in memory is closed") })
	return nil
}

// Type sends bytes as a keyboard would.
func (t *Terminal) Type(s string) { t.change(func() { t.typed = append(t.typed, s...) }) }

// Resize changes the size and notifies the program.
func (t *Terminal) Resize(cols, rows int) {
	t.mu.Lock()
	t.vt.resize(cols, rows)
	f := t.resized
	t.mu.Unlock()
	if f != nil {
		f()
	}
}

// Shake changes the size and changes it back before it notifies the program.
func (t *Terminal) Shake(cols, rows int) {
	t.mu.Lock()
	was := [2]int{t.vt.cols, t.vt.rows}
	t.vt.resize(cols, rows)
	t.mu.Unlock()
	t.Resize(was[0], was[1])
}

// HangUp makes reading fail with err, as when the window is closed.
func (t *Terminal) HangUp(err error) { t.change(func() { t.gone = err }) }

// Stick makes writes block, as when the terminal stops reading.
func (t *Terminal) Stick(on bool) { t.change(func() { t.stuck = on }) }

// Row returns the text of row y, counted from 0, without trailing spaces.
func (t *Terminal) Row(y int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.vt.row(y)
}

// Text returns all rows, each with a line end and without trailing spaces.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for y := range t.vt.rows {
		b.WriteString(t.vt.row(y))
		b.WriteByte('\n')
	}
	return b.String()
}

// Cell returns the cell at x, y: the text ("" for the right half of a wide one), its
// colours and attributes as SGR parameters, and its link.
func (t *Terminal) Cell(x, y int) (text, style, link string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.vt.cells[y*t.vt.cols+x]
	return c.text, strings.Join([]string{c.style.fg, c.style.bg, c.style.attrs}, "|"), c.link
}

// Cursor returns where the cursor is, and whether it is shown.
func (t *Terminal) Cursor() (x, y int, shown bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.vt.x, t.vt.y, t.vt.modes["?25"]
}

// Title returns the title of the window.
func (t *Terminal) Title() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.vt.title
}

// Strings returns the bells and OSC sequences (clipboard, queries, notifications) so far.
func (t *Terminal) Strings() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.vt.strings...)
}

// Odd returns the received sequences that a program must not send.
func (t *Terminal) Odd() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.vt.odd...)
}

// Mode reports whether a mode such as ?1049 or ?2004 is set.
func (t *Terminal) Mode(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.vt.modes[name]
}

// Raw reports whether a program has put the terminal into raw mode.
func (t *Terminal) Raw() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.raw
}

// Written returns the bytes and the number of writes since the last call.
func (t *Terminal) Written() (bytes []byte, writes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	bytes, writes = t.written, t.writes
	t.written, t.writes = nil, 0
	return bytes, writes
}
