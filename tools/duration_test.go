package tools

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "30s": 30 * time.Second, "10m": 10 * time.Minute, "1h": time.Hour,
		"1d": 24 * time.Hour, "90": 90 * time.Second, " 1.5h ": 90 * time.Minute,
		"": 0, "0": 0, "-5s": 0, "5x": 0, "m": 0, "1h30m": 0, "NaN": 0, "Inf": 0, "1e300d": 0, "400d": 0, "0.1ms": 0, "5 m": 0,
	} {
		got, err := ParseDuration(s)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
}
