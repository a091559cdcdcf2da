package ui

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The whole output comes from the files of the call, if there are any.
func TestDocument(t *testing.T) {
	dir := t.TempDir()
	both, long := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	writeFile(t, filepath.Join(both, "out"), "out\n")
	writeFile(t, filepath.Join(both, "err"), "err\n")
	writeFile(t, filepath.Join(long, "out"), "head")
	writeFile(t, filepath.Join(long, "out.tail"), "tail")
	writeFile(t, filepath.Join(dir, "3", "result.txt"), "spilled")
	for name, c := range map[string]struct {
		call state.Call
		want string
	}{
		"both streams": {state.Call{Dir: both, Full: &action.FullOutput{Path: filepath.Join(both, "out")}}, "out\n\n── stderr ──\nerr\n"},
		"cut":          {state.Call{Dir: long}, "head\n… some output was not recorded; the last 0 KB follow\ntail"},
		"spilled":      {state.Call{Dir: filepath.Join(dir, "3"), Full: &action.FullOutput{Path: filepath.Join(dir, "3", "result.txt")}}, "spilled"},
		"no file":      {state.Call{Dir: filepath.Join(dir, "4"), Result: "the result"}, "the result"},
		"still runs":   {state.Call{Output: state.Tail{Buf: []byte("so far")}}, "so far"},
	} {
		d, err := slash.Document(&c.call)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := io.ReadAll(io.NewSectionReader(d.Text, 0, d.Size))
		if string(got) != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		b := make([]byte, 3)
		if n, _ := d.Text.ReadAt(b, 2); n == 3 && string(b) != c.want[2:5] {
			t.Errorf("%s: from 2 on %q", name, b)
		}
		d.Close()
	}
	if _, err := slash.Document(&state.Call{Full: &action.FullOutput{Path: "/dev/zero"}}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device was opened: %v", err)
	}
}

func TestOpenOutput(t *testing.T) { // o opens the complete output
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "out"), strings.Repeat("a line\n", 100)+"the end\n")
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.u.deps.Look = func(name string, r io.Reader) error {
			text, err := io.ReadAll(r)
			x.noticed = fmt.Sprint(name, " ", len(text))
			return err
		}
		x.Type("/output\n")
		x.Want("no such call")
		code := 0
		x.feed(running...)
		x.feed(event.ToolStarted{CallID: "c1", Dir: dir}, event.ToolResult{CallID: "c1", Name: "run_shell", Result: "{}", ExitCode: &code, Tail: "the end\n"},
			event.TaskFinished{ID: 1, Outcome: event.Completed})
		for name, do := range map[string]func(){
			"command":      func() { x.u.arranged.setFocus(layout.Prompt); x.Type("/output 1\n") },
			"conversation": func() { x.u.arranged.setFocus(layout.Conversation); x.Press("o") },
			"output":       func() { x.u.arranged.setFocus(layout.Live); x.Press("Enter") },
		} {
			do()
			if !strings.Contains(x.Screen(), "0% of 708 bytes") {
				t.Errorf("%s does not open it:\n%s", name, x.Screen())
			}
			x.Press("q")
			x.unwanted("of 708 bytes")
		}
		x.u.arranged.setFocus(layout.Live)
		x.Press("Enter", "G", "e")
		x.Want("the end", "100% of")
		if x.noticed != "output.txt 708" {
			t.Errorf("the editor got %q", x.noticed)
		}
		x.Press("v", "k", "k", "y")
		if x.copied != "a line\na line\na line\n" {
			t.Errorf("copied %q", x.copied)
		}
		x.Press("v", "j", "Ctrl+C") // copies, as in the conversation; it does not quit
		if x.copied != "a line\na line\n" {
			t.Errorf("Ctrl+C copied %q", x.copied)
		}
		x.unwanted("again to quit")
		x.feed(event.ToolRequested{CallID: "c2", Name: "run_shell", Action: action.Action{Kind: action.Shell, Command: "rm x"}},
			event.ApprovalAsked{ID: "a2", CallID: "c2", Action: ls})
		x.Want("‖ 1 approval") // below the pager
		x.Press("F8")
		x.Want("Run this command?")
		x.Press("F8", "/")
		x.Type("END")
		x.Press("Esc", "q")
		x.unwanted("of 708 bytes")
	})
}

// The output of a full-screen program is not plain text: its readable part is shown.
func TestOpenOutputOfATerminal(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "out"), "before\r\n\x1b[?1049h\x1b[2;1HGARBLE\x1b[?1049l\x1b[1mafter\x1b[m\r\n")
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(running...)
		x.feed(event.ToolStarted{CallID: "c1", Dir: dir, Terminal: true}, event.TaskStarted{ID: 7, Kind: event.ShellTask, Title: "vim", Dir: dir},
			event.ToolResult{CallID: "c1", Name: "run_shell", Result: "{}"})
		for name, do := range map[string]func(){
			"call": func() { x.u.arranged.setFocus(layout.Prompt); x.Type("/output\n") },
			"task": func() { x.u.arranged.setFocus(layout.Tasks); x.Press("Enter") },
		} {
			do()
			x.Want("before", "after", "full-screen output is not shown")
			if strings.Contains(x.Screen(), "GARBLE") {
				t.Errorf("%s:\n%s", name, x.Screen())
			}
			x.Press("q")
		}
	})
}

// Ctrl+O opens and closes the messages as the model sees them; the draft stays.
func TestTranscriptOnScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		x.feed(running[:3]...)
		x.Type("a draft")
		x.Press("Ctrl+O")
		x.Want("Transcript", "[user]", `→ use_tool {"name":"x"}`)
		x.Press("Ctrl+O")
		if strings.Contains(x.Screen(), "[user]") {
			t.Errorf("it still shows:\n%s", x.Screen())
		}
		x.Want("a draft")
	})
}
