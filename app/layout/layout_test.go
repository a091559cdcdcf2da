package layout

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files")

// draw shows a layout as text: borders, names and what lies on top.
func draw(in Input) string {
	l := Of(in)
	rows := make([][]rune, in.H)
	for y := range rows {
		rows[y] = []rune(strings.Repeat(" ", in.W))
	}
	put := func(x, y int, s string) {
		for i, c := range []rune(s) {
			rows[y][x+i] = c
		}
	}
	fill := func(r Rect, name string) {
		if r.Empty() {
			return
		}
		for y := r.Y; y < r.Y+r.H; y++ {
			put(r.X, y, strings.Repeat(".", r.W))
		}
		put(r.X, r.Y, name[:min(len(name), r.W)])
	}
	box := func(r Rect, name string) {
		if r.W < 2 || r.H < 2 {
			return
		}
		line := strings.Repeat("─", r.W-2)
		for y := r.Y + 1; y < r.Y+r.H-1; y++ {
			put(r.X, y, "│"+strings.Repeat(" ", r.W-2)+"│")
		}
		put(r.X, r.Y, "┌"+line+"┐")
		put(r.X, r.Y+r.H-1, "└"+line+"┘")
		if name != "" {
			put(r.X+2, r.Y, " "+name+" ")
		}
	}
	for p := Conversation; p < count; p++ {
		box(l.Panes[p], p.String())
	}
	box(l.Panes[Prompt], "")
	box(l.Dock, "")
	for _, j := range l.Joints() {
		put(j.X, j.Y, string(j.Rune))
	}
	fill(l.Header, "header")
	fill(l.Status, "status")
	fill(l.Input, "prompt")
	if !l.Footer.Empty() {
		put(2, l.Footer.Y, " footer ")
	}
	if len(l.Tabs) > 0 {
		names := make([]string, len(l.Tabs))
		for i, p := range l.Tabs {
			names[i] = p.String()
		}
		put(l.TabBar.X, l.TabBar.Y, strings.Join(names, " "))
	}
	if !l.Dock.Empty() {
		put(2, l.Dock.Y, " Dock ")
	}
	box(l.Dialog, "Dialog")
	fill(l.Popup, "popup")
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(string(row) + "\n")
	}
	return b.String()
}

var all = Input{Prompt: 1, Output: true, Panes: true, Tasks: 3, Tab: Conversation}

// UX: the layout is a pure function, tested by drawing it.
func TestGolden(t *testing.T) {
	long := all
	long.Prompt = 50
	dialog := all
	dialog.Dialog = Size{66, 12}
	popup := all
	popup.Popup = Size{40, 6}
	zoom := all
	zoom.Zoom, zoom.Tab = true, Output
	docked := all
	docked.Dock = 12
	full := docked
	full.Dock, full.DockFull = 99, true
	focus := all
	focus.Tab = Tasks
	for name, in := range map[string]Input{
		"all": all, "plain": {Prompt: 1}, "tasks": {Prompt: 2, Tasks: 1}, "long": long, "dialog": dialog, "popup": popup, "zoom": zoom, "focus": focus, "docked": docked, "docked-full": full,
	} {
		for _, size := range []Size{{80, 24}, {120, 32}, {200, 60}, {40, 12}} {
			in.W, in.H = size.W, size.H
			file := filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.layout", name, size.W, size.H))
			got := draw(in)
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (run the test with -update to make it)", err)
			}
			if got != string(want) {
				t.Errorf("%s differs.\ngot:\n%s\nwant:\n%s", file, got, want)
			}
		}
	}
}

// Whatever the size, everything is on the screen, the prompt has a row, and panes
// overlap in borders only.
func TestAnySize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		in := Input{
			W: 1 + rnd.IntN(210), H: 1 + rnd.IntN(70), Prompt: rnd.IntN(30), Tab: Pane(rnd.IntN(int(count))), Zoom: rnd.IntN(4) == 0,
			Left: rnd.IntN(101), Output: rnd.IntN(2) == 0, Panes: rnd.IntN(2) == 0, Tasks: rnd.IntN(5),
			Dialog: Size{rnd.IntN(100), rnd.IntN(40)}, Popup: Size{rnd.IntN(60), rnd.IntN(8)},
			Dock: max(0, rnd.IntN(60)-30), DockFull: rnd.IntN(2) == 0,
		}
		l := Of(in)
		screen := Rect{0, 0, in.W, in.H}
		for _, r := range append(l.Panes[:], l.Header, l.Status, l.Input, l.Footer, l.Dialog, l.Dock, l.Popup, l.TabBar) {
			if !r.Empty() && !within(r, screen) {
				t.Fatalf("%+v: %+v is outside", in, r)
			}
		}
		if l.Input.H < 1 || (in.W > 2 && l.Input.Empty()) || l.Input.H > max(1, in.H/3) {
			t.Fatalf("%+v: prompt %+v", in, l.Input)
		}
		if in.Dock > 0 && in.H > 1 && l.Dock.H < 1 || overlap(l.Dock, l.Panes[Prompt]) {
			t.Fatalf("%+v: dock %+v, prompt %+v", in, l.Dock, l.Panes[Prompt])
		}
		for p := Conversation; p < count; p++ {
			if overlap(l.Dock, l.Panes[p]) {
				t.Fatalf("%+v: dock %+v overlaps %v %+v", in, l.Dock, p, l.Panes[p])
			}
		}
		checkPanes(t, in, l)
	}
}

func checkPanes(t *testing.T, in Input, l Layout) {
	t.Helper()
	for p, a := range l.Panes {
		for q, b := range l.Panes {
			if p < q && overlap(a, b) {
				t.Fatalf("%+v: %v %+v overlaps %v %+v", in, Pane(p), a, Pane(q), b)
			}
		}
		if Pane(p) != Prompt && !a.Empty() && (a.H < least || a.W < min(in.W, 3)) {
			t.Fatalf("%+v: %v has no room: %+v", in, Pane(p), a)
		}
	}
}

func within(r, s Rect) bool {
	return r.X >= s.X && r.Y >= s.Y && r.X+r.W <= s.X+s.W && r.Y+r.H <= s.Y+s.H
}

// overlap says that the insides of two panes share cells.
func overlap(a, b Rect) bool {
	return !a.Empty() && !b.Empty() && a.X+1 < b.X+b.W-1 && b.X+1 < a.X+a.W-1 && a.Y+1 < b.Y+b.H-1 && b.Y+1 < a.Y+a.H-1
}

func BenchmarkOf(b *testing.B) {
	in := all
	in.W, in.H = 200, 60
	b.ReportAllocs()
	for b.Loop() {
		Of(in)
	}
}
