package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/words"
)

// Tasks lists running tasks and ended background tasks that were not seen yet. Below them it shows the steps of a plan.
type Tasks struct {
	draw.Frame
	now     func() time.Time
	tasks   []taskRow    // running ones first, then the newest; each is followed by its agents
	shown   []taskRow    // the last result of rows
	seen    map[int]bool // tasks that had ended when the person left the list
	visited bool         // the person is in the list
	steps   state.Steps
	cwd     string // working directory of the session; paths in it are shown as relative paths
	follows int    // task id of the subagent whose steps are shown; 0: the main conversation
	at      int    // selected row
	top     int    // first visible row

	OnCancel  func(id int)      // cancels the task
	OnTimeout func(id int)      // limits the task's time
	OnOpen    func(*state.Task) // shows the task in full; gets a copy of it
}

// NewTasks returns an empty list. now is its clock.
func NewTasks(theme *themes.Theme, keys *keymap.Map, now func() time.Time) *Tasks {
	return &Tasks{Frame: draw.NewFrame(theme, keys), now: now, seen: make(map[int]bool)}
}

// Scope returns the key scope of the list.
func (t *Tasks) Scope() keymap.Scope { return keymap.Tasks }

// Update processes changes of the state. The selected task stays selected. Until the person moves the selection, it is
// at the top, with the running tasks.
func (t *Tasks) Update(s *state.State, ch state.Changed) {
	if ch&state.Tasks == 0 {
		return
	}
	selected, some := t.selected()
	t.steps, t.cwd = s.Steps, s.Info.Event.Cwd
	if followed := s.Tasks.Get(t.follows); followed != nil && followed.Agent != nil {
		t.steps = followed.Agent.Talk.Steps
	}
	maps.DeleteFunc(t.seen, func(id int, _ bool) bool { return s.Tasks.Get(id) == nil })
	t.tasks = taskTree(t.tasks[:0], listed(s.Tasks, t.seen))
	if some && (t.at > 0 || t.HasFocus()) {
		if i := slices.IndexFunc(t.tasks, func(r taskRow) bool { return r.same(&selected) }); i >= 0 {
			t.at = i
		}
	}
	t.at = max(0, min(t.at, t.items()-1))
}

// Visit records whether the user is viewing the task list, even if a dialog covers it. When the user leaves the list,
// ended tasks count as seen and are removed.
func (t *Tasks) Visit(here bool) {
	if t.visited && !here {
		t.forgetEnded()
	}
	t.visited = here
}

// forgetEnded removes ended top-level rows with the rows below them.
func (t *Tasks) forgetEnded() {
	below := false // whether the row is below a removed one
	t.tasks = slices.DeleteFunc(t.tasks, func(row taskRow) bool {
		if row.depth == 0 {
			if below = row.State == state.TaskDone; below {
				t.seen[row.ID] = true
			}
		}
		return below
	})
	t.at = max(0, min(t.at, t.items()-1))
}

// Follow shows the steps of the subagent with this task id; 0 shows the main conversation's steps again.
func (t *Tasks) Follow(task int) { t.follows = task }

// items counts the rows that can be selected.
func (t *Tasks) items() int { return len(t.tasks) }

// Rows returns the number of rows in a frame of w cells.
func (t *Tasks) Rows(w int) int { return len(t.rows()) + stepRows(t.steps, w-2-2*draw.Padding) }

// Unseen reports whether there are tasks that are not visible elsewhere.
func (t *Tasks) Unseen() bool {
	return slices.ContainsFunc(t.tasks, func(r taskRow) bool { return !r.elsewhere() })
}

// rows returns the rows to show: all while the user is viewing the list, otherwise only those that are not visible
// elsewhere.
func (t *Tasks) rows() []taskRow {
	if t.visited || t.HasFocus() {
		return t.tasks
	}
	t.shown = t.shown[:0]
	for _, r := range t.tasks {
		if !r.elsewhere() {
			if r.step == nil {
				r.depth = 0 // its parent is not listed
			}
			t.shown = append(t.shown, r)
		}
	}
	return t.shown
}

// split divides the area into a part for tasks and a part for the steps below them. Steps get the rows that unfinished
// tasks leave free, but at least half of all rows if they need so many.
func (t *Tasks) split(in draw.Area, rows []taskRow) (items, steps draw.Area) {
	want := stepRows(t.steps, in.Inset().W)
	if want == 0 || in.H < 2 && len(rows) > 0 {
		return in, draw.Area{}
	}
	live := 0
	for _, row := range rows {
		if row.State != state.TaskDone {
			live++
		}
	}
	n := min(want, max(in.H-max(live, min(len(rows), 2)), in.H/2, 1))
	return draw.Area{Canvas: in.Canvas, H: in.H - n}, in.Below(in.H - n)
}

// selected returns the row of the selected task or step; some is false if there is none.
func (t *Tasks) selected() (row taskRow, some bool) {
	if i := t.at; i >= 0 && i < len(t.tasks) {
		return t.tasks[i], true
	}
	return taskRow{}, false
}

// Press moves the selection and calls the callbacks.
func (t *Tasks) Press(p keymap.Press) {
	switch p.Action {
	case keymap.ItemUp:
		t.at = max(0, t.at-1)
	case keymap.ItemDown:
		t.at = max(0, min(t.items()-1, t.at+1))
	case keymap.ItemOpen:
		t.open()
	case keymap.TaskLimit:
		t.want(t.OnTimeout)
	case keymap.TaskCancel:
		t.want(t.OnCancel)
	}
}

// want calls a callback for the selected task, unless the task has ended or is being cancelled.
func (t *Tasks) want(what func(id int)) {
	if row, ok := t.selected(); ok && row.State != state.TaskDone && row.State != state.TaskCancelling && what != nil {
		what(row.ID)
	}
}

// open opens the selected task.
func (t *Tasks) open() {
	if row, ok := t.selected(); ok && t.OnOpen != nil {
		t.OnOpen(&row.Task)
	}
}

// Draw draws the rows around the selection or, without the focus, the first rows, so that running tasks are visible.
func (t *Tasks) Draw(screen tcell.Screen) {
	in := t.Bordered(screen, draw.Titles{Left: []draw.Span{draw.Text(themes.Strong, "tasks")}, Bottom: t.stops()}).Cleared()
	if in.W <= 0 || in.H <= 0 {
		return
	}
	rows := t.rows()
	items, steps := t.split(in, rows)
	t.top = max(0, min(max(min(t.top, t.at), t.at-items.H+1), len(rows)-items.H))
	if !t.HasFocus() {
		t.top = 0
	}
	for i := range min(items.H, len(rows)-t.top) {
		t.drawItem(draw.Area{Canvas: items.Down(i), H: 1}, &rows[t.top+i], t.HasFocus() && t.top+i == t.at)
	}
	drawSteps(steps, t.steps)
	if len(rows)+len(t.steps) == 0 {
		in.Inset().Say(0, "none", themes.Muted)
	}
}

// stops describes how to stop background tasks. While the list has the focus, the footer shows the keys instead.
func (t *Tasks) stops() []draw.Span {
	var running []int
	for _, row := range t.tasks {
		if row.depth == 0 && row.Kind != event.MainTask && row.State == state.TaskRunning {
			running = append(running, row.ID)
		}
	}
	switch {
	case t.HasFocus() || len(running) == 0:
		return nil
	case len(running) == 1:
		return []draw.Span{draw.Text(themes.Muted, fmt.Sprintf("/kill %d stops #%d", running[0], running[0]))}
	}
	return []draw.Span{draw.Text(themes.Muted, "/kill NUMBER stops a task")}
}

func (t *Tasks) drawItem(in draw.Area, row *taskRow, selected bool) {
	left, right := t.taskItem(row, in.W)
	if selected {
		for _, spans := range [][]draw.Span{left, right} {
			for j := range spans {
				spans[j].Style = markup.Style{Role: themes.Selection}
			}
		}
		in.Fill(0, in.W, t.Palette[themes.Selection])
	}
	n := draw.Width(right)
	if n+12 > in.W {
		n = 0
	}
	c := in.Inset()
	c.Spans(0, draw.Clip(left, in.W-n-3)...)
	if n > 0 {
		c.Spans(c.W-n, right...)
	}
}

// workflowItem returns a step of a workflow as a row.
func workflowItem(row *taskRow) []draw.Span {
	role := themes.Muted
	switch row.step.State {
	case event.WorkflowRunning:
		role = themes.Running
	case event.WorkflowWaiting:
		role = themes.Warning
	case event.WorkflowFailed:
		role = themes.ToolError
	case event.WorkflowCompleted:
		role = themes.ToolOK
	case event.WorkflowPending, event.WorkflowPaused, event.WorkflowSkipped, event.WorkflowCancelled:
	}
	sign, line, _ := strings.Cut(row.step.Line(), " ")
	left := []draw.Span{draw.Text(themes.Muted, strings.Repeat(" ", 3)+row.branch()), draw.Text(role, sign+" ")}
	return append(left, draw.Untrusted(themes.Text, texts.OneLine(line))...)
}

// taskItem returns the spans of a row of w cells: the task on the left, its usage and time on the right.
func (t *Tasks) taskItem(row *taskRow, w int) (left, right []draw.Span) {
	now, task := t.now(), &row.Task
	if row.step != nil {
		return workflowItem(row), nil
	}
	glyph, role, word := draw.TaskState(task, now)
	left = append(left, draw.Text(themes.Muted, row.branch()), draw.Text(role, glyph+" "))
	left = append(left, draw.Untrusted(themes.Muted, fmt.Sprintf("#%d %-*s ", task.ID, max(8-2*row.depth, 0), row.kind()))...)
	if word != "" && task.State != state.TaskWaiting { // the sign and the dialog show that it waits
		left = append(left, draw.Untrusted(role, word+" · ")...)
	}
	if on := task.Target(); on != "" {
		left = append(left, draw.Untrusted(themes.Muted, strings.TrimPrefix(draw.OnTarget(on), " ")+" · ")...)
	}
	if agent := task.Agent; agent != nil && task.State != state.TaskDone && len(agent.Talk.Steps) > 0 {
		left = append(left, draw.Text(themes.Running, stepsTitle(agent.Talk.Steps)+" · "))
	}
	left = append(left, draw.Untrusted(themes.Text, texts.OneLine(cmp.Or(t.doing(task), task.Title)))...)
	text := elapsed(task, now)
	if task.Deadline > 0 && task.Kind != event.LoopTask && task.State != state.TaskDone {
		text += " of " + draw.Clock(task.Deadline-task.Started)
	}
	if used := draw.Used(task.All, w >= wideTasks); used != "" && w >= narrowTasks {
		text = used + "  " + text
	}
	return left, []draw.Span{draw.Text(themes.Muted, text)}
}

// doing returns the present action of a subagent that a prompt waits for; the conversation shows the subagent's title.
// For other tasks it returns "".
func (t *Tasks) doing(task *state.Task) string {
	if task.Agent == nil || task.Agent.Background || task.State != state.TaskRunning {
		return ""
	}
	for _, b := range slices.Backward(task.Agent.Talk.Blocks) {
		if c := b.Call; c != nil {
			return words.Call{Name: c.Name, Arguments: c.Arguments, Action: c.Action, Cwd: t.cwd}.Line()
		}
	}
	return ""
}

const (
	wideTasks   = 70 // minimum columns for rows whose numbers have labels
	narrowTasks = 46 // minimum columns for rows with numbers
)

// elapsed returns the running time of a task, so far or in total; "" before its start. For a running loop, with which
// alone the screen does not draw the passing time, it returns the progress.
func elapsed(t *state.Task, now time.Time) string {
	switch {
	case t.Started == 0:
		return ""
	case t.Kind == event.LoopTask && t.State != state.TaskDone:
		return t.Doing
	}
	end := t.Ended
	if t.State != state.TaskDone {
		end = now.UnixMilli()
	}
	return draw.Clock(end - t.Started)
}
