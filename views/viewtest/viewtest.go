// Package viewtest draws a view on a simulated screen, and compares it with a golden file that people can read.
//
//	viewtest.Golden(t, "approval", m, 80, 24) // testdata/approval-80x24.screen
//
// The test flag -update rewrites the golden files.
package viewtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

var update = flag.Bool("update", false, "write golden files")

// Screen draws p at w×h cells and returns the screen, for tests of styles.
func Screen(t testing.TB, p tview.Primitive, w, h int) tcell.SimulationScreen {
	t.Helper()
	s := tcell.NewSimulationScreen("UTF-8")
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Fini)
	s.SetSize(w, h) // after Init, which resets it
	s.Clear()
	p.SetRect(0, 0, w, h)
	p.Draw(s)
	s.Show()
	return s
}

// Text draws p at w×h cells and returns its rows without trailing spaces and without the second cells of wide
// characters.
func Text(t testing.TB, p tview.Primitive, w, h int) string {
	t.Helper()
	cells, cw, ch := Screen(t, p, w, h).GetContents()
	var b strings.Builder
	for y := range ch {
		var row strings.Builder
		for x := 0; x < cw; x++ {
			r := cells[y*cw+x].Runes
			if len(r) == 0 {
				r = []rune{' '}
			}
			row.WriteString(string(r))
			if tview.TaggedStringWidth(string(r)) == 2 {
				x++
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// Golden draws p at w×h cells and compares it with testdata/<name>-<w>x<h>.screen.
func Golden(t testing.TB, name string, p tview.Primitive, w, h int) {
	t.Helper()
	GoldenText(t, fmt.Sprintf("%s-%dx%d", name, w, h), Text(t, p, w, h))
}

// GoldenText compares the text of a screen with a golden file; -update writes the file.
func GoldenText(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".screen")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s differs; if you meant to change it: make golden\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}
