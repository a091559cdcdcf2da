// Package apptest tests a whole user interface on a terminal in memory.
//
//	synctest.Test(t, func(t *testing.T) {
//		ui := apptest.StartRoot(t, 80, 24, tview.NewInputField())
//		ui.Type("hello")
//		ui.Want("hello")
//	})
//
// Tests run under testing/synctest: the clock is fake, so that no test has to wait, and a goroutine that is left over
// fails the test. The terminal is driven by the real tcell, so that typed keys pass through its input parser. The
// screen is read from the bytes that reach the terminal.
package apptest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivo/tview"

	"buddy/app/loop"
	"buddy/app/screen"
)

const (
	// frameTime is longer than the delay of any draw.
	frameTime = 40 * time.Millisecond

	// escapeTime is longer than the time that tcell waits for the rest of a sequence.
	escapeTime = 70 * time.Millisecond
)

// UI is a user interface that runs on a [Terminal].
type UI struct {
	*Terminal
	t      testing.TB
	cancel context.CancelFunc
	done   chan struct{}
	err    error // valid after done
}

// Start runs a user interface until the end of the test: run gets an uninitialised screen
// and must return when its context ends. Call it in a synctest bubble.
func Start(t testing.TB, cols, rows int, run func(context.Context, *screen.Screen) error) *UI {
	t.Helper()
	for name, value := range map[string]string{"LC_ALL": "C.UTF-8", "COLORTERM": "truecolor", "NO_COLOR": "", "COLUMNS": "", "LINES": ""} {
		t.Setenv(name, value)
	}
	term := NewTerminal(cols, rows)
	s, err := screen.New(screen.NewTty(term, nil), "xterm-256color")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ui := &UI{Terminal: term, t: t, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(ui.done)
		ui.err = run(ctx, s)
	}()
	t.Cleanup(func() { _ = ui.Quit() })
	ui.Settle()
	return ui
}

// StartRoot starts a user interface that shows only root and handles no events.
func StartRoot(t testing.TB, cols, rows int, root tview.Primitive) *UI {
	t.Helper()
	return Start(t, cols, rows, func(ctx context.Context, s *screen.Screen) error {
		return loop.New(loop.Config[struct{}]{Screen: s, Root: root}).Run(ctx)
	})
}

// Settle waits for the time of one frame, and until all goroutines are idle. Then everything typed so far has been
// drawn. Only a ticking clock can still change the screen.
func (ui *UI) Settle() {
	time.Sleep(frameTime)
	synctest.Wait()
}

// Quit ends the user interface and returns its error. A test that does not call Quit ends the user interface, too.
func (ui *UI) Quit() error {
	ui.t.Helper()
	ui.cancel()
	return ui.Ended()
}

// Ended waits up to a minute of the fake clock for the user interface to end by itself.
func (ui *UI) Ended() error {
	ui.t.Helper()
	select {
	case <-ui.done:
		if odd := ui.Odd(); len(odd) > 0 {
			ui.t.Errorf("the terminal received unexpected output: %v", odd)
		}
		return ui.err
	case <-time.After(time.Minute):
		ui.t.Fatalf("the user interface does not end; its screen:\n%s", ui.Text())
		return nil
	}
}

// Running reports whether the user interface has not ended.
func (ui *UI) Running() bool {
	synctest.Wait()
	select {
	case <-ui.done:
		return false
	default:
		return true
	}
}

// Type types text, one key for each rune; a line end is Enter.
func (ui *UI) Type(text string) {
	text = strings.ReplaceAll(text, "\n", "\r")
	for len(text) > 0 {
		n := min(len(text), typedAtOnce)
		ui.Terminal.Type(text[:n])
		synctest.Wait()
		text = text[n:]
	}
}

// typedAtOnce limits the bytes that reach the program together, because more would count as a paste.
const typedAtOnce = 7

// Press presses keys by name: "Enter", "Ctrl+C", "Alt+Enter", "Shift+Left", "F1", "x".
func (ui *UI) Press(keys ...string) {
	ui.t.Helper()
	for _, key := range keys {
		seq, err := keyBytes(key)
		if err != nil {
			ui.t.Fatal(err)
		}
		ui.Terminal.Type(seq)
		if seq == "\x1b" || seq == "\x1b_" { // they may start a longer sequence
			time.Sleep(escapeTime)
		}
		synctest.Wait()
	}
}

// Paste pastes text.
func (ui *UI) Paste(text string) {
	ui.Terminal.Type("\x1b[200~" + text + "\x1b[201~")
	synctest.Wait()
}

// Focus tells the program that the terminal has got or lost the focus.
func (ui *UI) Focus(got bool) {
	seq := "\x1b[O"
	if got {
		seq = "\x1b[I"
	}
	ui.Terminal.Type(seq)
	synctest.Wait()
}

// Resize changes the size of the terminal.
func (ui *UI) Resize(cols, rows int) {
	ui.Terminal.Resize(cols, rows)
	ui.Settle()
}

// Screen calls Settle and returns the text on the screen.
func (ui *UI) Screen() string {
	ui.Settle()
	return ui.Text()
}

// Want fails the test unless each of the texts is on the screen.
func (ui *UI) Want(texts ...string) {
	ui.t.Helper()
	shown := ui.Screen()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			ui.t.Errorf("%q is not on the screen:\n%s", text, shown)
		}
	}
}
