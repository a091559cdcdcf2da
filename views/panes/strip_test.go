package panes

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/views/viewtest"
)

// The strip shows the running command once, and its last line of output.
func TestStripSaysTheLastLine(t *testing.T) {
	const command = "for i in $(seq 1 20); do echo step $i; sleep 1; done"
	shared := event.PaneOpened{Pane: "%1", Title: "shared", Target: "local"}
	began := []event.Event{
		event.ToolRequested{CallID: "c1", Name: "run_shell", Action: action.Action{Kind: action.Shell, Command: command, Target: "local"}},
		event.ToolStarted{CallID: "c1", Pane: "%1"},
	}
	own := []event.Event{
		event.TaskStarted{ID: 4, Kind: event.ShellTask, Title: command, Pane: "%2"},
		event.PaneOpened{Pane: "%2", Title: "for i in $(seq 1 20); do…", Target: "local"},
	}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string
		never  string
	}{
		{"nothing printed yet", append(began, shared), "◐ shell  No output yet", "seq"},
		{"it prints", append(began, shared, event.ToolOutput{CallID: "c1", Text: "step 1\nstep 2\n"}), "shell  step 2 ", "step 1"},
		{"a bar of progress", append(began, shared, event.ToolOutput{CallID: "c1", Text: "go\n 10%\r 90%"}), "  90% ", "10%"},
		{"colours and hostile text", append(began, shared, event.ToolOutput{CallID: "c1", Text: "\x1b[31mred\x1b[0m\x1b]52;c;aGk=\a"}), "  red", "\x1b"},
		{"it has ended", append(began, shared, event.ToolOutput{CallID: "c1", Text: "step 2\n"}, event.ToolResult{CallID: "c1", Name: "run_shell"}), "", "shell"},
		{"a long output", append(began, shared, event.ToolOutput{CallID: "c1", Text: strings.Repeat("x", 3*lastBytes) + "\nlast\n"}), "  last ", "xx"},
		{"in the background, while another pane shows", append(append(began, shared), event.TaskStarted{ID: 4, Kind: event.ShellTask, Title: "npm run dev", Pane: "%2"}), "+1 task", "npm"},
		{"in the background, when that has ended", append(append(began, shared), event.ToolResult{CallID: "c1", Name: "run_shell"}, event.TaskStarted{ID: 4, Kind: event.ShellTask, Title: "npm run dev", Pane: "%2"}), "npm run dev", "seq"},
		{"in the background", own, "● " + command, "do…"},
		{"ended in the background", append(own, event.TaskFinished{ID: 4, Outcome: event.Failed, Error: "exit code 1"}), "✗ shell  for i in", "●"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &state.State{}
			viewtest.Feed(s, tt.events...)
			p := newTestPanes(t, s)
			strip := NewStrip(viewtest.Dark(t), keymap.Default(), p, viewtest.Clock)
			strip.Update(s, state.Tasks)
			got := strings.TrimRight(viewtest.Text(t, strip, 100, 1), "\n") + " "
			if !strings.Contains(got, tt.want) || strings.Contains(got, tt.never) {
				t.Errorf("%q, want %q and no %q", got, tt.want, tt.never)
			}
		})
	}
}
