package ui

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/layout"
)

// The column opens when a command has been running for a while and closes when it ends.
func TestColumnShowsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		width := func() int { x.Settle(); lay, _ := x.arranged(); return lay.Panes[layout.Conversation].W }
		x.feed(running...)
		if got := width(); got != 120 {
			t.Errorf("before a command has run the conversation has %d columns", got)
		}
		x.feed(event.ToolStarted{CallID: "c1", Name: "run_shell"}, event.ToolOutput{CallID: "c1", Text: "total 16\n"})
		if got := width(); got != 120 {
			t.Errorf("a command that may end at once leaves %d columns", got)
		}
		time.Sleep(1100 * time.Millisecond)
		x.Want("▌ list the files", "run_shell ◐", "total 16")
		x.feed(event.PaneOpened{Pane: "%1", Title: "shared", Target: "local"})
		x.Want("shell ◐")
		x.unwanted("tasks") // the column repeats nothing
		if got := width(); got != 74 {
			t.Errorf("%d columns beside what is live, want 74", got)
		}
		x.feed(event.ToolResult{CallID: "c1", Name: "run_shell"})
		if got := width(); got != 120 {
			t.Errorf("%d columns when the command has ended", got)
		}
		x.Press("Tab", "Tab")
		x.Want("┌─ shell ✔")
		x.Press("Esc")
		x.unwanted("shell ✔")
	})
}

// On a narrow screen a line names the running command in place of the column. Tab or a click opens it as a page, and
// Tab goes back.
func TestStripOpensAsAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(running...)
		x.feed(twoPanes...)
		x.Want("● server  npm run dev", "Tab opens", "I will look.")
		x.Press("Tab")
		x.Want("┌─ shell", "login:", "├─ tasks")
		x.unwanted("Tab opens", "I will look.")
		x.Press("Tab")
		x.Want("Tab opens", "I will look.")
		if x.focus() != layout.Prompt {
			t.Errorf("the focus is on %v", x.focus())
		}
		lay, _ := x.arranged()
		strip := lay.Strip
		x.Click(strip.X+3, strip.Y)
		x.Want("┌─ shell", "login:")
		x.Press("Esc")
		x.Want("I will look.")
		x.Press("Tab")
		x.Type("/ps\n") // a sent line leads to the conversation
		x.Want("I will look.")
		if fits := sentAs[event.FitPane](x); len(fits) == 0 || fits[0].Pane != "%2" || fits[0].W != 78 || fits[len(fits)-1].W != 0 {
			t.Errorf("the pane of the page had the sizes %v", fits)
		}
		x.didRun("ps")
		x.rest() // Tab while typing stays in the prompt
		x.Resize(50, 12)
		x.unwanted("Tab opens", "F1 help")
		x.Press("Tab")
		x.Want("login:")
	})
}

// A border dragged across the whole screen leaves room for both sides.
func TestDraggingKeepsRoomForBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(twoPanes...)
		for _, to := range []int{0, 119} {
			x.Settle()
			x.Mouse(apptest.MousePress, x.column(), 8)
			x.Mouse(apptest.MouseDrag, to, 8)
			x.Mouse(apptest.MouseRelease, to, 8)
			x.Settle()
			lay, _ := x.arranged()
			if c, l := lay.Panes[layout.Conversation].W, lay.Panes[layout.Live].W; c < 20 || l < 20 {
				t.Errorf("dragged to %d: %d and %d columns", to, c, l)
			}
		}
	})
}

// TestSpaceIsGivenBack: the conversation has the full width while subagents work and after they are done, and each
// subagent's row names the command that opens its report.
func TestSpaceIsGivenBack(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(running[:2]...)
			x.begins(8, "explore", "look", false)
			x.begins(9, "explore", "read", false)
			x.Settle()
			for n := 8; n <= 9; n++ {
				x.on(n, n, event.TaskFinished{ID: n, Outcome: event.Completed})
				x.on(0, 1, event.ToolResult{CallID: fmt.Sprint("call-", n), Name: "agent", Result: "{}"})
			}
			x.feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
			x.Settle()
			if lay, _ := x.arranged(); lay.Panes[layout.Conversation].W != size[0] || !lay.Strip.Empty() {
				t.Errorf("the conversation has %d columns, the strip %v", lay.Panes[layout.Conversation].W, lay.Strip)
			}
			x.Want("/output #8 opens it", "/output #9 opens it")
			x.unwanted("tasks")
			x.Paste("/output #8")
			x.Press("Enter")
			x.Want("explore #8 · look")
			x.Press("Esc")
			x.unwanted("Nothing is running", "Tab opens")
		})
	}
}
