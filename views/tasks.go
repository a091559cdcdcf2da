package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/markup"
)

// Tasks lists what waits for an approval, what runs and what ran.
type Tasks struct {
	frame
	now       func() time.Time
	tasks     []state.Task // running ones first, then the newest
	approvals []event.ApprovalAsked
	first     string // the target where the session began
	at        int    // selected row
	top       int    // first row that shows

	OnCancel   func(id int)      // the person wants the task cancelled
	OnTimeout  func(id int)      // the person wants to limit its time
	OnOpen     func(*state.Task) // the person wants to know all of it; gets a copy
	OnApproval func(id string)   // the person wants to see the request
}

// NewTasks returns an empty list. now tells the time.
func NewTasks(theme *themes.Theme, keys *keymap.Map, now func() time.Time) *Tasks {
	return &Tasks{frame: newFrame(theme, keys), now: now}
}

// Scope says where keys go.
func (t *Tasks) Scope() keymap.Scope { return keymap.Tasks }

// Update takes over what changed. The selection stays on its task; until the person moves
// it, it is at the top, where the running ones are.
func (t *Tasks) Update(s *state.State, ch state.Changed) {
	if ch&(state.Tasks|state.Approvals) == 0 {
		return
	}
	selected := t.selected()
	t.first = s.Info.First
	t.approvals = slices.Clone(s.Approvals)
	t.tasks = t.tasks[:0]
	for _, done := range [2]bool{false, true} {
		for _, task := range slices.Backward(s.Tasks) {
			if (task.State == state.TaskDone) == done {
				t.tasks = append(t.tasks, *task)
			}
		}
	}
	if selected != 0 && (t.at > 0 || t.HasFocus()) {
		if i := slices.IndexFunc(t.tasks, func(task state.Task) bool { return task.ID == selected }); i >= 0 {
			t.at = len(t.approvals) + i
		}
	}
	t.at = max(0, min(t.at, t.Rows()-1))
}

// Rows counts the rows that there are to show.
func (t *Tasks) Rows() int { return len(t.approvals) + len(t.tasks) }

// selected returns the id of the selected task, 0 if another row is.
func (t *Tasks) selected() int {
	if i := t.at - len(t.approvals); i >= 0 && i < len(t.tasks) {
		return t.tasks[i].ID
	}
	return 0
}

// InputHandler moves the selection and reports what is wanted.
func (t *Tasks) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return t.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		a, _ := t.keys.Lookup(keymap.Tasks, ev)
		switch a {
		case keymap.ItemUp:
			t.at = max(0, t.at-1)
		case keymap.ItemDown:
			t.at = max(0, min(t.Rows()-1, t.at+1))
		case keymap.ItemOpen:
			t.open()
		case keymap.TaskLimit:
			if i, ok := t.unended(); ok && t.OnTimeout != nil {
				t.OnTimeout(t.tasks[i].ID)
			}
		case keymap.TaskCancel:
			t.cancel()
		}
	})
}

// cancel asks to cancel the selected task, if it can still be cancelled.
func (t *Tasks) cancel() {
	if i, ok := t.unended(); ok && t.OnCancel != nil {
		t.OnCancel(t.tasks[i].ID)
	}
}

// unended returns the index of the selected task, if that neither has ended nor is about to.
func (t *Tasks) unended() (int, bool) {
	i := t.at - len(t.approvals)
	if i < 0 || i >= len(t.tasks) {
		return 0, false
	}
	s := t.tasks[i].State
	return i, s != state.TaskDone && s != state.TaskCancelling
}

// open asks to see what is selected.
func (t *Tasks) open() {
	switch i := t.at - len(t.approvals); {
	case i < 0 && t.OnApproval != nil:
		t.OnApproval(t.approvals[t.at].ID)
	case i >= 0 && i < len(t.tasks) && t.OnOpen != nil:
		task := t.tasks[i]
		t.OnOpen(&task)
	}
}

// Draw draws the rows around the selection; without the focus the first ones, as nobody
// looks for the selection then and what runs has to show.
func (t *Tasks) Draw(screen tcell.Screen) {
	in := t.bordered(screen, titles{left: []span{own(themes.Strong, "Tasks")}}).cleared()
	if in.w <= 0 || in.h <= 0 {
		return
	}
	t.top = max(0, min(max(min(t.top, t.at), t.at-in.h+1), t.Rows()-in.h))
	if !t.HasFocus() {
		t.top = 0
	}
	for i := range min(in.h, t.Rows()-t.top) {
		t.drawItem(area{in.down(i), 1}, t.top+i)
	}
	if t.Rows() == 0 {
		in.inset().say(0, "none", themes.Muted)
	}
}

func (t *Tasks) drawItem(in area, i int) {
	var left, right []span
	if i < len(t.approvals) {
		left = t.approvalItem(t.approvals[i])
	} else {
		left, right = t.taskItem(&t.tasks[i-len(t.approvals)])
	}
	if i == t.at && t.HasFocus() {
		for _, spans := range [][]span{left, right} {
			for j := range spans {
				spans[j].style = markup.Style{Role: themes.Selection}
			}
		}
		in.fill(0, in.w, t.palette[themes.Selection])
	}
	n := spansWidth(right)
	if n+12 > in.w {
		n = 0
	}
	c := in.inset()
	c.spans(0, clip(left, in.w-n-3)...)
	if n > 0 {
		c.spans(c.w-n, right...)
	}
}

// approvalItem is a request as a row: the first line of what is asked.
func (t *Tasks) approvalItem(a event.ApprovalAsked) []span {
	what := a.Action.Command
	if what == "" {
		what = a.Action.Path
	}
	spans := []span{own(themes.Warning, "   "+waitingSign+" approve  ")}
	spans = append(spans, foreign(themes.ToolName, a.Action.Tool)...)
	if on := t.elsewhere(a.Action.Target); on != "" {
		spans = append(spans, foreign(themes.Muted, onTarget(on))...)
	}
	spans = append(spans, own(themes.Text, " "))
	return append(spans, foreign(themes.Text, firstLine(what))...)
}

// elsewhere returns a target that is not the first, else "".
func (t *Tasks) elsewhere(target string) string {
	if t.first == "" || target == t.first {
		return ""
	}
	return target
}

// taskItem is a task as a row, and its time.
func (t *Tasks) taskItem(task *state.Task) (left, right []span) {
	now := t.now()
	glyph, role, word := taskState(task, now)
	left = append(left, own(themes.Muted, fmt.Sprintf("#%d ", task.ID)), own(role, glyph+" "))
	left = append(left, foreign(themes.Muted, fmt.Sprintf("%-8s ", task.Kind))...)
	if word != "" {
		left = append(left, foreign(role, word+" · ")...)
	}
	if on := task.Target(); on != "" {
		left = append(left, foreign(themes.Muted, strings.TrimPrefix(onTarget(on), " ")+" · ")...)
	}
	left = append(left, foreign(themes.Text, oneLine(task.Title))...)
	took := elapsed(task, now)
	if task.Deadline > 0 && task.State != state.TaskDone {
		took += " of " + clock(task.Deadline-task.Started)
	}
	return left, []span{own(themes.Muted, took)}
}
