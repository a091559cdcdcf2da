package compact

import (
	"testing"
)

func TestPercent(t *testing.T) { // floor, at least 1
	for _, tt := range [][3]int{{1000, 95, 950}, {1, 80, 1}, {999, 82, 819}, {1 << 62, 95, (1<<62)/100*95 + (1<<62)%100*95/100}} {
		if got := percent(tt[0], tt[1]); got != tt[2] {
			t.Errorf("percent(%d, %d) = %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
}
