package dialog

import (
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/viewtest"
)

// TestFixOfAFindingIsDrawnInBands: a fix that is a diff looks as every other; one that is a sentence is wrapped.
func TestFixOfAFindingIsDrawnInBands(t *testing.T) {
	one := event.Finding{Severity: event.SeverityHigh, File: "a.go", Line: 9, Text: "wrong rounding"}
	bands := func(fix string) (n int, text string) {
		one.Fix = fix
		f := NewFindings(viewtest.Dark(t), keymap.Default(), "of main", []event.Finding{one})
		s := viewtest.Screen(t, f, 60, 20)
		for y := range 20 {
			_, st, _ := s.Get(50, y)
			_, got, _ := st.Decompose()
			for _, role := range []themes.Role{themes.DiffAddBand, themes.DiffDeleteBand} {
				if _, want, _ := f.Palette[role].Decompose(); got == want {
					n++
				}
			}
		}
		return n, viewtest.Text(t, f, 60, 20)
	}
	if n, text := bands("--- a/a.go\n+++ b/a.go\n@@ -9 +9,2 @@\n-x\n+y\n+z"); n != 3 || !strings.Contains(text, "✎ edit a.go") {
		t.Errorf("%d rows are bands:\n%s", n, text)
	}
	if n, text := bands("round half\naway from zero"); n != 0 || !strings.Contains(text, "fix round half away from zero") {
		t.Errorf("%d rows are bands:\n%s", n, text)
	}
}
