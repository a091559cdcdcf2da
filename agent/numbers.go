package agent

import (
	"sync"
	"sync/atomic"

	"buddy/agent/event"
)

// numbers numbers the prompts and tasks of a session, including background commands, and remembers the keys that
// identify prompts. It is safe for concurrent use.
type numbers struct {
	prompt, task atomic.Int64 // the last numbers used
	keys         sync.Map     // of prompts
}

func (n *numbers) nextPrompt() int { return int(n.prompt.Add(1)) }
func (n *numbers) nextTask() int   { return int(n.task.Add(1)) }

// known reports whether a prompt has the key.
func (n *numbers) known(key string) bool {
	_, ok := n.keys.Load(key)
	return ok
}

// keep records the key of a prompt, if it has one.
func (n *numbers) keep(p event.PromptSubmitted) {
	if p.Key != "" {
		n.keys.Store(p.Key, true)
	}
}

func (n *numbers) replay(e event.Event) {
	switch p := e.(type) {
	case event.PromptSubmitted:
		n.prompt.Store(max(n.prompt.Load(), int64(p.ID)))
		n.keep(p)
	case event.TaskQueued:
		n.task.Store(max(n.task.Load(), int64(p.ID)))
	case event.TaskStarted:
		n.task.Store(max(n.task.Load(), int64(p.ID)))
	}
}
