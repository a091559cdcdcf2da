package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// outputBox draws an Output in a frame.
type outputBox struct {
	draw.Frame
	*Output
}

func (b outputBox) Draw(screen tcell.Screen) {
	b.DrawIn(b.Bordered(screen, draw.Titles{}).Cleared())
}

func outputOf(t testing.TB, s *viewtest.Session) outputBox {
	o := outputBox{draw.NewFrame(viewtest.Dark(t), keymap.Default()), &Output{}}
	o.Show(s.Focused)
	return o
}

// running is a session with one running command.
func running(command string) *viewtest.Session {
	s := &viewtest.Session{Now: 1000}
	return s.Feed(
		event.ToolRequested{CallID: "a", Name: "run_shell", Action: action.Action{Kind: action.Shell, Command: command}},
		event.ToolStarted{CallID: "a", Name: "run_shell"})
}

func printed(s *viewtest.Session, text string) *viewtest.Session {
	return s.Feed(event.ToolOutput{CallID: "a", Text: text})
}

func TestOutputGolden(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 12}, {40, 12}} {
		s := running("go test ./checkout/...\nmake")
		s.Now += 12_000
		printed(s, "--- \x1b[31mFAIL\x1b[0m: TestTax (0.00s)\n\ttax_test.go:41: got 1999\n日本語 👩\u200d🚀 ✅\n"+viewtest.HostileText+"\n 10%\r 50%\r100% done\n")
		o := outputOf(t, s)
		viewtest.Golden(t, "output", o, size[0], size[1])
		s.Feed(event.ToolResult{
			CallID: "a", ExitCode: viewtest.Ptr(1), DurationMS: 3200, Tail: string(s.Focused.Output.Buf),
			FullOutput: &action.FullOutput{Path: "out/a", Bytes: 93_000_000},
		})
		viewtest.Golden(t, "output-done", o, size[0], size[1])
	}
	viewtest.Golden(t, "output-none", outputOf(t, &viewtest.Session{}), 40, 12)
}

// Below an output is a note about hidden and unrecorded bytes; collapsed frames of a progress bar do not count as
// missing.
func TestOutputSaysWhatIsMissing(t *testing.T) {
	for want, full := range map[string]action.FullOutput{
		"5 KB not shown; the whole output is in out/a": {Path: "out/a", Bytes: 5000},
		"": {Path: "out/a", Bytes: 5000, Text: 3},
		"9.0 GB not shown; the whole output is in out/a, except 8.7 GB in the middle": {Path: "out/a", Bytes: 300_000_000, Text: 9_000_000_000, Missing: 8_700_000_000},
	} {
		c := &state.Call{Full: &full}
		c.Output.Set("end")
		if got := droppedText(c); got != want {
			t.Errorf("%+v: %q, want %q", full, got, want)
		}
	}
}

// A command without output is shown as such, or as still running; numbers and notes are for the model.
func TestOutputOfASilentCommand(t *testing.T) {
	for want, result := range map[string]event.ToolResult{
		"no output":          {ExitCode: viewtest.Ptr(0), Result: "[exit code 0, no output; duration 1 s]"},
		"in background (#4)": {Result: "[wait for it]", Outcome: "in background (#4)"},
	} {
		s := running("touch x")
		result.CallID, result.Aside = "a", result.Result
		s.Feed(result)
		text := viewtest.Text(t, outputOf(t, s), 60, 10)
		if !strings.Contains(text, want) || strings.Contains(text, "truncated") || strings.Contains(text, "duration") || strings.Contains(text, "wait") {
			t.Errorf("want %q:\n%s", want, text)
		}
	}
}

func TestOutputFollowsAndScrolls(t *testing.T) {
	s := running("seq 1000")
	o := outputOf(t, s)
	for i := range 100 {
		printed(s, fmt.Sprintf("line %d\n", i))
		viewtest.Text(t, o, 40, 12)
	}
	text := viewtest.Text(t, o, 40, 12)
	if !strings.Contains(text, "line 99") {
		t.Fatalf("does not follow:\n%s", text)
	}
	o.Page(-1)
	o.Scroll(-1)
	before := viewtest.ScreenRows(t, o, 40, 12)
	printed(s, "new\nnew\n")
	if after := viewtest.ScreenRows(t, o, 40, 12); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("scrolled up, the view moved:\n%s\nwas\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	o.Top()
	if rows := viewtest.ScreenRows(t, o, 40, 12); rows[0] != "$ seq 1000" || rows[1] != "line 0" {
		t.Errorf("at the top:\n%s", strings.Join(rows, "\n"))
	}
	o.Bottom()
	s.Feed(event.ToolResult{CallID: "a", ExitCode: viewtest.Ptr(0), Tail: string(s.Focused.Output.Buf)})
	if rows := viewtest.ScreenRows(t, o, 40, 12); rows[9] != "new" {
		t.Errorf("at the end:\n%s", strings.Join(rows, "\n"))
	}
}

// When the tail in the state drops its start, the screen keeps its text, colours and position.
func TestOutputGoesOnWhenTheTailDrops(t *testing.T) {
	s := running("yes")
	o := outputOf(t, s)
	printed(s, "\x1b[32m")
	var want []string
	for i := range 12_000 {
		line := fmt.Sprintf("%d y%s", i, strings.Repeat("y", i%30))
		printed(s, line+"\n")
		want = append(want, line)
		if i%100 == 0 {
			viewtest.Text(t, o, 60, 20)
		}
		if i == 11_000 {
			o.Page(-1)
			viewtest.Text(t, o, 60, 20)
		}
	}
	rows := viewtest.ScreenRows(t, o, 60, 20)
	var n int
	if _, err := fmt.Sscanf(rows[0], "%d", &n); err != nil || n > 11_000 || n < 10_950 {
		t.Errorf("the place was lost: %q", rows[0])
	}
	for i, row := range rows {
		if row != want[n+i] {
			t.Errorf("row %d is %q, want %q", i, row, want[n+i])
		}
	}
	if size := len(o.tail.writer.Text.Bytes); size > maxTail {
		t.Errorf("%d bytes are kept, limit %d", size, maxTail)
	}
	for _, r := range o.tail.writer.Text.Runs {
		if n, ok := r.Style.FG.Palette(); !ok || n != 2 {
			t.Errorf("the colour was lost: %v", r)
			break
		}
	}
	o.Top()
	if text := viewtest.Text(t, o, 60, 20); !strings.Contains(text, "KB not shown") {
		t.Errorf("does not say that something was dropped:\n%s", text)
	}
}

func TestOutputShowsTheLatestCall(t *testing.T) {
	s := printed(running("one"), "from one\n")
	o := outputOf(t, s)
	s.Feed(event.ToolRequested{CallID: "b", Name: "read_file", Action: action.Action{Path: "/a"}}, event.ToolStarted{CallID: "b"},
		event.ToolResult{CallID: "b", Result: "no such file", IsError: true})
	o.Show(s.Focused)
	text := viewtest.Text(t, o, 40, 12)
	for _, want := range []string{"read /a", "no such file"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "one") {
		t.Errorf("still shows the call before:\n%s", text)
	}
}
