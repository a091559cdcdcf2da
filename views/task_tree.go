package views

import (
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/state"
)

// taskRow is a task in the list, below the task that it works for.
type taskRow struct {
	state.Task
	depth int                 // 0: it works for no other task
	step  *state.WorkflowStep // a step of the task's workflow; nil: the row is the task itself
}

// kind returns the displayed kind of the task; for a subagent its name.
func (r *taskRow) kind() string {
	switch {
	case r.Agent == nil:
		return string(r.Kind)
	case r.Agent.Background:
		return r.Agent.Name + " (bg)"
	}
	return r.Agent.Name
}

// branch returns the indentation of the row and the line that connects it to the task above.
func (r *taskRow) branch() string {
	if r.depth == 0 {
		return ""
	}
	return strings.Repeat("  ", r.depth-1) + "└ "
}

// elsewhere reports whether the conversation shows the row's task: a prompt, or a subagent that a prompt waits for.
func (r *taskRow) elsewhere() bool {
	switch {
	case r.Workflow != nil:
		return false
	case r.Agent != nil:
		return !r.Agent.Background && r.Outcome != record.Interrupted
	}
	return r.Kind == event.MainTask || r.Kind == event.CompactionTask
}

// workflowRows returns a row for each step of a task's workflow.
func workflowRows(t *state.Task, depth int) []taskRow {
	if t.Workflow == nil || t.State == state.TaskDone {
		return nil
	}
	var rows []taskRow
	for _, s := range t.Workflow.Steps {
		rows = append(rows, taskRow{Task: *t, depth: depth + 1, step: s})
	}
	return rows
}

// same reports whether two rows are the same task or step.
func (r *taskRow) same(o *taskRow) bool { return r.ID == o.ID && r.step == o.step }

// listed returns the tasks to list: running and waiting ones with their agents and, until a person has seen them, ended
// ones. Ended prompts, and subagents that prompts waited for, are omitted, because the conversation shows them.
func listed(tasks state.TaskList, seen map[int]bool) []*state.Task {
	var all []*state.Task
	in := make(map[int]bool, len(tasks))
	for _, t := range tasks { // a parent is older than its agents
		switch a := t.Agent; {
		case t.State != state.TaskDone, a != nil && in[a.Parent]:
		case seen[t.ID], t.Earlier:
			continue
		case a != nil && (a.Background || t.Outcome == record.Interrupted):
		case t.Kind == event.BackgroundTask, !t.Kind.HasConversation():
		default:
			continue
		}
		in[t.ID] = true
		all = append(all, t)
	}
	return all
}

// taskTree appends tasks to rows: running ones first, then the newest, and below each its agents, oldest first. tasks
// are ordered oldest first.
func taskTree(rows []taskRow, tasks []*state.Task) []taskRow {
	listed := make(map[int]bool, len(tasks))
	for _, t := range tasks {
		listed[t.ID] = true
	}
	below := make(map[int][]*state.Task)       // by parent; 0: top level
	runs := make(map[int]bool)                 // tasks with running parts
	for _, t := range slices.Backward(tasks) { // a parent is older than its agents
		up := 0
		if t.Agent != nil && t.Agent.Parent < t.ID && listed[t.Agent.Parent] {
			up = t.Agent.Parent
		}
		below[up] = append(below[up], t)
		if t.State != state.TaskDone || runs[t.ID] {
			runs[t.ID], runs[up] = true, true
		}
	}
	var add func(t *state.Task, depth int)
	add = func(t *state.Task, depth int) {
		rows = append(rows, taskRow{Task: *t, depth: depth})
		rows = append(rows, workflowRows(t, depth)...)
		for _, sub := range slices.Backward(below[t.ID]) {
			add(sub, depth+1)
		}
	}
	for _, first := range [2]bool{true, false} {
		for _, t := range below[0] {
			if runs[t.ID] == first {
				add(t, 0)
			}
		}
	}
	return rows
}
