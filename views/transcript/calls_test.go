package transcript

import (
	"strings"
	"testing"

	"buddy/app/state"
	"buddy/views/draw"
)

// TestCallSummary: the line of a call shows 80 cells of its arguments, and … if there are more.
func TestCallSummary(t *testing.T) {
	for _, c := range []string{"x", "漢"} { // of one cell and of two
		cells := draw.TextWidth(c)
		if got, want := callSummary(&state.Call{Arguments: strings.Repeat(c, 80/cells)}, ""), strings.Repeat(c, 80/cells); got != want {
			t.Errorf("80 cells: %q", got)
		}
		if got, want := callSummary(&state.Call{Arguments: strings.Repeat(c, 80/cells+1)}, ""), strings.Repeat(c, 79/cells)+"…"; got != want {
			t.Errorf("%d cells: %q", 80+cells, got)
		}
	}
}
