package agent

import (
	"sync"

	"buddy/agent/event"
)

// numbers gives the prompts and the tasks of a session their numbers; commands that go on are
// tasks too. It is safe for concurrent use.
type numbers struct {
	mu           sync.Mutex // guards all below
	prompt, task int        // the newest
}

func (n *numbers) nextPrompt() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prompt++
	return n.prompt
}

func (n *numbers) nextTask() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.task++
	return n.task
}

// replay feeds a stored event of an earlier process.
func (n *numbers) replay(e event.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch p := e.(type) {
	case event.PromptSubmitted:
		n.prompt = max(n.prompt, p.ID)
	case event.TaskQueued:
		n.task = max(n.task, p.ID)
	case event.TaskStarted:
		n.task = max(n.task, p.ID)
	}
}
