package compose

import (
	"flag"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/sessions"
	"buddy/themes"
	"buddy/views/transcript"
)

var (
	longSize = flag.Int("long", 20, "size in MB of the session that benchmarks open; it has 500 events a MB")
	longDir  = flag.String("longdir", "", "where to leave that session, to open it by hand")
)

// longSession stores a session of the size set by -long, with a compaction near its end, and returns its id.
func longSession(b *testing.B) (sessions.Store, string) {
	b.Helper()
	if *longDir == "" {
		store := tempStore(b)
		return store, apptest.StoredSession(b, store, *longSize*25, 20<<20/500)
	}
	store, _, err := sessions.Dir(*longDir, sessions.Automatic)
	if err != nil {
		b.Fatal(err)
	}
	return store, apptest.StoredSession(b, store, *longSize*25, 20<<20/500)
}

// BenchmarkOpenLong measures the wait for opening a long session: its end for the first frame, then the runtime's
// events; and in parallel the rest, of which only prepending runs on the UI goroutine.
func BenchmarkOpenLong(b *testing.B) {
	store, id := longSession(b)
	theme, err := themes.Load("", "dark")
	if err != nil {
		b.Fatal(err)
	}
	openTail := func() (*sessions.Journal, sessions.Part) {
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
	b.Run("tail", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			j, part := openTail()
			var s state.State
			s.ApplyTail(part.Events)
			_ = j.Close()
		}
	})
	j, part := openTail()
	defer func() { _ = j.Close() }()
	b.Run("runtime", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := replayOf(j); err != nil {
				b.Fatal(err)
			}
		}
	})
	older := func() *state.State {
		before := new(state.State)
		if err := j.Older(part, func(env event.Envelope) bool { before.Apply(env); return true }); err != nil {
			b.Fatal(err)
		}
		return before
	}
	b.Run("rest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			older()
		}
	})
	b.Run("prepend", func(b *testing.B) {
		var took time.Duration
		n := 0
		for ; b.Loop(); n++ { // reading the rest takes a thousand times longer, so it has a timer of its own
			before := older()
			var s state.State
			s.ApplyTail(part.Events)
			c := transcript.NewConversation(theme, keymap.Default())
			c.Update(&s, state.Everything)
			began := time.Now()
			c.Update(&s, s.PrependState(before))
			took += time.Since(began)
		}
		b.ReportMetric(float64(took.Microseconds())/float64(n)/1000, "prepend-ms")
	})
}
