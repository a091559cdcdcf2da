package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/themes"
	"buddy/views/viewtest"
)

// scene holds the events that a screen shows.
type scene struct {
	name string
	tell []event.Event
	late []event.Event // applied after the first draw
}

func call(id, tool string, a action.Action) []event.Event {
	a.Tool, a.Target = tool, "local"
	return []event.Event{event.ToolRequested{CallID: id, Name: tool, Action: a}, event.ToolStarted{CallID: id, Name: tool}}
}

func ended(id, tool, result string, code int) event.Event {
	return event.ToolResult{CallID: id, Name: tool, Result: "[exit code 0, no output]", Aside: "[exit code 0, no output]", ExitCode: &code, DurationMS: 3200, Tail: result}
}

// startedSession is an answered prompt in a session with a title.
func startedSession(more ...[]event.Event) []event.Event {
	all := []event.Event{
		event.SessionRenamed{Title: "checkout taxes"},
		event.ContextUsage{Estimated: 34, Limit: 100, Percent: 34},
		event.MetricsUsage{SessionPrompt: 12_000, SessionCompletion: 900, SessionCost: 120_000},
		event.PromptSubmitted{ID: 1, Text: "why do the checkout tests fail?"},
		event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "why do the checkout tests fail?"},
		event.ModelMessage{Message: model.Message{Content: "Let me run them first."}},
	}
	for _, m := range more {
		all = append(all, m...)
	}
	return all
}

// testRun is a command whose pane shows failing tests, next to a background server.
func testRun() []event.Event {
	test := call("c1", "run_shell", action.Action{Kind: action.Shell, Command: "go test ./checkout/..."})
	test[1] = event.ToolStarted{CallID: "c1", Name: "run_shell", Pane: "%1"}
	return append([]event.Event{
		event.PaneOpened{Pane: "%2", Title: "server", Target: "local", Attach: "tmux -L buddy attach -t buddy-7f3a"},
		event.TaskStarted{ID: 3, Kind: event.ShellTask, Title: "npm run dev", Pane: "%2"},
		event.PaneOpened{Pane: "%1", Title: "shared", Target: "local", Attach: "tmux -L buddy attach -t buddy-7f3a"},
	}, append(test, event.PaneScreen{
		Pane: "%1", W: 80, H: 24, Cursor: event.Cursor{Y: 4, Visible: true},
		Rows: []string{"$ go test ./checkout/...", "\x1b[31m--- FAIL\x1b[0m: TestTax (0.00s)", "    tax_test.go:41: got 1999, want 2000", "FAIL    shop/checkout   0.021s", ""},
	})...)
}

// fleet is a command on four targets that fails on one.
func fleet() []event.Event {
	act := action.Action{Kind: action.Shell, Command: "systemctl is-active nginx", Cwd: "/"}
	var events []event.Event
	for i := range 4 {
		web := fmt.Sprintf("web-0%d", i+1)
		act.Targets = append(act.Targets, action.TargetCwd{Target: web})
		events = append(events,
			event.PaneOpened{Pane: web + ":%1", Title: "shared", Target: web},
			event.PaneScreen{Pane: web + ":%1", W: 80, H: 24, Cursor: event.Cursor{Y: 2, Visible: true}, Rows: []string{"$ systemctl is-active nginx", "active on " + web, ""}})
	}
	return append(events, call("c1", "run_shell", act)...)
}

// longDiff is a file change with more lines than there are rows.
func longDiff() []event.Event {
	var b strings.Builder
	b.WriteString("@@ -1,3 +1,43 @@\n package checkout\n \n-func Tax(cents int) int { return cents * 19 / 100 }\n")
	for i := range 41 {
		fmt.Fprintf(&b, "+// line %d of the new file\n", i+1)
	}
	a := action.Action{Kind: action.FileWrite, Tool: "edit_file", Target: "local", Path: "/home/ann/shop/checkout/tax.go", Why: "it truncates", Risk: action.Medium, Mutation: true, Preview: b.String()}
	return []event.Event{
		event.ToolRequested{CallID: "c2", Name: "edit_file", Action: a},
		event.ApprovalAsked{ID: "a1", CallID: "c2", Action: a, Verdict: action.Verdict{Decision: action.Ask, Reason: "files are changed after approval", Rule: "file"}},
	}
}

// scenes lists the screens of a day's work.
var scenes = []scene{
	{name: "first"},
	{name: "idle", tell: startedSession(testRun(), []event.Event{
		ended("c1", "run_shell", "FAIL\n", 1),
		event.ModelMessage{Message: model.Message{Content: "The rounding in `tax.go` truncates instead of rounding."}},
		event.TaskFinished{ID: 1, Outcome: event.Completed},
		event.TaskFinished{ID: 3, Outcome: event.Completed},
	})},
	{name: "streaming", tell: startedSession([]event.Event{event.TextDelta{Text: "The rounding in `tax.go` truncates instead of rounding, so that a tax of half a cent is lost; " + strings.Repeat("and so on ", 20)}})},
	{name: "command", tell: startedSession(testRun())},
	{name: "fleet", tell: startedSession(fleet())},
	{name: "approval", tell: startedSession(testRun(), []event.Event{ended("c1", "run_shell", "FAIL\n", 1)}), late: longDiff()},
	{name: "question", tell: startedSession(), late: []event.Event{event.QuestionAsked{ID: "q1", Text: "Which way shall half a cent be rounded?", Choices: []string{"up", "to the even cent"}}}},
	{name: "queue", tell: startedSession(testRun(), []event.Event{
		event.PromptSubmitted{ID: 2, Text: "and add a test for the rounding", Queued: true},
		event.PromptSubmitted{ID: 3, Text: "then run all tests", Queued: true},
		event.PromptSubmitted{ID: 4, Text: "and write it into the changelog", Queued: true},
	})},
	{name: "error", tell: startedSession([]event.Event{event.ModelRetry{Attempt: 3, Of: 6, WaitMS: 12_000, Why: "the model's server is overloaded", Short: "529 overloaded", Raw: `{"error":"overloaded"}`}})},
}

// screenSizes are those of phones, old terminals, windows and whole monitors.
var screenSizes = [][2]int{{40, 12}, {80, 24}, {100, 30}, {120, 32}, {200, 50}}

// Every scene at every size matches its golden file.
func TestScreens(t *testing.T) {
	for _, s := range scenes {
		for _, size := range screenSizes {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := s.open(t, size[0], size[1])
					x.golden("screen-" + s.name)
				})
			})
		}
	}
}

// The scenes with most colours use those of the theme.
func TestScreensHaveTheColoursOfTheTheme(t *testing.T) {
	for _, s := range scenes {
		if s.name != "command" && s.name != "approval" {
			continue
		}
		for _, name := range []string{"dark", "light"} {
			theme, err := themes.Load("", name)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				x := s.open(t, 100, 30)
				x.inside(func() { x.u.colours.set(theme); x.u.deps.Repaint() })
				viewtest.GoldenText(t, "styles-"+s.name+"-"+name, x.styles())
			})
		}
	}
}

// open starts the screen with the events of the scene.
func (s scene) open(t *testing.T, cols, rows int) *testUI {
	x := open(t, cols, rows)
	x.feed(s.tell...)
	if len(s.late) > 0 {
		x.feed(s.late...)
	}
	time.Sleep(1500 * time.Millisecond) // shown times are in whole seconds
	return x
}

// styles returns the screen with a letter for the style of each cell below each row, and a legend at the end.
func (x *testUI) styles() string {
	x.Settle()
	cols, rows, _ := x.Size()
	var b, legend strings.Builder
	letters := map[string]string{"": " "}
	for y := range rows {
		var text, styles strings.Builder
		for c := range cols {
			cell, style, _ := x.Cell(c, y)
			if cell == "" {
				cell = " "
			}
			if letters[style] == "" {
				letters[style] = string(rune('a' + len(letters) - 1))
				fmt.Fprintf(&legend, "%s %s\n", letters[style], style)
			}
			text.WriteString(cell)
			styles.WriteString(letters[style])
		}
		for _, row := range []string{text.String(), styles.String()} {
			b.WriteString(strings.TrimRight(row, " ") + "\n")
		}
	}
	return regexp.MustCompile("[◐◓◑◒]").ReplaceAllString(b.String(), "◐") + legend.String()
}
