package ui

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/layout"
	"buddy/views/draw"
)

// twoPanes are the shared pane and a command's pane.
var twoPanes = []event.Event{
	event.PaneOpened{Pane: "%1", Title: "shared", Target: "local", Attach: "tmux attach"},
	event.PaneOpened{Pane: "%2", Title: "server", Target: "local", Attach: "tmux attach"},
	event.TaskStarted{ID: 9, Kind: event.ShellTask, Title: "npm run dev", Pane: "%2"},
	event.PaneScreen{Pane: "%2", W: 120, H: 40, Rows: []string{"login:"}, Cursor: event.Cursor{X: 7, Visible: true}},
}

// openPanes starts the screen with two panes, the focus on the second.
func openPanes(t *testing.T, cols, rows int) *testUI {
	x := open(t, cols, rows)
	x.feed(twoPanes...)
	time.Sleep(2 * draw.GracePeriod) // a pane can't be typed into right after it opened
	x.u.deps.Later(func() { x.u.arranged.setFocus(layout.Live) })
	x.Settle()
	x.wantSent()
	return x
}

// sentAs returns and removes the sent commands of one kind.
func sentAs[C event.Command](x *testUI) []C {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []C
	x.sent = slices.DeleteFunc(x.sent, func(c event.Command) bool {
		one, ok := c.(C)
		if ok {
			all = append(all, one)
		}
		return ok
	})
	return all
}

// typed returns the bytes sent to a pane.
func typed(x *testUI, pane string) string {
	var all []byte
	for _, in := range sentAs[event.PaneInput](x) {
		if in.Pane == pane {
			all = append(all, in.Bytes...)
		}
	}
	return string(all)
}

func TestTypingIntoPane(t *testing.T) { // i … Ctrl+]
	synctest.Test(t, func(t *testing.T) {
		x := openPanes(t, 120, 32)
		x.Press("i")
		x.Want("typing · Ctrl+] ends", "all other keys go to the pane")
		if got := sentAs[event.FitPane](x); len(got) != 1 || got[0].Pane != "%2" || got[0].W < 40 || got[0].H < 4 {
			t.Errorf("the pane was fitted %v", got)
		}
		x.Type("ann\n")
		x.Press("Ctrl+C", "Tab", "Esc", "F1", "Up", "Ctrl+Left", "Alt+x", "Backspace", "Ctrl+L")
		if got, want := typed(x, "%2"), "ann\r\x03\t\x1b\x1bOP\x1b[A\x1b[1;5D\x1bx\x7f\x0c"; got != want {
			t.Errorf("typed %q, want %q", got, want)
		}
		x.Paste("two\nlines")
		x.wantSent(event.PanePaste{Pane: "%2", Text: "two\nlines"})
		x.feed(event.PaneScreen{Pane: "%2", W: 50, H: 8, Rows: []string{"vi"}, AppKeys: true})
		x.Press("Up")
		if got := typed(x, "%2"); got != "\x1bOA" {
			t.Errorf("typed %q for an arrow in a program with keys of its own", got)
		}
		x.Press("Ctrl+]")
		x.unwanted("typing ·")
		x.wantSent(event.FitPane{Pane: "%2"})
		x.Press("h")
		if got := typed(x, "%2"); got != "" {
			t.Errorf("typed %q after typing has ended", got)
		}
	})
}

// No key meant for a pane answers an approval, and the approval is visible.
func TestApprovalWhileTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openPanes(t, 120, 32)
		x.Press("i")
		sentAs[event.FitPane](x)
		x.feed(running...)
		x.feed(asked)
		x.Want("Run this command?", "Press F8 to answer")
		time.Sleep(draw.GracePeriod)
		x.Press("y", "F8", "n")
		if got := typed(x, "%2"); got != "y\x1b[19~n" {
			t.Errorf("typed %q", got)
		}
		sentAs[event.FitPane](x)
		x.wantSent()
		x.Press("Ctrl+]")
		x.rest()
		x.Want("Run this command?", "Press F8 to answer") // the panes have the focus
		sentAs[event.FitPane](x)
		x.decide("F8", "y")
		x.wantSent(event.AnswerApproval{ID: "a1", Decision: event.Once})
	})
}

// Keys typed on after the pane has closed do nothing.
func TestTypingEndsWithThePane(t *testing.T) {
	for name, gone := range map[string]event.Event{"closed": event.PaneClosed{Pane: "%2"}, "lost": event.PaneLost{Pane: "%2", Why: "killed"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := openPanes(t, 120, 32)
				x.Press("i", "a")
				x.feed(gone)
				x.Want("the pane was closed")
				x.Press("x", "y", "Tab")
				if x.focus() != layout.Live {
					t.Errorf("the focus went to %v", x.focus())
				}
				if got := typed(x, "%2"); got != "a" {
					t.Errorf("typed %q", got)
				}
				if got := sentAs[event.KillPane](x); got != nil {
					t.Errorf("killed %v", got)
				}
				time.Sleep(draw.GracePeriod)
				x.Press("Tab")
				if x.focus() == layout.Live {
					t.Error("keys are dead")
				}
			})
		})
	}
}

// A closed pane can't be typed into; a click elsewhere ends typing.
func TestTypingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openPanes(t, 120, 32)
		x.Press("i")
		x.Click(5, 5)
		x.unwanted("typing ·")
		x.inside(func() { x.u.arranged.setFocus(layout.Live) })
		x.feed(event.PaneLost{Pane: "%2", Why: "killed"}, event.PaneLost{Pane: "%1", Why: "killed"})
		x.Press("i")
		x.unwanted("typing ·")
	})
}

// Only panes on the screen are watched: hidden ones cost nothing.
func TestWatchedPanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(twoPanes...)
		x.inside(func() { x.u.arranged.setFocus(layout.Live) })
		watched := func(want ...string) {
			t.Helper()
			x.Settle()
			got := sentAs[event.WatchPanes](x)
			if len(got) == 0 || !slices.Equal(got[len(got)-1].IDs, want) {
				t.Errorf("watched %v, want %v at last\n%s", got, want, x.Screen())
			}
		}
		watched("%2")
		x.Press("h")
		watched("%1")
		x.inside(func() { x.u.arranged.setFocus(layout.Tasks) })
		x.Resize(80, 24) // a line names the command instead
		x.inside(func() { x.u.arranged.setFocus(layout.Prompt) })
		x.inside(func() { x.u.arranged.tab = layout.Conversation })
		watched()
		x.inside(func() { x.u.arranged.setFocus(layout.Live) })
		x.Press("z")
		watched("%1", "%2")
		if fmt.Sprint(sentAs[event.WatchPanes](x)) != "[]" {
			t.Error("said twice")
		}
	})
}

func TestKillPane(t *testing.T) { // x asks and kills; never the shared pane
	synctest.Test(t, func(t *testing.T) {
		x := openPanes(t, 120, 32)
		x.Press("x")
		x.Want("Kill this pane?", "server", "1  Yes", "2  No")
		x.Press("G", "j", "Space") // these scroll
		x.Press("n")
		x.unwanted("Kill this pane?")
		x.Press("x", "Esc", "x", "y")
		x.wantSent(event.KillPane{Pane: "%2"})
		x.Press("h", "x")
		x.Want("The shell can't be killed")
		x.wantSent()
	})
}

func TestQuitWhilePanesRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(twoPanes...)
		x.Press("Ctrl+D")
		x.Want("Quit?", "1 task is still running", "npm run dev", "1  Detach (everything keeps running)", "2  Stop it and quit", "3  Stay")
		x.Press("Esc")
		x.unwanted("Quit?")
		x.Press("Ctrl+C", "Ctrl+C")
		x.Want("Quit?")
		x.Press("n")
		x.unwanted("Quit?")
		x.Press("Ctrl+C", "Ctrl+C")
		x.Press("k")
		if err := x.Ended(); err != nil || !x.left.Kill {
			t.Errorf("left %+v, %v", x.left, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(twoPanes...)
		x.Type("/quit\n")
		x.Settle()
		x.Press("Enter") // within the grace period: nothing was chosen
		x.Want("Quit?")
		x.Press("Down", "Enter") // the first choice is to leave it running
		if err := x.Ended(); err != nil || x.left.Kill || !x.left.Detach {
			t.Errorf("left %+v, %v", x.left, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(append(twoPanes, event.TaskFinished{ID: 9, Outcome: event.Completed})...)
		x.Press("Ctrl+D") // nothing runs, so nothing is asked
		_ = x.Ended()
	})
}

func TestPaneHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openPanes(t, 120, 32)
		rows := make([]string, 500)
		for i := range rows {
			rows[i] = fmt.Sprintf("row %d.", i+1)
		}
		x.Press("k")
		x.wantSent(event.ReadPane{Pane: "%2"})
		x.Want("loading the scrollback")
		x.feed(event.PaneHistory{Pane: "%2", Rows: rows})
		x.Want("row 499.", "of 500 · End live")
		x.unwanted("row 500.")
		x.Press("PgUp")
		x.unwanted("row 499.")
		x.feed(event.PaneScreen{Pane: "%2", W: 120, H: 40, Rows: []string{"newer"}})
		x.unwanted("newer") // scrolled output does not move
		x.Press("g")
		x.Want("row 1.", "─ row 1 of 500")
		x.Press("Esc")
		x.Want("newer")
		x.Mouse(apptest.MouseWheelUp, 80, 5)
		x.wantSent(event.ReadPane{Pane: "%2"})
		x.feed(event.PaneHistory{Pane: "%2", Rows: rows})
		x.Want("row 497.")
		x.Mouse(apptest.MouseWheelDown, 80, 5)
		x.Want("newer")
		x.wantSent()
	})
}

// Several panes fit side by side, with the status of their commands and the target.
func TestPaneGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := openPanes(t, 160, 40)
		x.feed(
			event.PaneOpened{Pane: "web-01:%3", Title: "shared", Target: "web-01"}, event.PaneOpened{Pane: "web-02:%3", Title: "shared", Target: "web-02"},
			event.ToolRequested{CallID: "a", Name: "run_shell", Action: action.Action{Kind: action.Shell, Target: "web-01", Command: "uptime"}}, event.ToolStarted{CallID: "a"},
			event.ToolRequested{CallID: "b", Name: "run_shell", Action: action.Action{Kind: action.Shell, Target: "web-02", Command: "uptime"}}, event.ToolStarted{CallID: "b"},
			event.PaneScreen{Pane: "web-02:%3", W: 80, H: 24, Rows: []string{"up 3 days"}},
		)
		failed := 3
		x.feed(event.ToolResult{CallID: "b", ExitCode: &failed})
		x.Press("z")
		x.Want("shell", "server ● in the background", "web-01 ◐ running", "web-02 ✗ exit 3", "up 3 days")
		x.feed(event.TaskFinished{ID: 9, Outcome: event.Completed})
		x.Want("server ✔ exit 0")
		x.Press("l")
		x.Want("▸web-01", "web-02 ✗ exit 3")
		x.Press("s")
		x.unwanted("up 3 days")
		x.Want("No output yet")
		x.Press("Esc")
		x.Want("tasks")
	})
}

// The pane of a new command shows, but a key goes to the one that the user saw.
func TestPanesFollowCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(twoPanes...)
		x.Want("▸server")
		x.feed(event.ToolRequested{CallID: "a", Name: "run_shell"}, event.ToolStarted{CallID: "a", Name: "run_shell", Pane: "%1"})
		x.Want("▸shell")
		x.inside(func() { x.u.arranged.setFocus(layout.Live) })
		x.feed(event.ToolRequested{CallID: "b", Name: "run_shell"}, event.ToolStarted{CallID: "b", Name: "run_shell", Pane: "%2"})
		x.Want("▸shell") // it has the focus
		time.Sleep(draw.GracePeriod)
		x.Press("i", "a")
		if got := typed(x, "%1"); got != "a" {
			t.Errorf("typed %q into the pane that shows", got)
		}
		x.Press("Ctrl+]", "Esc")
		x.Want("▸server")
		x.Press("Tab", "Tab", "i") // too early: meant for the other pane
		x.unwanted("typing ·")
		time.Sleep(draw.GracePeriod)
		x.Press("i", "c")
		if got := typed(x, "%2"); got != "c" {
			t.Errorf("typed %q into the pane that shows now", got)
		}
	})
}

// TestSendToTheBackground: /bg and b in Live send the running command to the background; its task shows, and the
// conversation continues.
func TestSendToTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.Type("/bg\n")
		x.wantSent(event.Background{})
		x.u.deps.Later(func() { x.u.arranged.setFocus(layout.Live) })
		x.Settle()
		x.Press("b")
		x.wantSent(event.Background{})
		x.feed(event.TaskStarted{ID: 7, Kind: event.ShellTask, Title: "make all", Pane: "%1"})
		x.Want("make all")
		x.feed(event.Error{Text: "no command is running that could move to the background"})
		x.Want("no command is running that could move to the background")
	})
}

// Two panes with running commands show at once if they fit: side by side in a wide column and on a page, one above the
// other in a high one. The panes get their visible sizes.
func TestTwoRunningPanesShowAtOnce(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {200, 60}, {80, 24}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.feed(running...)
			x.feed(twoPanes...)
			x.feed(
				event.PaneScreen{Pane: "%1", W: 120, H: 40, Rows: []string{"$ go test"}},
				event.ToolRequested{CallID: "a", Name: "run_shell", Action: action.Action{Kind: action.Shell, Target: "local", Command: "go test"}},
				event.ToolStarted{CallID: "a", Name: "run_shell", Pane: "%1"},
			)
			if size[0] < 100 {
				x.inside(func() { x.u.arranged.setFocus(layout.Live) })
			}
			both := func(beside bool) {
				t.Helper()
				x.Want("login:", "$ go test")
				lay, _ := x.arranged()
				if len(lay.Tiles) != 2 || (lay.Tiles[0].Y == lay.Tiles[1].Y) != beside {
					t.Fatalf("%v: panes at %+v\n%s", size, lay.Tiles, x.Screen())
				}
				fits := sentAs[event.FitPane](x)
				for i, id := range []string{"%1", "%2"} {
					want := event.FitPane{Pane: id, W: lay.Tiles[i].W - 2, H: lay.Tiles[i].H - 2}
					if last := slices.IndexFunc(fits, func(f event.FitPane) bool { return f.Pane == id && f.W == want.W }); last < 0 {
						t.Errorf("%v: sizes %v, want %v", size, fits, want)
					}
				}
			}
			both(size != [2]int{120, 32})
			if size[0] == 120 {
				x.Press("F3")
				both(true)
			}
			x.feed(event.ToolResult{CallID: "a", Name: "run_shell"})
			if x.focus() != layout.Live { // a pane with the focus does not change
				x.Want("login:")
				x.unwanted("$ go test")
			}
			x.feed(event.PaneClosed{Pane: "%2"})
			x.unwanted("login:")
		})
	}
}
