package ui

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/loop"
	"buddy/app/screen"
	"buddy/themes"
	"buddy/views"
)

// cable is a terminal with simulated typing that reports each frame.
type cable struct {
	mu      sync.Mutex // guards the fields below
	cols    int
	rows    int
	resized func()
	unread  []byte // typed and not read yet
	written int64
	seen    func(frame []byte) // may be nil

	typed chan []byte
	stop  chan struct{}
	once  sync.Once
}

func newCable(cols, rows int) *cable {
	return &cable{cols: cols, rows: rows, typed: make(chan []byte, 100), stop: make(chan struct{})}
}

func (d *cable) Start() error              { return nil }
func (d *cable) Stop() error               { return nil }
func (d *cable) Close() error              { return nil }
func (d *cable) LimitWrites(time.Duration) {}
func (d *cable) Interrupt()                { d.once.Do(func() { close(d.stop) }) }

func (d *cable) Read(p []byte) (int, error) {
	if len(d.unread) == 0 {
		select {
		case <-d.stop:
			return 0, os.ErrDeadlineExceeded
		case d.unread = <-d.typed:
		}
	}
	n := copy(p, d.unread)
	d.unread = d.unread[n:]
	return n, nil
}

func (d *cable) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written += int64(len(p))
	if d.seen != nil {
		d.seen(p)
	}
	return len(p), nil
}

func (d *cable) Size() (cols, rows int, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cols, d.rows, nil
}

func (d *cable) Resized(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resized = f
}

// resize changes the size of the terminal.
func (d *cable) resize(cols, rows int) {
	d.mu.Lock()
	d.cols, d.rows = cols, rows
	f := d.resized
	d.mu.Unlock()
	f()
}

// onFrame sets a function that is called with each frame, on the UI goroutine.
func (d *cable) onFrame(f func([]byte)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = f
}

// liveUI is the whole screen on a cable, in real time.
type liveUI struct {
	b      *testing.B
	u      *UI
	cable  *cable
	screen *screen.Screen
	loop   *loop.Loop[event.Envelope]
	events chan event.Envelope
	seq    uint64
	clock  int32 // of the UI goroutine's thread

	// turn, if set, runs each piece of work that waits for the UI goroutine, such as a slice of a search.
	turn func(work func())
}

// benchScreen returns a screen on a terminal that is not open yet.
func benchScreen(b *testing.B, at *cable) (*screen.Screen, *themes.Theme) {
	b.Helper()
	b.Setenv("COLORTERM", "truecolor")
	s, err := screen.New(screen.NewTty(at, nil), "xterm-256color")
	if err != nil {
		b.Fatal(err)
	}
	theme, err := themes.Load("", "dark")
	if err != nil {
		b.Fatal(err)
	}
	return s, theme
}

// benchDeps returns dependencies that do nothing.
func benchDeps(s *screen.Screen, theme *themes.Theme) Deps {
	return Deps{
		Looks: Looks{Theme: theme, Header: views.Shown{Tokens: true}}, Terminal: Terminal{Attention: Attention{Notify: s.Notify}},
		Timing: Timing{
			Now: time.Now, Tick: func(bool) {}, Later: func(func()) {},
			After: func(time.Duration, func()) {}, Background: func(func() func()) {},
		},
		Drafting: Drafting{Draft: func() {}, Record: func(string) {}},
		Keys:     keymap.Default(), Send: func(event.Command) {},
	}
}

// goLive runs the whole screen until the end of the benchmark. prepare, unless nil, fills it before the first frame.
func goLive(b *testing.B, cols, rows int, prepare func(*liveUI)) *liveUI {
	b.Helper()
	x := &liveUI{b: b, cable: newCable(cols, rows), events: make(chan event.Envelope, 256), turn: func(work func()) { work() }}
	s, theme := benchScreen(b, x.cable)
	x.screen = s
	d := benchDeps(s, theme)
	d.Tick = func(on bool) { x.loop.SetTicking(on) }
	d.Later = func(f func()) { x.loop.Post(func() { x.turn(f) }) }
	d.After = func(wait time.Duration, f func()) { time.AfterFunc(wait, func() { x.loop.Post(f) }) }
	d.Background = func(work func() func()) { x.loop.Go(func() { x.loop.PostLazily(work()) }) }
	x.u = New(d)
	x.loop = x.u.Loop(s, x.events, func() {})
	if prepare != nil {
		prepare(x)
	}
	x.loop.SetFocus(x.u)
	first, ended := make(chan struct{}), make(chan error, 1)
	tell := sync.OnceFunc(func() { close(first) })
	x.cable.onFrame(func([]byte) { tell() })
	go func() {
		runtime.LockOSThread()
		x.clock = threadClock()
		ended <- x.loop.Run(context.Background())
	}()
	<-first
	b.Cleanup(func() {
		x.loop.Quit()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return x
}

// send sends events of task 1 as the runtime does.
func (x *liveUI) send(payloads ...event.Event) {
	for _, env := range x.envelopes(payloads...) {
		x.events <- env
	}
}

func (x *liveUI) envelopes(payloads ...event.Event) []event.Envelope {
	var all []event.Envelope
	for _, p := range payloads {
		x.seq++
		all = append(all, event.Envelope{Seq: x.seq, Time: time.Now().UnixMilli(), Session: "7f3a-0000", Task: 1, Payload: p})
	}
	return all
}

// do calls f on the UI goroutine and waits until the result is drawn.
func (x *liveUI) do(f func()) {
	for _, g := range []func(){f, func() {}} {
		done := make(chan struct{})
		x.loop.Post(func() { g(); close(done) })
		<-done
	}
}

// lag is a measured duration. own excludes the time that other processes used the machine: the CPU time of the UI
// thread if that is less than the wall time.
type lag struct{ wall, own time.Duration }

// begin starts a measurement, with a thread's CPU clock.
func begin(clock int32) func() lag {
	at, used := time.Now(), processorTime(clock)
	return func() lag {
		wall := time.Since(at)
		return lag{wall, min(wall, processorTime(clock)-used)}
	}
}

func processorTime(clock int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// reportLags reports percentiles of the lags in ms, 100 for the longest.
func reportLags(b *testing.B, lags []lag, what string, percents ...int) {
	b.Helper()
	for _, kind := range []struct {
		name string
		of   func(lag) time.Duration
	}{{"", func(l lag) time.Duration { return l.wall }}, {"own-", func(l lag) time.Duration { return l.own }}} {
		var all []time.Duration
		for _, l := range lags {
			all = append(all, kind.of(l))
		}
		slices.Sort(all)
		for _, p := range percents {
			name := fmt.Sprintf("p%d", p)
			if p == 100 {
				name = "max"
			}
			b.ReportMetric(float64(all[max(len(all)*p/100-1, 0)].Microseconds())/1000, what+"-"+kind.name+name+"-ms")
		}
	}
}

// echo types a key and returns how long the terminal takes to show it. Nothing else may show the same key.
func (x *liveUI) echo(key byte) lag {
	seen := make(chan lag, 1)
	var end func() lag
	x.cable.onFrame(func(frame []byte) {
		if bytes.IndexByte(frame, key) >= 0 {
			select {
			case seen <- end():
			default:
			}
		}
	})
	end = begin(x.clock)
	x.cable.typed <- []byte{key}
	select {
	case l := <-seen:
		x.cable.onFrame(nil)
		return l
	case <-time.After(time.Minute):
		x.b.Fatalf("the key %q does not show", key)
		return lag{}
	}
}

// paneRows returns the rows of a log in a pane of 120×40.
func paneRows(from int) []string {
	rows := make([]string, 40)
	for i := range rows {
		rows[i] = fmt.Sprintf("2026/11/20 \x1b[3%dm[info]\x1b[39m request %d took %d ms", (from+i)%8, from+i, i)
	}
	return rows
}

// stream sends perSecond deltas a second and ten updates of each pane until stop is closed.
func (x *liveUI) stream(stop <-chan struct{}, perSecond, panes int) {
	text := strings.Repeat("The rounding in `tax.go` **truncates** instead of rounding, so a price of 19.99 becomes 19.98.\n\n"+
		"```go\nfunc Tax(cents int) int {\n\treturn (cents*19 + 50) / 100\n}\n```\n\n- one item of a list, with a little text\n- and another one\n\n", 200)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	at, deltas, pictures := 0, 0, 0
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(perSecond)); deltas < due; deltas++ {
			if at+20 > len(text) {
				x.send(event.ModelMessage{}, event.PromptSubmitted{ID: deltas, Text: "and then?"})
				at = 0
			}
			x.send(event.TextDelta{Text: text[at : at+20]})
			at += 20
		}
		for due := int(time.Since(began).Seconds() * float64(10*panes)); pictures < due; pictures++ {
			x.send(event.PaneScreen{Pane: fmt.Sprint("%", pictures%panes), W: 120, H: 40, Rows: paneRows(pictures), Cursor: event.Cursor{Y: 39}})
		}
	}
}

// A key shows within 2 ms of own time (p99) while 2,000 deltas a second stream and four panes change ten times a second
// each.
func BenchmarkKeyEcho(b *testing.B) {
	for _, load := range []struct{ deltas, panes int }{{0, 0}, {2000, 0}, {2000, 4}} {
		b.Run(fmt.Sprintf("%d-deltas-%d-panes", load.deltas, load.panes), func(b *testing.B) {
			x := goLive(b, 160, 50, func(x *liveUI) { x.u.arranged.shape.Side = 55 })
			x.send(event.SessionCreated{Cwd: "/src/shop", Target: "local", Model: "demo"}, event.ModeChanged{Mode: action.ModeAsk},
				event.PromptSubmitted{ID: 1, Text: "why?"}, event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "why?"})
			for i := range load.panes {
				x.send(event.PaneOpened{Pane: fmt.Sprint("%", i), Title: "shared", Target: fmt.Sprint("web-", i)})
			}
			if load.panes > 0 {
				x.do(func() { // side by side
					x.u.v.panes.Press(keymap.Press{Scope: keymap.Panes, Action: keymap.PaneGrid})
				})
			}
			stop, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				if load.deltas > 0 {
					x.stream(stop, load.deltas, load.panes)
				}
			}()
			time.Sleep(time.Second)
			var lags []lag
			const keys = 400
			for b.Loop() {
				for i := range keys {
					lags = append(lags, x.echo("ZQ"[i%2]))
					if i%20 == 19 {
						x.cable.typed <- []byte{0x15} // empties the line
					}
					time.Sleep(5*time.Millisecond + rand.N(10*time.Millisecond))
				}
			}
			close(stop)
			<-ended
			if load.panes > 0 {
				x.do(func() {
					if n := len(x.u.v.panes.Visible()); n != load.panes {
						b.Errorf("%d panes show, want %d", n, load.panes)
					}
				})
			}
			reportLags(b, lags, "echo", 50, 99, 100)
		})
	}
}
