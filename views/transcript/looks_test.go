package transcript

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/viewtest"
)

// look starts a call of a tool that looks at files.
func look(s *viewtest.Session, id, tool, about string) *viewtest.Session {
	act, args := action.Action{Kind: action.FileRead, Tool: tool, Path: "/w/" + about}, `{"path":"`+about+`"}`
	if tool == "grep" {
		act.Path, args = "/w", `{"pattern":"`+about+`"}`
	}
	return s.Feed(event.ToolRequested{CallID: id, Name: tool, Arguments: args, Action: act}, event.ToolStarted{CallID: id})
}

func ended(s *viewtest.Session, id string) *viewtest.Session {
	return s.Feed(event.ToolResult{CallID: id, Result: "x\n", Outcome: "1 line", Tail: "x\n"})
}

func failedCall(s *viewtest.Session, id string) *viewtest.Session {
	return s.Feed(event.ToolResult{CallID: id, Result: "Tool error: no such file", Shown: "no such file", IsError: true})
}

// rowsOf returns the nonempty rows, trimmed.
func rowsOf(t *testing.T, c *Conversation, s *viewtest.Session) string {
	t.Helper()
	c.Update(&s.State, state.Everything)
	var rows []string
	for _, row := range viewtest.ScreenRows(t, c, 60, 24) {
		if row = texts.OneLine(row); row != "" {
			rows = append(rows, row)
		}
	}
	return strings.Join(rows, "|")
}

func newLooks(t *testing.T) (*viewtest.Session, *Conversation) {
	s := (&viewtest.Session{Now: 5}).Feed(event.SessionCreated{Cwd: "/w"}, event.PromptSubmitted{Text: "go"})
	return s, conversationOf(t, s, 60, 24)
}

// Consecutive reads and searches are one line as they arrive; text of the model separates them.
func TestLooksInARowAreOneLine(t *testing.T) {
	s, c := newLooks(t)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { look(s, "1", "read_file", "a.go") }, "▌ go|◐ read a.go"},
		{func() { ended(s, "1") }, "▌ go|▸ read a.go 1 line"},
		{func() { look(s, "2", "grep", "Tax") }, "▌ go|◐ Read 1 file, searched once"},
		{func() { ended(s, "2") }, "▌ go|▸ Read 1 file, searched once"},
		{func() { s.Feed(event.ReasoningDelta{Text: "hm\nso"}, event.ModelMessage{Reasoning: "hm\nso"}) }, "▌ go|▸ Read 1 file, searched once|▸ Thought"},
		{func() { look(s, "3", "read_file", "a.go") }, "▌ go|◐ Read 1 file, searched once"},
		{func() { look(s, "4", "read_file", "b.go"); ended(s, "4"); ended(s, "3") }, "▌ go|▸ Read 2 files, searched once"},
		{func() { s.Feed(viewtest.Say("The tax.")) }, "▌ go|▸ Read 2 files, searched once|The tax."},
		{func() { ended(look(s, "5", "read_file", "c.go"), "5") }, "▌ go|▸ Read 2 files, searched once|The tax.|▸ read c.go 1 line"},
		{func() {
			s.Feed(event.ToolRequested{CallID: "6", Name: "run_shell", Action: action.Action{Kind: action.Shell, Command: "make"}})
		}, "▌ go|▸ Read 2 files, searched once|The tax.|▸ read c.go 1 line|▹ make"},
	} {
		step.do()
		got := strings.NewReplacer("◓", "◐", "◑", "◐", "◒", "◐", " 00:00", "", " 0.0s", "").Replace(rowsOf(t, c, s))
		if got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
	replayed := conversationOf(t, s, 60, 24)
	if got, want := rowsOf(t, replayed, s), rowsOf(t, c, s); got != want {
		t.Errorf("read from the session's file: %q, want %q", got, want)
	}
}

// A failed or waiting call is never hidden.
func TestLooksThatFailShow(t *testing.T) {
	s, c := newLooks(t)
	for i := range 4 {
		look(s, fmt.Sprint(i), "read_file", fmt.Sprintf("f%d.go", i))
	}
	failedCall(ended(failedCall(ended(s, "1"), "0"), "2"), "3")
	if got, want := rowsOf(t, c, s), "▌ go|✗ read f0.go failed 0.0s|no such file|▸ Read 2 files|✗ read f3.go failed 0.0s|no such file"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	look(s, "5", "read_file", "/etc/x")
	s.Feed(event.ApprovalAsked{ID: "a", CallID: "5"})
	if got, want := rowsOf(t, c, s), "‖ read /etc/x"; !strings.Contains(got, want) || !strings.Contains(got, "read f1.go") {
		t.Errorf("%q, want %q in it and the calls apart", got, want)
	}
}

// Enter unfolds the line into its calls, then the first call, then folds everything.
func TestLooksUnfold(t *testing.T) {
	s, c := newLooks(t)
	ended(look(s, "1", "read_file", "a.go"), "1")
	ended(look(s, "2", "read_file", "b.go"), "2")
	ended(look(s, "3", "grep", "Tax"), "3")
	one := "▌ go|▸ Read 2 files, searched once"
	three := "▌ go|▸ read a.go 1 line|▸ read b.go 1 line|▸ search Tax 1 line"
	for _, step := range []struct{ keys, want string }{
		{"", one},
		{"fold", three},
		{"fold", "▌ go|▾ read a.go 1 line|path a.go|x|▸ read b.go 1 line|▸ search Tax 1 line"},
		{"fold", one},
	} {
		if step.keys != "" {
			viewtest.Press(t, c, step.keys)
		}
		if got := rowsOf(t, c, s); got != step.want {
			t.Errorf("%s: %q, want %q", step.keys, got, step.want)
		}
	}
	copied := ""
	c.OnCopy = func(text string) { copied = text }
	viewtest.Press(t, c, "copy-block")
	if copied != "read a.go\nread b.go\nsearch Tax" {
		t.Errorf("copied %q", copied)
	}
	c.Find("b.go")
	if got := rowsOf(t, c, s); !strings.Contains(got, "▾ read b.go") {
		t.Errorf("what was found is hidden: %q", got)
	}
}

// Keys and selection skip hidden blocks, at any size.
func TestKeysPassWhatIsHidden(t *testing.T) {
	s, c := newLooks(t)
	for i := range 130 {
		ended(look(s, fmt.Sprint(i), "read_file", fmt.Sprintf("f%d.go", i)), fmt.Sprint(i))
	}
	s.Feed(viewtest.Say("end"))
	if got, want := rowsOf(t, c, s), "▌ go|▸ Read 50 files|▸ Read 50 files|▸ Read 30 files|end"; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	for range 3 {
		viewtest.Press(t, c, "scroll-up")
	}
	viewtest.Press(t, c, "fold")
	if got := rowsOf(t, c, s); !strings.Contains(got, "f0.go") || strings.Contains(got, "f50.go") {
		t.Errorf("three up is the first row: %.300q", got)
	}
	viewtest.Press(t, c, "select", "scroll-bottom", "scroll-top")
	rowsOf(t, c, s)
	c.SetRect(0, 0, 30, 6)
	rowsOf(t, c, s)
}

// A thought shows its duration, if known.
func TestThoughtSaysHowLong(t *testing.T) {
	s, c := newLooks(t)
	s.Feed(event.ReasoningDelta{Text: "hm\nso"})
	if got := rowsOf(t, c, s); got != "▌ go|▸ Thinking" {
		t.Errorf("%q", got)
	}
	s.Now += 2400
	s.Feed(event.ModelMessage{Reasoning: "hm\nso"})
	if got := rowsOf(t, c, s); got != "▌ go|▸ Thought for 2 s" {
		t.Errorf("%q", got)
	}
}

// An answer longer than the screen has a note that it is complete, and the keys to its start.
func TestLongAnswerSaysThatItIsComplete(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: "go"}, event.TaskStarted{ID: 1, Kind: event.MainTask})
	c := conversationOf(t, s, 80, 12)
	last := func() string {
		c.Update(&s.State, state.Everything)
		return strings.TrimSpace(viewtest.ScreenRows(t, c, 80, 12)[11])
	}
	s.Feed(viewtest.Say(strings.Repeat("- item\n", 40)))
	if got := last(); strings.Contains(got, "complete") {
		t.Errorf("while the task runs: %q", got)
	}
	s.Feed(event.TaskFinished{ID: 1, Outcome: event.Completed})
	if got, want := last(), "Answer complete · Tab, then [ go to its start"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.Scroll(-3)
	if got := last(); strings.Contains(got, "complete") || !strings.Contains(got, "below") {
		t.Errorf("scrolled up: %q", got)
	}
	c.Bottom()
	s.Feed(event.PromptSubmitted{Text: "and"}, viewtest.Say("short"))
	if got := last(); got != "short" {
		t.Errorf("a short answer: %q", got)
	}
}
