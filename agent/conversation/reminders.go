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

// Know records reminder states, by kind, as if the model had got them, so that no reminder repeats them. Unlike the
// states of attached reminders, they are not stored.
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

// Holds reports whether a message in the history contains the text of a file. The message, or the call of which it is
// the result, must also name the file.
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

// wrote records the model's step list if the result contains one.
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
