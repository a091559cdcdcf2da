package transcript

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/app/state"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// The row of a question has its text, not its JSON; the answer is below it, like a prompt.
func TestQuestionRow(t *testing.T) {
	c := &state.Call{
		Name: "ask_user", Arguments: `{"question":"Which\nport?"}`, State: state.CallDone,
		Action: action.Action{Kind: action.Internal, Tool: "ask_user", Preview: "Which\nport?"},
		Result: "8443, as on the\x1b[31m other host",
	}
	if got, want := wordsOf(c, "").Line(), "ask Which port?"; got != want {
		t.Errorf("asked: %q, want %q", got, want)
	}
	if got := callGain(c); got != "" {
		t.Errorf("answered: %q", got)
	}
	c.State, c.Started = state.CallRunning, 1
	if glyph, _ := callGlyph(c, false, 5000); glyph != draw.WaitingSign || callOutcome(c) != "" || callTime(c, 5000) != "" {
		t.Errorf("while it waits for the person: %q, %q, %q", glyph, callOutcome(c), callTime(c, 5000))
	}
	if c.State = state.CallCancelled; callOutcome(c) != "not answered (cancelled)" || callGain(c) != "" {
		t.Errorf("cancelled: %q, %q", callOutcome(c), callGain(c))
	}
}

// A call that never ran is not shown as failed.
func TestCallOutcome(t *testing.T) {
	one := 1
	for _, tt := range []struct {
		call state.Call
		want string
	}{
		{state.Call{State: state.CallWaiting}, ""},
		{state.Call{State: state.CallDenied}, "denied"},
		{state.Call{State: state.CallCancelled}, "not run (cancelled)"},
		{state.Call{State: state.CallFailed, Started: 1, ExitCode: new(130), Result: history.Unanswered + "; exit code 130"}, "interrupted"},
		{state.Call{State: state.CallFailed, Started: 1, ExitCode: new(130), Result: "exit code 130"}, "exit 130"},
		{state.Call{State: state.CallLeft}, "interrupted when buddy ended"},
		{state.Call{State: state.CallFailed}, "not run"},
		{state.Call{State: state.CallFailed, Started: 1}, "failed"},
		{state.Call{State: state.CallFailed, Started: 1, ExitCode: &one}, "exit 1"},
		{state.Call{State: state.CallDone, Started: 1}, ""},
	} {
		if got := callOutcome(&tt.call); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.call, got, tt.want)
		}
	}
}

// The row of a server's call shows the last reported progress while the call runs, without escape sequences.
func TestRowShowsProgress(t *testing.T) {
	call := state.Call{State: state.CallRunning, Action: action.Action{Kind: action.MCP}}
	for _, tt := range []struct{ reported, want string }{
		{"", ""},
		{"1/3 one\n", "1/3 one"},
		{"2/3 \x1b[2J\u202etwo\n", "2/3 ‹U+202E›two"},
		{strings.Repeat("x", 100) + "\n", strings.Repeat("x", maxProgress-1) + "…"},
	} {
		call.Output.Append(tt.reported)
		if got := callOutcome(&call); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.reported, got, tt.want)
		}
	}
	call.Action.Kind = action.Shell
	if got := callOutcome(&call); got != "" {
		t.Errorf("a command: %q", got)
	}
	call.Action.Kind, call.State = action.MCP, state.CallDone
	if got := callOutcome(&call); got != "" {
		t.Errorf("afterwards: %q", got)
	}
}

// An unfolded call shows its why and the decision about it, without empty fields.
func TestUnfoldedCallsExplainThemselves(t *testing.T) {
	rules := []event.DecisionRule{{Rule: "workspace", Text: "allow: reads a file in the workspace"}}
	for name, tt := range map[string]struct {
		decided event.DecisionExplained
		want    string
	}{
		"all of it": {
			event.DecisionExplained{Reasoning: "the log names it", From: event.FromText, Confidence: "0.8", Alternatives: []string{"grep", "ask"}, Rules: rules},
			"reason  the log names it|confidence  0.8|alternative  grep|alternative  ask|rule  allow: reads a file in the workspace (workspace)",
		},
		"rules only":                         {event.DecisionExplained{Rules: rules}, "rule  allow: reads a file in the workspace (workspace)"},
		"its why, which stands there anyway": {event.DecisionExplained{Reasoning: "to see", From: event.FromWhy}, "why  to see"},
		"an older session":                   {event.DecisionExplained{}, ""},
	} {
		tt.decided.CallID = "c"
		act := action.Action{Kind: action.FileRead, Tool: "read_file", Path: "/w/a.go"}
		if tt.decided.From == event.FromWhy {
			act.Why = tt.decided.Reasoning
		}
		s := (&viewtest.Session{Now: 5}).Feed(event.ToolRequested{CallID: "c", Name: "read_file", Arguments: "{}", Action: act})
		if tt.want != "" {
			s.Feed(tt.decided)
		}
		s.Feed(event.ToolResult{CallID: "c", Name: "read_file", Result: "text"})
		c := conversationOf(t, s, 78, 18)
		c.view.blocks[0].fold = unfolded
		var got []string
		for _, row := range viewtest.ScreenRows(t, c, 78, 18) {
			if row = strings.TrimSpace(row); strings.HasPrefix(row, "reason ") || strings.HasPrefix(row, "why ") || strings.HasPrefix(row, "confidence ") || strings.HasPrefix(row, "alternative ") || strings.HasPrefix(row, "rule ") {
				got = append(got, row)
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// An unfolded call whose name or arguments were corrected shows the model's spelling.
func TestCorrectedCallsShowWhatWasWritten(t *testing.T) {
	s := (&viewtest.Session{Now: 5}).Feed(event.ToolRequested{
		CallID: "c", Name: "read_file", Corrected: "readfile", Renamed: map[string]string{"ofset": "offset", "file_pth": "path"},
		Arguments: "{}", Action: action.Action{Kind: action.FileRead, Path: "/w/a.go"},
	})
	c := conversationOf(t, s, 98, 7)
	if got := viewtest.ScreenRows(t, c, 98, 7)[0]; !strings.Contains(got, "read /w/a.go") || strings.Contains(got, "readfile") {
		t.Errorf("folded: %q", got)
	}
	c.view.blocks[0].fold = unfolded
	if got, want := strings.Join(viewtest.ScreenRows(t, c, 98, 7), "\n"), "corrected  readfile → read_file, file_pth → path, ofset → offset"; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %q in it", got, want)
	}
}

// A command with much output shows the amount; the last one, while folded, also how to open it.
func TestLongOutputSaysHowMuch(t *testing.T) {
	s, c := newLooks(t)
	command := func(id, output string, full *action.FullOutput) {
		s.Feed(event.ToolRequested{CallID: id, Name: "run_shell", Action: action.Action{Kind: action.Shell, Tool: "run_shell", Command: "make " + id}},
			event.ToolStarted{CallID: id}, event.ToolResult{CallID: id, Name: "run_shell", Result: "{}", Tail: output, DurationMS: 400, FullOutput: full})
	}
	lines := strings.Repeat("line\n", 300)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { command("1", strings.Repeat("line\n", excerptRows), nil) }, "▌ go|▸ make 1 0.4s"},
		{func() { command("2", lines, nil) }, "▌ go|▸ make 1 0.4s|▸ make 2 300 lines · /output opens it 0.4s"},
		{func() { command("3", lines, &action.FullOutput{Path: "/out", Bytes: 2 << 20}) }, "▌ go|▸ make 1 0.4s|▸ make 2 300 lines 0.4s|▸ make 3 2.1 MB · /output opens it 0.4s"},
		{func() { look(s, "4", "read_file", "a.go"); ended(s, "4") }, "▌ go|▸ make 1 0.4s|▸ make 2 300 lines 0.4s|▸ make 3 2.1 MB 0.4s|▸ read a.go 1 line"},
	} {
		step.do()
		if got := rowsOf(t, c, s); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
	s, c = newLooks(t)
	command("5", lines, nil)
	c.Update(&s.State, state.Everything)
	if got := viewtest.ScreenRows(t, c, 40, 6)[2]; !strings.Contains(got, "300 lines") || strings.Contains(got, "/output") {
		t.Errorf("without room for it: %q", got)
	}
	c.view.blocks[1].fold = unfolded
	c.view.Top()
	if got := viewtest.ScreenRows(t, c, 60, 6)[2]; !strings.Contains(got, "300 lines") || strings.Contains(got, "/output") {
		t.Errorf("unfolded: %q", got)
	}
}

// An ended command shows its outcome and its duration.
func TestEndedCommandSaysHow(t *testing.T) {
	s, c := newLooks(t)
	for id, output := range map[string]string{"a": "", "b": strings.Repeat("line\n", 300)} {
		s.Feed(event.ToolRequested{CallID: id, Name: "run_shell", Action: action.Action{Kind: action.Shell, Tool: "run_shell", Command: "make"}},
			event.ToolStarted{CallID: id}, event.ToolResult{CallID: id, Name: "run_shell", Tail: output, DurationMS: 12_000, ExitCode: viewtest.Ptr(0)})
		want := "▌ go|✔ make exit 0 12s"
		if output != "" {
			want = "▌ go|✔ make exit 0 · 300 lines · /output opens it 12s"
		}
		if got := rowsOf(t, c, s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		s, c = newLooks(t)
	}
}
