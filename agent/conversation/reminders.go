package conversation

import (
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
)

// Describe fills in the parts of a reminder snapshot that the conversation knows.
func Describe(c *Conversation, now *reminder.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now.Dated, now.Fill.Used = c.date, int64(c.hist.Tokens())
	now.Work = c.known.work.clone().Work
	now.Steps, now.Told = c.known.steps, maps.Clone(c.known.states)
}

// Know records, by kind, states that the model knows or need not get. These states are not stored, unlike those of
// attached reminders.
func Know(c *Conversation, states map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.remember(states)
}

// State returns the last state of a kind that the model has, "" for none since the last compaction.
func State(c *Conversation, kind string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known.states[kind]
}

// Holds reports whether the model can read the text of a file in a message that names the file, or in the result of a
// call that names it.
func Holds(c *Conversation, name, text string) bool {
	named := make(map[string]bool)
	return slices.ContainsFunc(c.Messages(), func(m model.Message) bool {
		for _, call := range m.ToolCalls {
			named[call.ID] = strings.Contains(call.Arguments, name)
		}
		return strings.Contains(m.Content, text) && (named[m.ToolCallID] || strings.Contains(m.Content, name))
	})
}

func holds(all []model.Message, text string) bool {
	for _, m := range all {
		if strings.Contains(m.Content, text) {
			return true
		}
	}
	return false
}

func (k *known) remember(states map[string]string) {
	if k.states == nil {
		k.states = make(map[string]string)
	}
	maps.Copy(k.states, states)
}

// wrote records the step list in a result.
func (k *known) wrote(e event.ToolResult) {
	if e.Name != event.TodoTool || e.IsError {
		return
	}
	k.steps = reminder.Steps{}
	for line := range strings.Lines(e.Tail) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "[x] "):
			k.steps.Done++
		case line != "":
			k.steps.Open = append(k.steps.Open, line)
		}
	}
	delete(k.states, reminder.Todo)
}
