package model

import (
	"math"
	"testing"
)

func TestCost(t *testing.T) { // exact sums, rounded once a request
	p := Price{Input: 5 * Dollar, Cached: Dollar / 2, CacheWrite: 6_250_000, Output: 25 * Dollar}
	tests := []struct {
		name  string
		usage Usage
		want  Money
	}{
		{"nothing", Usage{}, 0},
		{"input", Usage{Prompt: 1000}, 5000},
		{"output", Usage{Completion: 1000}, 25_000},
		{"part of it cached", Usage{Prompt: 1000, Cached: 900}, 500 + 450},
		{"part of it written", Usage{Prompt: 1000, CacheWrite: 100}, 4500 + 625},
		{"all of it", Usage{Prompt: 1000, Cached: 700, CacheWrite: 200, Completion: 10}, 500 + 350 + 1250 + 250},
		{"rounded up", Usage{Prompt: 1, Cached: 1}, 1},
		{"a provider that can't count", Usage{Prompt: 10, Cached: 20, Completion: -5}, 10},
		{"a provider that lies", Usage{Prompt: 1 << 62}, 5000 * Dollar},
		{"said by a gateway", Usage{Prompt: 1000, Cost: 12_300}, 12_300},
		{"a gateway that lies", Usage{Cost: 1 << 62}, 1_000_000 * Dollar},
	}
	for _, tt := range tests {
		if got := p.Cost(tt.usage); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := (Price{}).Cost(Usage{Prompt: 1000}); got != 0 {
		t.Errorf("an unknown price costs %d", got)
	}
}

// TestDollars: invalid costs become 0, and no sum can overflow.
func TestDollars(t *testing.T) {
	for f, want := range map[float64]Money{0: 0, -1: 0, math.Inf(-1): 0, 0.0123: 12_300, 1e-7: 0, 6e-7: 1, 2: 2 * Dollar, 1e300: 1_000_000 * Dollar, math.Inf(1): 1_000_000 * Dollar} {
		if got := Dollars(f); got != want {
			t.Errorf("%g dollars are %d, want %d", f, got, want)
		}
	}
	if got := Dollars(math.NaN()); got != 0 {
		t.Errorf("no number is %d", got)
	}
}

func TestMoney(t *testing.T) {
	for m, want := range map[Money]string{
		0: "$0", 1: "<$0.0001", 50: "$0.0001", 4200: "$0.0042", 99_999: "$0.1000", 100_000: "$0.10", 420_000: "$0.42", 12_345_678: "$12.35", -420_000: "-$0.42",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d micro-dollars are %q, want %q", int64(m), got, want)
		}
	}
}

func TestOverloaded(t *testing.T) {
	for status, want := range map[int]bool{0: false, 400: false, 408: false, 429: true, 500: false, 503: true, 529: true} {
		e := &Error{Kind: StatusError, Status: status}
		if e.Overloaded() != want || e.Replaceable() != want {
			t.Errorf("status %d: %v, %v", status, e.Overloaded(), e.Replaceable())
		}
	}
	for recovery, want := range map[Recovery][2]bool{"": {true, true}, RecoverRetry: {true, true}, RecoverFallback: {false, true}, RecoverAbort: {false, false}} {
		e := &Error{Kind: StallError, Recovery: recovery}
		if e.Retryable() != want[0] || e.Replaceable() != want[1] {
			t.Errorf("a stall with recovery %q: retried %v, replaced %v", recovery, e.Retryable(), e.Replaceable())
		}
	}
}
