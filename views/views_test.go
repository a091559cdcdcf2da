package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/viewtest"
)

var created = event.SessionCreated{Cwd: "/home/u/src/shop", Target: "local", Model: "gpt-5.3-codex", API: "responses", Window: 400_000}

func TestHeaderGolden(t *testing.T) {
	full := []event.Event{
		created,
		event.ContextUsage{Estimated: 34, Limit: 100, Percent: 34},
		event.MetricsUsage{SessionPrompt: 12_345, SessionCompletion: 1_234},
		event.ModeChanged{Mode: action.ModeAsk},
	}
	loud := append(slices.Clone(full), event.ModeChanged{Mode: action.ModeAll, Until: viewtest.MS(-600)}, viewtest.Ask("1", viewtest.Restart), viewtest.Ask("2", viewtest.Restart))
	remote := created
	remote.Target, remote.Cwd = "root@web-02 (ssh)", "/var/www/a/very/long/directory/name/that/goes/on"
	remote.Model = "org/" + viewtest.Hostile
	paid := append(slices.Clone(full), event.MetricsUsage{SessionPrompt: 12_345, SessionCompletion: 1_234, SessionCost: 420_000, SessionUnpriced: 1})
	hard := created
	hard.Effort = "high"
	for name, events := range map[string][]event.Event{"goal": append(slices.Clone(full), event.GoalChanged{State: event.GoalActive, Used: event.GoalUse{Turns: 3}, Limit: event.GoalUse{Turns: 20}}), "effort": append([]event.Event{hard}, full[1:]...), "empty": nil, "full": full, "paid": paid, "loud": loud, "hostile": {remote}} {
		for _, w := range []int{200, 120, 80, 60, 40, 20} {
			h := NewHeader(viewtest.Dark(t), keymap.Default(), "/home/u", time.UTC)
			var s state.State
			h.Update(&s, viewtest.Feed(&s, events...))
			h.SetApprovalLeft(true)
			viewtest.Golden(t, "header-"+name, h, w, 1)
		}
	}
}

// Whatever the width, nothing overlaps and the mode and the waiting approval stay.
func TestHeaderAnyWidth(t *testing.T) {
	h := NewHeader(viewtest.Dark(t), keymap.Default(), "/home/u", time.UTC)
	var s state.State
	h.Update(&s, viewtest.Feed(&s, created, event.ContextUsage{Limit: 1, Percent: 250}, event.ModeChanged{Mode: action.ModeAll}, viewtest.Ask("1", viewtest.Restart)))
	h.SetApprovalLeft(true)
	for w := 24; w <= 200; w++ {
		got := viewtest.Text(t, h, w, 1)
		if !strings.Contains(got, " all") || !strings.Contains(got, "‖ 1 approval") {
			t.Errorf("%d columns: %q", w, got)
		}
	}
}

// How full the context is stands out from 70, 80 and 90 % on, and says what to do; the percents stay at any width.
func TestHeaderHealthOfTheContext(t *testing.T) {
	for _, c := range []struct {
		health event.Health
		use    int
		role   themes.Role
		want   string
	}{
		{event.Healthy, 69, themes.Header, "ctx ▓▓▓▓▓▓░░ 69%   "},
		{event.Hint, 70, themes.Notice, " ctx ▓▓▓▓▓▓░░ 70% · /compact soon "},
		{event.Warned, 80, themes.Warning, " ctx ▓▓▓▓▓▓░░ 80% · /compact "},
		{event.Critical, 93, themes.Error, " ctx ▓▓▓▓▓▓▓░ 93% · /compact now "},
	} {
		h := NewHeader(viewtest.Dark(t), keymap.Default(), "/home/u", time.UTC)
		var s state.State
		h.Update(&s, viewtest.Feed(&s, created, event.ContextUsage{Estimated: c.use, Limit: 100, Percent: c.use, Health: c.health}, event.ModeChanged{Mode: action.ModeAsk}))
		if got := viewtest.Text(t, h, 160, 1); !strings.Contains(got, c.want) {
			t.Errorf("%d %%: %q, want %q", c.use, got, c.want)
		}
		for _, sp := range h.context().forms[0] {
			if sp.Style.Role != c.role {
				t.Errorf("%d %%: drawn as role %d, want %d", c.use, sp.Style.Role, c.role)
			}
		}
		for w := 40; c.health != event.Healthy && w <= 160; w++ {
			if got := viewtest.Text(t, h, w, 1); !strings.Contains(got, fmt.Sprintf("%d%%", c.use)) {
				t.Errorf("%d %% in %d columns: %q", c.use, w, got)
			}
		}
	}
}

// Tokens and costs are shown unless the person wants none.
func TestHeaderWithoutTokens(t *testing.T) {
	h := NewHeader(viewtest.Dark(t), keymap.Default(), "/home/u", time.UTC)
	var s state.State
	h.Update(&s, viewtest.Feed(&s, created, event.MetricsUsage{SessionPrompt: 4000, SessionCompletion: 200, SessionCost: 30_000}))
	if got := viewtest.Text(t, h, 160, 1); !strings.Contains(got, "4.0k in 200 out · $0.03") {
		t.Errorf("%q", got)
	}
	h.NoTokens = true
	if got := viewtest.Text(t, h, 160, 1); strings.Contains(got, "out") || strings.Contains(got, "$") {
		t.Errorf("%q", got)
	}
}

func TestStatusLine(t *testing.T) {
	started := event.TaskStarted{ID: 4, Kind: event.MainTask, Title: "why"}
	call := event.ToolRequested{CallID: "c1", Name: "run_shell\x1b"}
	message := event.ModelMessage{Message: model.Message{Content: "done"}}
	for _, c := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"nothing", nil, ""},
		{"waiting for the model", []event.Event{started}, "◑ #4 main 00:31 · waiting for the model"},
		{"a follow-up", []event.Event{started, message, event.TurnFinished{}, event.TurnFinished{}}, "◑ #4 main 00:31 · waiting for the model · follow-up 2"},
		{"a follow-up that answers", []event.Event{started, event.TurnFinished{}, event.TextDelta{Text: "so"}}, "◑ #4 main 00:31 · answering · quiet for 31 s"},
		{"thinking", []event.Event{started, event.ReasoningDelta{Text: "hm"}}, "◑ #4 main 00:31 · thinking · quiet for 31 s"},
		{"answering", []event.Event{started, event.TextDelta{Text: "so"}}, "◑ #4 main 00:31 · answering · quiet for 31 s"},
		{"pings", []event.Event{started, event.RequestStarted{}, event.ModelAlive{}}, "◑ #4 main 00:31 · waiting for the model · quiet for 31 s"},
		{"waits to try again", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 31_000 + 12_500}}, "◑ #4 main 00:31 · attempt 2 failed, the next in 00:13 · Enter now · Esc stops"},
		{"the wait is over", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 1000}}, "◑ #4 main 00:31 · waiting for the model · quiet for 31 s"},
		{"tries again", []event.Event{started, event.ModelRetry{Attempt: 2, WaitMS: 43_500}, event.ModelAlive{}, event.TextDelta{Text: "so"}, message}, "◑ #4 main 00:31 · waiting for the model"},
		{"a command ends while it waits", []event.Event{started, event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.ModelRetry{Attempt: 1, WaitMS: 43_500}, event.TaskFinished{ID: 5}}, "◑ #4 main 00:31 · attempt 1 failed, the next in 00:13 · Enter now · Esc stops"},
		{"approval", []event.Event{started, message, call, viewtest.Ask("1", viewtest.Restart)}, "‖ #4 main 00:31 · waits for your approval"},
		{"running", []event.Event{started, message, call, event.ToolStarted{CallID: "c1"}, event.ToolOutput{CallID: "c1", Text: strings.Repeat("x", 3000)}}, "◑ #4 main 00:31 · running run_shell␛ · 3 KB"},
		{"cancelling", []event.Event{started, event.TaskCancelling{ID: 4}}, "◌ #4 main 00:31 · cancelling"},
		{"deadline", []event.Event{event.TaskStarted{ID: 4, Kind: event.MainTask, Deadline: viewtest.MS(-90)}}, "◑ #4 main 00:31 · waiting for the model · 01:30 left"},
		{"several", []event.Event{started, event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskStarted{ID: 6, Kind: event.ShellTask}}, "◑ #4 main 00:31 · waiting for the model · 2 in the background"},
		{"background only", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}}, "◑ #5 shell 00:31 · in the background"},
		{"background with a deadline", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskDeadline{ID: 5, Deadline: viewtest.MS(-90)}}, "◑ #5 shell 00:31 · in the background · 01:30 left"},
		{"background being cancelled", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskCancelling{ID: 5}}, "◌ #5 shell 00:31 · cancelling · in the background"},
		{"several in the background", []event.Event{event.TaskStarted{ID: 5, Kind: event.ShellTask}, event.TaskStarted{ID: 6, Kind: event.ShellTask}}, "◑ 2 tasks in the background"},
		{"queued", []event.Event{started, event.PromptSubmitted{ID: 1, Queued: true}}, "◑ #4 main 00:31 · waiting for the model · 1 queued"},
		{"interrupted", []event.Event{event.Interrupted{CanContinue: true}}, "interrupted · Enter continues"},
		{"finished", []event.Event{started, event.TaskFinished{ID: 4, Outcome: event.Completed}}, ""},
	} {
		l := NewStatusLine(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
		var s state.State
		for _, ev := range c.events {
			l.Update(&s, s.Apply(event.Envelope{Time: viewtest.MS(31), Task: 4, Payload: ev}))
		}
		if got := strings.TrimSpace(viewtest.Text(t, l, 80, 1)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if want := strings.Contains(c.want, "◑") || strings.Contains(c.want, "◌") || strings.Contains(c.want, "main"); l.Busy() != want {
			t.Errorf("%s: Busy() = %v, want %v", c.name, l.Busy(), want)
		}
	}
}

func TestFooterGolden(t *testing.T) {
	for _, scope := range keymap.Scopes() {
		f := NewFooter(viewtest.Dark(t), keymap.Default())
		f.SetScope(scope, false)
		var s state.State
		f.Update(&s, viewtest.Feed(&s, event.PromptSubmitted{ID: 1, Queued: true}, event.PromptSubmitted{ID: 2, Queued: true}))
		viewtest.Golden(t, "footer-"+string(scope), f, 100, 1)
	}
	for _, w := range []int{40, 12, 2} {
		viewtest.Golden(t, "footer", NewFooter(viewtest.Dark(t), keymap.Default()), w, 1)
	}
}

func tasksState() *state.State {
	s := &state.State{}
	for i, ev := range []event.Event{
		event.TaskStarted{ID: 1, Kind: event.ShellTask, Title: "make all"},
		event.TaskFinished{ID: 1, Outcome: event.Failed, Error: "exit 2:\nno rule"},
		event.TaskStarted{ID: 2, Kind: event.ShellTask, Title: viewtest.Hostile},
		event.TaskFinished{ID: 2, Outcome: event.Cancelled},
		event.TaskStarted{ID: 3, Kind: event.ShellTask, Title: "npm run dev (pane 2)"},
		event.TaskFinished{ID: 3, Outcome: event.Completed},
		event.TaskStarted{ID: 4, Kind: event.MainTask, Title: "why do the checkout tests fail?"},
		event.TaskStarted{ID: 5, Kind: event.ShellTask, Title: "a long one", Deadline: viewtest.MS(-300)},
		event.TaskCancelling{ID: 5},
		event.TaskQueued{ID: 6, Kind: event.ShellTask, Title: "later"},
		viewtest.Ask("1", action.Action{Tool: "edit_file", Path: "checkout/tax.go"}),
	} {
		s.Apply(event.Envelope{Seq: uint64(i), Time: viewtest.MS(100 - i), Task: 4, Payload: ev})
	}
	return s
}

func newTestTasks(t testing.TB) *Tasks {
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	v.Update(tasksState(), state.Everything)
	v.Focus(nil)
	return v
}

func TestTasksGolden(t *testing.T) {
	for _, size := range [][2]int{{60, 9}, {40, 5}, {100, 12}} {
		viewtest.Golden(t, "tasks", newTestTasks(t), size[0], size[1])
	}
	viewtest.Golden(t, "tasks-none", NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock), 40, 3)
}

// Cancelling takes the selected task, once, and none that has ended.
func TestTasksCancel(t *testing.T) {
	v := newTestTasks(t)
	var cancelled []int
	var opened []string
	v.OnCancel = func(id int) { cancelled = append(cancelled, id) }
	v.OnApproval = func(id string) { opened = append(opened, id) }
	viewtest.Press(t, v, "task-cancel", "item-open")
	for range 10 {
		viewtest.Press(t, v, "item-down", "task-cancel", "item-open")
	}
	if want := []int{6, 4}; !slices.Equal(cancelled, want) || !slices.Equal(opened, []string{"1"}) {
		t.Errorf("cancelled %v, opened %v, want %v and [1]", cancelled, opened, want)
	}
}

func TestTasksSelectionStays(t *testing.T) {
	v := newTestTasks(t)
	viewtest.Press(t, v, "item-down", "item-down", "item-down")
	if selectedTask(v) != 4 {
		t.Fatalf("selected %d, want 4", selectedTask(v))
	}
	s := tasksState()
	viewtest.Feed(s, event.ApprovalAnswered{ID: "1"}, event.TaskStarted{ID: 7, Kind: event.ShellTask})
	v.Update(s, state.Tasks)
	if selectedTask(v) != 4 {
		t.Errorf("after an update %d is selected, want 4", selectedTask(v))
	}
}

// What runs shows in a short list, however many tasks came before, until the person looks for others.
func TestTasksRunningShow(t *testing.T) {
	v := NewTasks(viewtest.Dark(t), keymap.Default(), viewtest.Clock)
	s := &state.State{}
	for id := 1; id <= 9; id++ {
		v.Update(s, viewtest.Feed(s, event.TaskStarted{ID: id, Kind: event.ShellTask, Title: fmt.Sprintf("job %d", id)}))
		if id < 9 {
			v.Update(s, viewtest.Feed(s, event.TaskFinished{ID: id, Outcome: event.Completed}))
		}
		viewtest.Text(t, v, 40, 5)
	}
	if got := viewtest.Text(t, v, 40, 5); !strings.Contains(got, "job 9") {
		t.Errorf("the running task does not show:\n%s", got)
	}
	v.Focus(nil)
	viewtest.Press(t, v, "item-down", "item-down", "item-down", "item-down", "item-down")
	v.Blur()
	if got := viewtest.Text(t, v, 40, 5); !strings.Contains(got, "job 9") {
		t.Errorf("after the selection was moved and left the running task does not show:\n%s", got)
	}
}

// selectedTask returns the id of the selected task, 0 if another row is.
func selectedTask(t *Tasks) int {
	row, _ := t.selected()
	return row.ID
}
