package loop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/apptest"
	"buddy/app/loop"
	"buddy/app/screen"
)

// toy shows the end of what it was given and a prompt below.
type toy struct {
	*tview.Box
	events  []int
	prompt  string
	pastes  []screen.Paste
	focus   []bool
	back    []tcell.Color
	keys    []string
	stopped int
	stop    func() // nil: nothing to wait for

	source chan int
	loop   *loop.Loop[int]
	onKey  func(*tcell.EventKey) *tcell.EventKey
	before func() // each batch
}

func newToy(room int) *toy {
	return &toy{Box: tview.NewBox(), source: make(chan int, room)}
}

func (y *toy) Draw(s tcell.Screen) {
	y.DrawForSubclass(s, y)
	w, h := s.Size()
	if n := len(y.events); n > 0 {
		tview.PrintSimple(s, fmt.Sprintf("%d events, last %d", n, y.events[n-1]), 0, 0)
	}
	tview.PrintSimple(s, "> "+y.prompt, 0, h-1)
	if y.HasFocus() {
		s.ShowCursor(min(2+len(y.prompt), w-1), h-1)
	}
}

func (y *toy) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return y.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		y.keys = append(y.keys, ev.Name())
		if ev.Key() == tcell.KeyRune {
			y.prompt += string(ev.Rune())
		}
	})
}

func (y *toy) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return y.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, row := ev.Position()
		y.keys = append(y.keys, fmt.Sprintf("mouse %d at %d,%d", action, x, row))
		return true, nil
	})
}

func (y *toy) run(ctx context.Context, s *screen.Screen) error {
	y.loop = loop.New(loop.Config[int]{
		Screen: s,
		Root:   y,
		Events: y.source,
		Apply: func(batch []int) bool {
			if y.before != nil {
				y.before()
			}
			y.events = append(y.events, batch...)
			return batch[len(batch)-1] >= 0 // negative ones are not visible
		},
		Key: func(ev *tcell.EventKey) *tcell.EventKey {
			if y.onKey != nil {
				return y.onKey(ev)
			}
			return ev
		},
		On: screen.Handlers{
			Paste:      func(p screen.Paste) { y.pastes = append(y.pastes, p); y.prompt += p.Text },
			Focus:      func(f bool) { y.focus = append(y.focus, f) },
			Background: func(c tcell.Color) { y.back = append(y.back, c) },
		},
		Stop: func() {
			y.stopped++
			if y.stop != nil {
				y.stop()
			}
		},
	})
	return y.loop.Run(ctx)
}

// bubble runs f with a toy on a terminal, and a count of draws and wake-ups since start.
func bubble(t *testing.T, room int, f func(t *testing.T, ui *apptest.UI, y *toy)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		y := newToy(room)
		ui := apptest.Start(t, 80, 24, y.run)
		f(t, ui, y)
		if err := ui.Quit(); err != nil {
			t.Error(err)
		}
		if y.stopped != 1 {
			t.Errorf("Stop was called %d times, want once", y.stopped)
		}
	})
}

// 2,000 deltas a second become at most 31 draws and about as many
// wake-ups, none lost or out of order.
func TestEventPace(t *testing.T) {
	for _, room := range []int{0, 16, 256} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			bubble(t, room, func(t *testing.T, ui *apptest.UI, y *toy) {
				before, start := y.loop.Stats(), time.Now()
				for i := range 2000 {
					y.source <- i
					time.Sleep(500 * time.Microsecond)
				}
				after := y.loop.Stats()
				took := time.Since(start) // a small channel holds the sender up at first
				if n, most := after.Draws-before.Draws, int(took/(33*time.Millisecond))+1; n < 25 || n > most {
					t.Errorf("%d draws for %v of events, want 25 to %d", n, took, most)
				}
				if n := after.Wakeups - before.Wakeups; room == 256 && n > 70 {
					t.Errorf("%d wake-ups for a second of events, want at most 70", n)
				}
				ui.Want("2000 events, last 1999")
				if !slices.IsSorted(y.events) {
					t.Error("events are out of order")
				}
			})
		})
	}
}

// While one loop ends and the next begins the terminal stays as it is, and what is typed
// and pasted on the way reaches the next one, in order.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newToy(8), newToy(8)
		release := make(chan struct{})
		first.stop = func() { <-release }
		ui := apptest.Start(t, 80, 24, func(ctx context.Context, s *screen.Screen) error {
			if err := first.run(ctx, s); err != nil {
				return err
			}
			return second.run(ctx, s)
		})
		ui.Type("a")
		first.loop.HandOver()
		ui.Type("b")
		ui.Terminal.Type("\x1b[200~c\x1b[201~")
		ui.Type("d")
		first.source <- 7
		ui.Settle()
		ui.Want("last 7") // it goes on until it has stopped
		ui.Written()
		close(release)
		ui.Settle()
		ui.Type("e")
		ui.Settle()
		if first.prompt != "a" || second.prompt != "bcde" || !ui.Raw() {
			t.Errorf("the loops got %q and %q; raw mode %v", first.prompt, second.prompt, ui.Raw())
		}
		if out, _ := ui.Written(); bytes.Contains(out, []byte("\x1b[?1049")) {
			t.Errorf("the screen was left: %q", out)
		}
		if err := ui.Quit(); err != nil || ui.Raw() || first.stopped != 1 || second.stopped != 1 {
			t.Errorf("ended with %v; raw mode %v; stopped %d and %d times", err, ui.Raw(), first.stopped, second.stopped)
		}
	})
}

// A loop that is ended while it hands the screen over gives the terminal back.
func TestQuitWhileHandingOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newToy(8)
		release := make(chan struct{})
		y.stop = func() { <-release }
		ui := apptest.Start(t, 80, 24, y.run)
		y.loop.HandOver()
		synctest.Wait()
		y.loop.Quit()
		close(release)
		if err := ui.Ended(); err != nil || ui.Raw() {
			t.Errorf("ended with %v; raw mode %v", err, ui.Raw())
		}
	})
}

// A producer at full speed is not held back by the pace of the draws.
func TestFullSpeed(t *testing.T) {
	bubble(t, 64, func(t *testing.T, ui *apptest.UI, y *toy) {
		start := time.Now()
		for i := range 20_000 {
			y.source <- i
		}
		if took := time.Since(start); took > 70*time.Millisecond {
			t.Errorf("20,000 events took %v of the fake clock", took)
		}
		ui.Want("20000 events, last 19999")
	})
}

func TestFirstEventAtOnce(t *testing.T) {
	bubble(t, 8, func(t *testing.T, ui *apptest.UI, y *toy) {
		time.Sleep(time.Second)
		y.source <- 7
		synctest.Wait()
		if got := ui.Row(0); !strings.HasPrefix(got, "1 events, last 7") {
			t.Errorf("with no time passed row 0 is %q", got)
		}
		y.source <- -1
		before := y.loop.Stats().Draws
		ui.Settle()
		if n := y.loop.Stats().Draws - before; n != 0 {
			t.Errorf("%d draws for an event that changed nothing, want none", n)
		}
	})
}

// A7: a burst of keys is drawn a few times, a single key at once.
func TestLetterAfterEscape(t *testing.T) { // a lone Esc does not make Alt+N of a later N
	bubble(t, 0, func(t *testing.T, ui *apptest.UI, y *toy) {
		ui.Press("Esc")
		time.Sleep(time.Second)
		ui.Type("N^_X]\\")
		ui.Settle()
		if y.prompt != "N^_X]\\" {
			t.Errorf("prompt %q", y.prompt)
		}
	})
}

func TestKeyPace(t *testing.T) {
	bubble(t, 0, func(t *testing.T, ui *apptest.UI, y *toy) {
		time.Sleep(time.Second)
		ui.Type("k")
		if got := ui.Row(23); got != "> k" {
			t.Errorf("with no time passed the prompt is %q, want > k", got)
		}
		before := y.loop.Stats().Draws
		ui.Type(strings.Repeat("x", 500))
		ui.Settle()
		if n := y.loop.Stats().Draws - before; n > loop.KeyBurst+2 {
			t.Errorf("%d draws for 500 keys at once, want at most %d", n, loop.KeyBurst+2)
		}
		if want := "k" + strings.Repeat("x", 500); y.prompt != want {
			t.Errorf("prompt has %d keys, want %d", len(y.prompt), len(want))
		}
	})
}

// Keys are drawn at once while a stream is drawn 30 times a second.
func TestKeyDuringStream(t *testing.T) {
	bubble(t, 64, func(t *testing.T, ui *apptest.UI, y *toy) {
		for i := range 200 {
			y.source <- i
			time.Sleep(5 * time.Millisecond)
			if i%20 == 0 {
				ui.Type("k")
				if got, want := ui.Row(23), "> "+strings.Repeat("k", i/20+1); got != want {
					t.Fatalf("with no time passed the prompt is %q, want %q", got, want)
				}
			}
		}
	})
}

func TestIdle(t *testing.T) {
	bubble(t, 8, func(t *testing.T, ui *apptest.UI, y *toy) {
		y.source <- 1
		ui.Type("k")
		time.Sleep(10 * time.Second) // the rest has begun
		synctest.Wait()
		before := y.loop.Stats()
		_, _ = ui.Written()
		time.Sleep(time.Hour)
		synctest.Wait()
		if after := y.loop.Stats(); after != before {
			t.Errorf("an idle hour: %+v, before it %+v", after, before)
		}
		if got, _ := ui.Written(); len(got) > 0 {
			t.Errorf("an idle hour wrote %q", got)
		}
		y.source <- 2
		ui.Type("k")
		ui.Want("2 events, last 2", "> kk")
	})
}

func TestTicking(t *testing.T) {
	bubble(t, 8, func(t *testing.T, ui *apptest.UI, y *toy) {
		y.source <- 1
		ui.Settle()
		before := y.loop.Stats().Draws
		y.loop.SetTicking(true)
		time.Sleep(time.Second)
		y.loop.SetTicking(false)
		ui.Settle()
		after := y.loop.Stats().Draws
		if n := after - before; n < 9 || n > 11 {
			t.Errorf("%d draws in a second, want 10", n)
		}
		time.Sleep(time.Minute)
		if n := y.loop.Stats().Draws - after; n != 0 {
			t.Errorf("%d draws after the end", n)
		}
	})
}

// While events are drawn one after the other, ticking costs no draw of its own, nor does the pump wake
// up for it; it is not held back when the events end, nor by events that show nothing.
func TestTicksJoinDraws(t *testing.T) {
	bubble(t, 8, func(t *testing.T, ui *apptest.UI, y *toy) {
		const every, n = 40 * time.Millisecond, 50
		y.loop.SetTicking(true)
		synctest.Wait()
		before := y.loop.Stats()
		for i := range n {
			y.source <- i + 1
			time.Sleep(every)
		}
		synctest.Wait()
		first := y.loop.Stats()
		if draws, wakeups := first.Draws-before.Draws, first.Wakeups-before.Wakeups; draws > n+1 || wakeups > n+1 {
			t.Errorf("%d draws and %d wake-ups for %d events", draws, wakeups, n)
		}
		for range n {
			y.source <- -1
			time.Sleep(every)
		}
		time.Sleep(time.Second)
		y.loop.SetTicking(false)
		synctest.Wait()
		if draws := y.loop.Stats().Draws - first.Draws; draws < 25 || draws > 30 {
			t.Errorf("%d draws in the 3 s after, want 10 a second", draws)
		}
	})
}

func TestPost(t *testing.T) {
	bubble(t, 8, func(t *testing.T, ui *apptest.UI, y *toy) {
		for i := range 1000 {
			y.loop.Post(func() { y.events = append(y.events, i) })
		}
		ui.Want("1000 events, last 999")
		if !slices.IsSorted(y.events) {
			t.Error("posts are out of order")
		}
	})
}

// A lazy post costs no draw of its own while others come, and waits 100 ms at most.
func TestPostLazily(t *testing.T) {
	bubble(t, 8, func(t *testing.T, ui *apptest.UI, y *toy) {
		ui.Settle()
		before := y.loop.Stats().Draws
		y.loop.PostLazily(func() { y.events = append(y.events, 7) })
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if n := y.loop.Stats().Draws - before; n != 0 {
			t.Errorf("%d draws at once", n)
		}
		y.loop.Post(func() {})
		ui.Settle()
		if n := y.loop.Stats().Draws - before; n != 1 || len(y.events) != 1 {
			t.Errorf("with another draw: %d draws, events %v; want one of each", n, y.events)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := y.loop.Stats().Draws - before; n != 1 {
			t.Errorf("%d draws later", n-1)
		}
		y.loop.PostLazily(func() { y.events = append(y.events, 8) })
		time.Sleep(110 * time.Millisecond)
		synctest.Wait()
		if n := y.loop.Stats().Draws - before; n != 2 || len(y.events) != 2 {
			t.Errorf("alone: %d draws, events %v", n-1, y.events)
		}
	})
}

func TestKeys(t *testing.T) {
	bubble(t, 0, func(t *testing.T, ui *apptest.UI, y *toy) {
		ui.Press("Ctrl+C", "Alt+Enter", "Shift+Enter", "Esc", "Alt+]", "Alt+_", "Alt+X", "Up", "Shift+Left", "F5", "Backtab", "Ctrl+Left", "é")
		ui.Terminal.Type("\x1b[13;3u\x1b[27;3;13~") // Alt+Enter of kitty and of xterm
		synctest.Wait()
		want := []string{
			"Ctrl+C", "Alt+Enter", "Shift+Enter", "Esc", "Alt+Rune[]]", "Alt+Rune[_]", "Alt+Rune[X]",
			"Up", "Shift+Left", "F5", "Backtab", "Ctrl+Left", "Rune[é]", "Alt+Enter", "Alt+Enter",
		}
		if !slices.Equal(y.keys, want) {
			t.Errorf("keys are %q\nwant     %q", y.keys, want)
		}
		if !ui.Running() {
			t.Error("Ctrl-C ended the loop")
		}
	})
}

// A6: a paste comes whole, in its place between the keys.
func TestPaste(t *testing.T) {
	big := strings.Repeat("0123456789\n", 100_000)
	bubble(t, 0, func(t *testing.T, ui *apptest.UI, y *toy) {
		ui.Terminal.Type("ab\x1b[200~one\ntwo\r\n\x1b[31mred\x1b]0;x\x07\x1b[201~cd")
		ui.Settle()
		if want := "abone\ntwo\n[31mred]0;xcd"; y.prompt != want {
			t.Errorf("the prompt is %q, want %q", y.prompt, want)
		}
		ui.Paste(big)
		if n := len(y.pastes); n != 2 || y.pastes[1].Text != big {
			t.Errorf("a paste of 1 MB did not arrive as one of %d", n)
		}
		y.keys = nil
		ui.Type("e")
		if !slices.Equal(y.keys, []string{"Rune[e]"}) {
			t.Errorf("after the paste the keys are %q", y.keys)
		}
	})
}

// Without a handler a paste goes to the focused widget.
func TestPasteIntoWidget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		field := tview.NewInputField()
		ui := apptest.StartRoot(t, 40, 4, field)
		ui.Type("a")
		ui.Paste("pasted ü")
		ui.Type("z")
		ui.Want("apasted üz")
	})
}

func TestFocusMouseResize(t *testing.T) {
	bubble(t, 0, func(t *testing.T, ui *apptest.UI, y *toy) {
		ui.Focus(false)
		ui.Focus(true)
		if !slices.Equal(y.focus, []bool{false, true}) {
			t.Errorf("focus events are %v", y.focus)
		}
		ui.Mouse(apptest.MouseWheelUp, 3, 4)
		ui.Click(5, 6)
		for _, want := range []string{
			fmt.Sprintf("mouse %d at 3,4", tview.MouseScrollUp), fmt.Sprintf("mouse %d at 5,6", tview.MouseLeftClick),
		} {
			if !slices.Contains(y.keys, want) {
				t.Errorf("mouse actions are %q, without %q", y.keys, want)
			}
		}
		for _, size := range [][2]int{{100, 30}, {40, 10}, {40, 10}, {200, 60}} {
			ui.Resize(size[0], size[1])
			if got := ui.Row(size[1] - 1); got != ">" {
				t.Errorf("at %v the last row is %q, want >", size, got)
			}
		}
	})
}

// Answers of the terminal are not typed into the prompt.
func TestTerminalAnswers(t *testing.T) {
	var s *screen.Screen
	synctest.Test(t, func(t *testing.T) {
		y := newToy(0)
		ui := apptest.Start(t, 80, 24, func(ctx context.Context, sc *screen.Screen) error {
			s = sc
			return y.run(ctx, sc)
		})
		y.loop.Post(func() {
			s.AskBackground()
			s.SetClipboard([]byte("copied"))
		})
		ui.Settle()
		if got, want := ui.Strings(), []string{"11;?", "52;c;Y29waWVk"}; !slices.Equal(got, want) {
			t.Errorf("the terminal was asked %q, want %q", got, want)
		}
		ui.Terminal.Type("a\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\b\x1b]52;c;aGVsbG8=\ac")
		ui.Settle()
		if !slices.Equal(y.back, []tcell.Color{tcell.NewRGBColor(0x1e, 0x1e, 0x2e)}) {
			t.Errorf("background %v", y.back)
		}
		y.loop.Post(s.AskBackground)
		time.Sleep(time.Second)
		ui.Terminal.Type("\x1b]11;rgb:ff/ff/ff\a") // too late to change the theme
		ui.Settle()
		if len(y.back) != 1 || y.prompt != "abc" {
			t.Errorf("a late answer: %v, prompt %q", y.back, y.prompt)
		}
	})
}

func TestQuitWaitsForStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newToy(0)
		ctx, cancel := context.WithCancel(t.Context())
		produced := make(chan struct{})
		go func() { // a source that sends until it is told to stop
			defer close(produced)
			for i := 0; ; i++ {
				select {
				case y.source <- i:
					time.Sleep(time.Millisecond)
				case <-ctx.Done():
					return
				}
			}
		}()
		ui := apptest.Start(t, 80, 24, func(ctx context.Context, s *screen.Screen) error {
			y.loop = loop.New(loop.Config[int]{
				Screen: s, Root: y, Events: y.source,
				Apply: func(b []int) bool { y.events = append(y.events, b...); return true },
				Stop: func() {
					time.Sleep(5 * time.Second) // commands take their time to end
					cancel()
					<-produced
				},
			})
			return y.loop.Run(ctx)
		})
		y.loop.Quit()
		y.loop.Quit()
		time.Sleep(4 * time.Second)
		ui.Type("k")
		ui.Settle()
		if got := ui.Row(23); got != "> k" {
			t.Errorf("while Stop runs the prompt is %q, want > k", got)
		}
		if err := ui.Ended(); err != nil {
			t.Error(err)
		}
		y.loop.Post(func() { t.Error("posted after the end") })
		y.loop.Quit()
	})
}

// A7: quitting while keys and events pour in never hangs. The clock is real, since
// under a fake one every flood would be dealt with before the time of the quit.
func TestQuitUnderFlood(t *testing.T) {
	for i := range 200 {
		term := apptest.NewTerminal(20, 4)
		s, err := screen.New(screen.NewTty(term, nil), "xterm-256color")
		if err != nil {
			t.Fatal(err)
		}
		y := newToy(4)
		stop, done := make(chan struct{}), make(chan error, 1)
		var flood sync.WaitGroup
		flood.Go(func() {
			for range 200 {
				select {
				case <-stop:
					return
				default:
					term.Type(strings.Repeat("flood\x1b[A\x1b[<0;1;1M", 50))
					runtime.Gosched()
				}
			}
		})
		flood.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case y.source <- n:
				}
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- y.run(ctx, s) }()
		for range i { // another moment each time
			runtime.Gosched()
		}
		cancel()
		select {
		case err = <-done:
		case <-time.After(time.Minute):
			buf := make([]byte, 1<<20)
			t.Fatalf("quit %d hangs:\n%s", i, buf[:runtime.Stack(buf, true)])
		}
		close(stop)
		flood.Wait()
		if err != nil || term.Raw() || term.Mode("?1049") {
			t.Fatalf("quit %d: %v; raw %v, alternate screen %v", i, err, term.Raw(), term.Mode("?1049"))
		}
	}
}

func TestTerminalClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newToy(0)
		ui := apptest.Start(t, 80, 24, y.run)
		start := time.Now()
		ui.HangUp(io.EOF)
		if err := ui.Ended(); !errors.Is(err, io.EOF) {
			t.Errorf("Run returned %v, want EOF", err)
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("the end took %v", took)
		}
		if y.stopped != 1 {
			t.Errorf("Stop was called %d times, want once", y.stopped)
		}
	})
}

// A terminal that takes no output must not keep the program from ending. The clock is
// real: tview waits for its lock, which a fake one does not count as waiting.
func TestStuckTerminal(t *testing.T) {
	for _, stuck := range []string{"key", "event"} {
		t.Run(stuck, func(t *testing.T) {
			t.Parallel()
			term := apptest.NewTerminal(20, 4)
			s, err := screen.New(screen.NewTty(term, nil), "xterm-256color")
			if err != nil {
				t.Fatal(err)
			}
			y := newToy(4)
			drawn := make(chan struct{}, 10)
			y.before = func() { drawn <- struct{}{} }
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- y.run(ctx, s) }()
			y.source <- 1
			<-drawn
			term.Stick(true)
			if stuck == "key" {
				term.Type("k")
			}
			y.source <- 2
			cancel()
			select {
			case err = <-done:
			case <-time.After(time.Minute):
				t.Fatal("the loop does not end")
			}
			if err != nil || term.Raw() {
				t.Errorf("the loop ended with %v; raw mode %v", err, term.Raw())
			}
		})
	}
}

func TestSuspend(t *testing.T) {
	bubble(t, 8, func(t *testing.T, ui *apptest.UI, y *toy) {
		var raw bool
		y.onKey = func(ev *tcell.EventKey) *tcell.EventKey {
			if ev.Key() != tcell.KeyCtrlG {
				return ev
			}
			y.loop.Suspend(func() {
				raw = ui.Raw()
				time.Sleep(time.Minute)
				_, _ = ui.Write([]byte("\x1b[H\x1b[2Jthe editor was here"))
			})
			return nil
		}
		ui.Press("Ctrl+G")
		y.source <- 5
		time.Sleep(time.Minute)
		ui.Want("1 events, last 5", "\n>")
		if raw || !ui.Raw() {
			t.Errorf("raw mode during the editor: %v, after it: %v", raw, ui.Raw())
		}
		ui.Type("k")
		ui.Want("> k")
	})
}
