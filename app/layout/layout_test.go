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
	fill(l.Panes[Conversation], "conversation")
	box(l.Panes[Live], "live")
	for i, r := range l.Tiles {
		box(r, fmt.Sprintf("pane %d", i+1))
	}
	box(l.Panes[Tasks], "tasks")
	box(l.Dock, "")
	for _, j := range l.Joints() {
		put(j.X, j.Y, string(j.Rune))
	}
	for name, r := range map[string]Rect{"header": l.Header, "strip": l.Strip, "queue": l.Queue, "status": l.Status, "prompt": l.Input, "footer": l.Footer} {
		fill(r, name)
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

var all = Input{Prompt: 1, Tab: Conversation, Beside: Beside{Column: true, Live: 1, Tasks: 3}}

// The layout is a pure function, tested by drawing it.
func TestGolden(t *testing.T) {
	with := func(change func(*Input)) Input {
		in := all
		change(&in)
		return in
	}
	for name, in := range map[string]Input{
		"all":         all,
		"plain":       {Prompt: 1},
		"tasks":       {Prompt: 2, Beside: Beside{Column: true, Tasks: 1}},
		"nothing":     {Prompt: 1, Beside: Beside{Column: true}},
		"long":        with(func(in *Input) { in.Prompt = 50 }),
		"queue":       with(func(in *Input) { in.Queue = 3 }),
		"dialog":      with(func(in *Input) { in.Dialog = Size{66, 12} }),
		"popup":       with(func(in *Input) { in.Popup = Size{40, 6} }),
		"zoom":        with(func(in *Input) { in.Zoom, in.Tab = true, Live }),
		"docked":      with(func(in *Input) { in.Dock = 12 }),
		"docked-full": with(func(in *Input) { in.Dock, in.DockFull = 99, true }),
		"page":        with(func(in *Input) { in.Tab = Live }),
		"hidden":      with(func(in *Input) { in.Hidden = true }),
		"wide":        with(func(in *Input) { in.Wide = true }),
		"two":         with(func(in *Input) { in.Live = 2 }),
		"two-wide":    with(func(in *Input) { in.Live, in.Wide = 2, true }),
		"two-page":    with(func(in *Input) { in.Live, in.Tab = 2, Live }),
		"two-docked":  with(func(in *Input) { in.Live, in.Dock = 2, 10 }),
		"three":       with(func(in *Input) { in.Live = 3 }),
		"grid":        with(func(in *Input) { in.Live, in.Grid, in.Zoom, in.Tab = 3, true, true, Live }),
	} {
		for _, size := range []Size{{40, 12}, {80, 24}, {100, 30}, {120, 32}, {200, 50}} {
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
			if err != nil || got != string(want) {
				t.Errorf("%s differs; if you meant to change it: make golden\ngot:\n%s\nwant:\n%s", file, got, want)
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
			Beside: Beside{Column: rnd.IntN(4) > 0, Hidden: rnd.IntN(4) == 0, Wide: rnd.IntN(3) == 0, Live: rnd.IntN(7), Grid: rnd.IntN(2) == 0, Tasks: rnd.IntN(5), Side: rnd.IntN(101), Upper: rnd.IntN(101)},
			Queue:  rnd.IntN(5),
			Dialog: Size{rnd.IntN(100), rnd.IntN(40)}, Popup: Size{rnd.IntN(60), rnd.IntN(8)},
			Dock: max(0, rnd.IntN(60)-30), DockFull: rnd.IntN(2) == 0,
		}
		l := Of(in)
		screen := Rect{0, 0, in.W, in.H}
		for _, r := range append(l.Panes[:], l.Header, l.Strip, l.Queue, l.Status, l.Input, l.Footer, l.Dialog, l.Dock, l.Popup) {
			if !r.Empty() && !within(r, screen) {
				t.Fatalf("%+v: %+v is outside", in, r)
			}
		}
		if l.Input.H < 1 || (in.W > 2 && l.Input.Empty()) || l.Input.H > max(1, in.H/3) {
			t.Fatalf("%+v: prompt %+v", in, l.Input)
		}
		if in.Dock > 0 && in.H > 3 && l.Dock.H < 1 {
			t.Fatalf("%+v: dock %+v", in, l.Dock)
		}
		checkParts(t, in, l)
	}
}

// checkParts checks that every cell belongs to one part, but for the edges that boxes share.
func checkParts(t *testing.T, in Input, l Layout) {
	t.Helper()
	bare := map[string]Rect{"header": l.Header, "strip": l.Strip, "queue": l.Queue, "status": l.Status, "prompt": l.Input, "footer": l.Footer, "conversation": l.Panes[Conversation]}
	boxes := map[string]Rect{"live": l.Panes[Live], "tasks": l.Panes[Tasks], "dock": l.Dock}
	for name, a := range bare {
		for other, b := range bare {
			if name != other && common(a, b, 0) {
				t.Fatalf("%+v: %s %+v overlaps %s %+v", in, name, a, other, b)
			}
		}
		for box, b := range boxes {
			if common(a, b, 0) {
				t.Fatalf("%+v: %s %+v overlaps %s %+v", in, name, a, box, b)
			}
		}
	}
	for name, a := range boxes {
		for other, b := range boxes {
			if name != other && common(a, b, 1) {
				t.Fatalf("%+v: %s %+v overlaps %s %+v", in, name, a, other, b)
			}
		}
		if name != "dock" && !a.Empty() && (a.H < least || a.W < min(in.W, leastSide)) {
			t.Fatalf("%+v: %s has no room: %+v", in, name, a)
		}
	}
	for i, a := range l.Tiles {
		if !within(a, l.Panes[Live]) || a.H < lowTile || a.W < narrowTile {
			t.Fatalf("%+v: tile %+v of %+v", in, a, l.Panes[Live])
		}
		for _, b := range l.Tiles[:i] {
			if a.X < b.X+b.W-1 && b.X < a.X+a.W-1 && a.Y < b.Y+b.H-1 && b.Y < a.Y+a.H-1 {
				t.Fatalf("%+v: tiles %+v and %+v overlap", in, a, b)
			}
		}
	}
	if l.Panes[Conversation].Empty() && l.Panes[Live].Empty() && l.Panes[Tasks].Empty() && in.H > 4 && in.Dock == 0 {
		t.Fatalf("%+v: nothing shows", in)
	}
}

func within(r, s Rect) bool {
	return r.X >= s.X && r.Y >= s.Y && r.X+r.W <= s.X+s.W && r.Y+r.H <= s.Y+s.H
}

// common reports whether two rectangles share cells; those of their edge rows may be shared by edge rows.
func common(a, b Rect, edge int) bool {
	return !a.Empty() && !b.Empty() && a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H-edge && b.Y < a.Y+a.H-edge
}

func BenchmarkOf(b *testing.B) {
	in := all
	in.W, in.H = 200, 60
	b.ReportAllocs()
	for b.Loop() {
		Of(in)
	}
}
