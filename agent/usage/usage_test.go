package usage

import (
	"testing"
)

func TestSumsSaturate(t *testing.T) {
	sum := 1 << 62
	add(&sum, 1<<62)
	add(&sum, -5)
	if sum != 1<<62 {
		t.Errorf("sum %d", sum)
	}
}
