package headless

import (
	"testing"
	"time"

	"buddy/agent/event"
)

// TestReadings: a terminal gets a message about a long prompt when a server starts to process it, and then rarely.
func TestReadings(t *testing.T) {
	for _, shown := range []bool{true, false} {
		r := readings{shown: shown}
		for _, tt := range []struct {
			at   time.Duration
			p    event.ModelReading
			want string
		}{
			{0, event.ModelReading{Total: 300, Cached: 10, Done: 10}, ""},
			{time.Second, event.ModelReading{Total: 10_000, Cached: 1000, Done: 1000}, "the model is reading the prompt (9000 tokens)"},
			{6 * time.Second, event.ModelReading{Total: 10_000, Cached: 1000, Done: 2000, TookMS: 5000}, ""},
			{16 * time.Second, event.ModelReading{Total: 10_000, Cached: 1000, Done: 4000, TookMS: 15_000}, "the model has read 40% of the prompt, about 30s left"},
			{17 * time.Second, event.ModelReading{Total: 10_000, Cached: 1000, Done: 5000, TookMS: 16_000}, ""},
			{60 * time.Second, event.ModelReading{Total: 10_000, Cached: 1000, Done: 10_000, TookMS: 45_000}, ""},
		} {
			want := tt.want
			if !shown {
				want = ""
			}
			if got := r.progress(tt.p, time.Unix(0, 0).Add(tt.at)); got != want {
				t.Errorf("after %v: %q, want %q", tt.at, got, want)
			}
		}
	}
}
