package draw

import (
	"time"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
)

// TaskState returns the sign of a task, its role, and a word unless the sign suffices.
func TaskState(task *state.Task, now time.Time) (glyph string, role themes.Role, word string) {
	switch task.State {
	case state.TaskQueued:
		return "·", themes.Muted, "queued"
	case state.TaskWaiting:
		return WaitingSign, themes.Warning, "waiting for you"
	case state.TaskCancelling:
		return "◌", themes.Warning, "cancelling"
	case state.TaskDone:
		return TaskOutcome(task)
	}
	if task.Kind == event.LoopTask { // no spinner, because the screen is not drawn again while only a loop waits
		return "↻", themes.Running, ""
	}
	return Spinner(now.UnixMilli()), themes.Running, ""
}

// TaskOutcome returns the sign of an ended task, its role, and a word unless the sign suffices.
func TaskOutcome(task *state.Task) (glyph string, role themes.Role, word string) {
	switch task.Outcome {
	case event.Completed:
		return "✔", themes.ToolOK, ""
	case event.Cancelled:
		return "⊘", themes.Muted, "cancelled"
	case record.Interrupted:
		return "⊘", themes.Muted, "interrupted"
	case event.MaxTurns:
		return "✗", themes.Warning, "turn limit reached"
	case event.GoalLimit:
		return "✗", themes.Warning, "goal limit reached"
	case event.MaxCost:
		return "✗", themes.Warning, "cost limit reached"
	case event.ContextLimit:
		return "✗", themes.Warning, "context is full"
	}
	if task.Error != "" {
		return "✗", themes.ToolError, "failed: " + texts.OneLine(task.Error)
	}
	return "✗", themes.ToolError, "failed"
}
