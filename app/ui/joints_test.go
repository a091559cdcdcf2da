package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/layout"
)

// The directions in which a line leaves a cell.
const (
	armUp = 1 << iota
	armDown
	armLeft
	armRight
)

var arms = map[string]int{
	"─": armLeft | armRight, "│": armUp | armDown,
	"┌": armDown | armRight, "┐": armDown | armLeft, "└": armUp | armRight, "┘": armUp | armLeft,
	"├": armUp | armDown | armRight, "┤": armUp | armDown | armLeft, "┬": armDown | armLeft | armRight, "┴": armUp | armLeft | armRight,
	"┼": armUp | armDown | armLeft | armRight,
}

// badJoints returns the cells where lines do not meet. Text may interrupt a line at the left or right edge.
func badJoints(x *testUI) (bad []string) {
	w, h, _ := x.Size()
	at := func(col, row int) (text string, have int) {
		if row < 0 || col < 0 || row >= h || col >= w {
			return "", 0
		}
		text, _, _ = x.Cell(col, row)
		return text, arms[text]
	}
	for y := range h {
		for c := range w {
			text, have := at(c, y)
			if have == 0 {
				continue
			}
			for _, d := range []struct {
				x, y, arm, back int
				written         bool
			}{{0, -1, armUp, armDown, false}, {0, 1, armDown, armUp, false}, {-1, 0, armLeft, armRight, true}, {1, 0, armRight, armLeft, true}} {
				other, meets := at(c+d.x, y+d.y)
				if leaves := have&d.arm != 0; leaves == (meets&d.back != 0) || leaves && d.written && meets == 0 && other != "" {
					continue
				}
				bad = append(bad, fmt.Sprintf("%s at %d,%d beside %q at %d,%d", text, c, y, other, c+d.x, y+d.y))
			}
		}
	}
	return bad
}

// Borders meet at any size and in any arrangement.
func TestBordersMeet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 9))
			x := open(t, 120, 32)
			x.feed(running...)
			x.feed(event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: strings.Repeat("out\n", 50)})
			x.feed(twoPanes...)
			x.inside(func() { x.u.arranged.setFocus(layout.Live) })
			x.Press("s") // several panes have lines between them
			var done []string
			do := func(format string, args ...any) { done = append(done, fmt.Sprintf(format, args...)) }
			meet := func() {
				if bad := badJoints(x); len(bad) > 0 {
					t.Fatalf("seed %d, after %s: %s\n%s", seed, strings.Join(done, ", "), strings.Join(bad, "\n"), x.Screen())
				}
			}
			for range 60 {
				switch rnd.IntN(11) {
				case 0, 1, 2:
					w, h := 20+rnd.IntN(200), 4+rnd.IntN(60)
					do("resize %d %d", w, h)
					for range rnd.IntN(3) { // one while another is drawn
						x.Resize(20+rnd.IntN(200), 4+rnd.IntN(60))
					}
					x.Resize(w, h)
					x.Settle()
				case 3:
					p := layout.Pane(rnd.IntN(int(layout.Tasks) + 1))
					do("focus %v", p)
					x.inside(func() { x.u.arranged.setFocus(p) })
				case 4:
					key := []string{"Alt+Left", "Alt+Right", "Alt+Shift+Down", "Alt+Shift+Up", "F3"}[rnd.IntN(5)]
					do("%s", key)
					x.Press(key)
				case 5:
					do("zoom")
					x.inside(x.u.arranged.toggleZoom)
				case 6:
					do("lines")
					x.inside(func() { x.u.arranged.setFocus(layout.Prompt) })
					x.Paste(strings.Repeat("a line\n", rnd.IntN(9)))
				case 7:
					do("clear")
					x.inside(func() { x.u.v.prompt.SetText("") })
				case 8:
					do("scroll")
					x.inside(func() { x.u.arranged.setFocus(layout.Conversation) })
					x.Press("PgUp")
					x.feed(event.Notice{Text: "something\nhappened"})
				case 9:
					do("pager")
					x.inside(func() { x.u.openOutput(x.u.state.Focused) })
					meet()
					do("closed")
					x.Press("q")
				default:
					id := 10 + rnd.IntN(6)
					do("task %d", id)
					x.feed(event.TaskStarted{ID: id, Kind: event.ShellTask, Title: "task"})
				}
				meet()
			}
		})
	}
}
