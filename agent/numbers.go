package agent

import (
	"sync/atomic"

	"buddy/agent/event"
)

// numbers numbers the prompts and tasks of a session, including background commands. It is safe for concurrent use.
type numbers struct{ prompt, task atomic.Int64 } // the last numbers used

func (n *numbers) nextPrompt() int { return int(n.prompt.Add(1)) }
func (n *numbers) nextTask() int   { return int(n.task.Add(1)) }

// replay processes a stored event.
func (n *numbers) replay(e event.Event) {
	switch p := e.(type) {
	case event.PromptSubmitted:
		n.prompt.Store(max(n.prompt.Load(), int64(p.ID)))
	case event.TaskQueued:
		n.task.Store(max(n.task.Load(), int64(p.ID)))
	case event.TaskStarted:
		n.task.Store(max(n.task.Load(), int64(p.ID)))
	}
}
