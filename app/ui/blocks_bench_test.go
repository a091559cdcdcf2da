package ui

import (
	"runtime"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/screen"
	"buddy/app/state"
	"buddy/sessions"
)

// firstEvents is the number of events that the first frame of a stored session is drawn from.
const firstEvents = 200

// manyExchanges is the number of exchanges with 100,000 blocks.
const manyExchanges = 25_000

// In a session of 100,000 blocks the first frame takes at most 12 ms, the frame that adds the rest 3 ms, and each
// scroll step 3 ms, even before the start has been read. Memory does not depend on the number of blocks.
func BenchmarkManyBlocks(b *testing.B) {
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	xdg.Reload()
	b.Cleanup(xdg.Reload)
	store, _, err := sessions.Dir(b.TempDir(), sessions.Automatic)
	if err != nil {
		b.Fatal(err)
	}
	id := apptest.StoredSession(b, store, manyExchanges, 1<<10)
	b.Run("first-frame", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f := newFrames(b)
			j, part := openEnd(b, store, id)
			f.u.ApplyTail(id, part.Events, &event.SessionResumed{Cwd: "/work", Target: "local", Model: "demo"})
			f.draw()
			_ = j.Close()
		}
	})
	j, part := openEnd(b, store, id)
	defer func() { _ = j.Close() }()
	older := func() *state.State {
		s, err := state.Fold(func(f func(event.Envelope) bool) error { return j.Older(part, f) })
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	b.Run("scroll", func(b *testing.B) {
		for b.Loop() {
			scrollUp(b, part, older(), SessionFile{Read: j.Range})
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			empty := newFrames(b)
			empty.draw()
			before := heapInUse()
			f := newFrames(b)
			f.u.ApplyTail(id, part.Events, &event.SessionResumed{Cwd: "/work", Target: "local", Model: "demo"})
			f.draw()
			f.u.Prepend(older())
			f.draw()
			held := heapInUse() - before
			b.ReportMetric(float64(len(f.u.state.Blocks)), "blocks")
			b.ReportMetric(float64(textOf(f.u.state.Blocks))/(1<<20), "text-MB")
			b.ReportMetric(float64(held-textOf(f.u.state.Blocks))/(1<<20), "more-MB")
			runtime.KeepAlive(empty)
			runtime.KeepAlive(f)
		}
	})
}

// openEnd reads the end of a session for its first frame.
func openEnd(b *testing.B, store sessions.Store, id string) (*sessions.Journal, sessions.Part) {
	b.Helper()
	j, err := store.Open(id)
	if err != nil {
		b.Fatal(err)
	}
	part, err := j.Tail(firstEvents)
	if err != nil {
		b.Fatal(err)
	}
	return j, part
}

// frames is the whole screen without a loop: the test draws each frame.
type frames struct {
	u     *UI
	s     *screen.Screen
	cable *cable
	seq   uint64
}

// newFrames returns a screen of 160×50; change may replace dependencies.
func newFrames(b *testing.B, change ...func(*Deps)) *frames {
	b.Helper()
	at := newCable(160, 50)
	s, theme := benchScreen(b, at)
	if err := s.Init(); err != nil {
		b.Fatal(err)
	}
	f := &frames{s: s, cable: at}
	d := benchDeps(s, theme)
	for _, c := range change {
		c(&d)
	}
	f.u = New(d)
	b.Cleanup(s.Fini)
	return f
}

// apply applies events of task 1.
func (f *frames) apply(payloads ...event.Event) {
	var batch []event.Envelope
	for _, p := range payloads {
		f.seq++
		batch = append(batch, event.Envelope{Seq: f.seq, Time: time.Now().UnixMilli(), Task: 1, Payload: p})
	}
	f.u.apply(batch)
}

func (f *frames) draw() {
	f.s.Clear()
	f.u.Draw(f.s)
	f.s.Show()
}

// scrollUp pages up from the end of a session through the blocks in memory, then adds the rest and continues, which
// reads parts back from the file.
func scrollUp(b *testing.B, part sessions.Part, before *state.State, file SessionFile) {
	b.Helper()
	var waits []func() func() // the reads to do
	f := newFrames(b, func(d *Deps) {
		d.File = file
		d.Background = func(work func() func()) { waits = append(waits, work) }
		d.Later = func(f func()) { f() }
	})
	f.u.ApplyTail("s", part.Events, &event.SessionResumed{Cwd: "/work", Target: "local", Model: "demo"})
	f.draw()
	var early, late, reads []lag
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := threadClock()
	step := func(rows int) lag {
		end := begin(clock)
		f.u.v.conversation.Scroll(rows)
		f.draw()
		took := end()
		for len(waits) > 0 {
			work := waits[0]
			waits = waits[1:]
			end := begin(clock)
			work()()
			reads = append(reads, end())
		}
		return took
	}
	for range 200 {
		early = append(early, step(-45))
	}
	end := begin(clock)
	f.u.Prepend(before)
	f.draw()
	joined := end()
	blocks, text, reads := 0, int64(0), reads[:0]
	for range 2000 {
		late = append(late, step(-45))
		shown, _, _ := state.Shown(&f.u.state)
		blocks, text = max(blocks, len(shown)), max(text, textOf(shown))
	}
	for range 2000 {
		late = append(late, step(-3))
	}
	reportLags(b, early, "early", 50, 99)
	reportLags(b, late, "step", 50, 99)
	reportLags(b, reads, "read", 50, 99)
	b.ReportMetric(float64(joined.own)/float64(time.Millisecond), "join-own-ms")
	b.ReportMetric(float64(blocks), "most-blocks")
	b.ReportMetric(float64(text)/(1<<20), "most-text-MB")
}

// textOf returns the number of bytes of text in blocks.
func textOf(blocks []*state.Block) int64 {
	n := 0
	for _, block := range blocks {
		n += len(block.Text)
		if c := block.Call; c != nil {
			n += len(c.Arguments) + len(c.Result) + len(c.Output.Buf) + len(c.Action.Command)
		}
	}
	return int64(n)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
