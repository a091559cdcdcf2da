package conversation

import (
	"cmp"
	"slices"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/reminder"
)

// Recall rebuilds a history from the stored events of one conversation. It decides nothing again: it only repeats what
// the events record. It skips a compaction that does not match the history; the history is then longer, but valid.
//
//	r := conversation.Recall{History: history.New(system)}
//	for _, env := range events { r.Take(env) }
type Recall struct {
	*history.History
	task    int            // the last exchange that started
	prompts map[int]string // prompts without an answer, by id
	hook    string         // reminder with the output of session start hooks
}

func (r *Recall) addPrompt(p event.PromptSubmitted, kind event.PromptKind) {
	text := PromptText(p)
	if r.prompts == nil {
		r.prompts = make(map[int]string)
	}
	r.prompts[p.ID] = text
	r.Append(messageKind(kind), text, p.Images...)
}

func (r *Recall) block(id int) {
	if text, ok := r.prompts[id]; ok {
		history.Unsay(r.History, text)
		delete(r.prompts, id)
	}
}

// Take processes the next event. Most events don't affect the history.
func (r *Recall) Take(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		if p.Kind.HasConversation() {
			r.task = p.ID
		}
	case event.PromptSubmitted:
		if !p.Queued {
			r.addPrompt(p, r.kind(env.Task, p))
		}
	case event.PromptBlocked:
		r.block(p.ID)
	case event.ReminderAttached:
		r.remind(p)
	case event.SkillLoaded:
		r.load(p)
	case event.ModelPrefix:
		r.prompts = nil
		history.Prefix(r.History, p.Message)
	case event.ModelMessage:
		r.prompts = nil
		r.Assistant(p.Message)
	case event.ToolRequested:
		r.Meant(p.CallID, p.Name, p.Arguments)
	case event.ToolResult:
		r.Result(p.CallID, p.Name, p.Result, endOf(p))
	case event.ResultSpilled:
		r.spill(p)
	case event.ContextCompacted, event.ContextPinned, event.MicroCompacted, event.ContextWithheld:
		r.shorten(p)
	}
}

// shorten repeats a change that removed messages, shortened results, or pinned an exchange.
func (r *Recall) shorten(e event.Event) {
	switch p := e.(type) {
	case event.ContextCompacted:
		_ = r.Apply(history.Cut{Summary: p.Summary, Restored: p.Restored, Boundary: p.Boundary, Kept: p.Kept})
	case event.ContextPinned:
		r.PinExchange(p.Back, !p.Off)
	case event.MicroCompacted:
		r.ApplyMicro(p.CallIDs)
	case event.ContextWithheld:
		history.Withhold(r.History, p.CallIDs)
	}
}

// spill replaces a result with the short version that names the file with the full one.
func (r *Recall) spill(e event.ResultSpilled) {
	if e.Result != "" {
		r.Shorten(e.CallID, e.Result)
	}
}

// remind adds a reminder. A listing goes before the last prompt; so does any other reminder whose event says so, which
// no event of older sessions does.
func (r *Recall) remind(e event.ReminderAttached) {
	if e.States[sessionStart] != "" {
		history.Unremind(r.History, r.hook)
		r.hook = e.Text
	}
	if e.Before || e.Digest != "" {
		history.InsertBefore(r.History, e.Text, e.Images...)
		return
	}
	r.Append(model.Reminder, e.Text, e.Images...)
}

// sessionStart is the key in States that marks a reminder as the output of session start hooks. A new reminder of this
// kind replaces the previous one.
const sessionStart = "session_start"

// AttachStart adds the output of session start hooks, unless the conversation already has the same text.
func AttachStart(c *Conversation, task int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text = reminder.Wrap(text); c.recall.hook != text || !history.Reminds(c.hist, text) {
		c.attach(task, 0, event.ReminderAttached{Kinds: []string{reminder.Hook}, Text: text, States: map[string]string{sessionStart: "told"}})
	}
}

// load adds the text of a skill that the user called, after the prompt that called it. It adds nothing if the model
// called the skill, because the result of the model's call contains the text.
func (r *Recall) load(e event.SkillLoaded) {
	if e.By == event.ByPerson {
		r.Append(model.Reminder, e.Text)
	}
}

// kind returns the kind of a prompt. Older sessions did not store it: their prompts count as steering if they were
// submitted after the start of their task.
func (r *Recall) kind(task int, p event.PromptSubmitted) event.PromptKind {
	switch {
	case p.Kind != "":
		return p.Kind
	case task != 0 && task == r.task:
		return event.Steering
	case p.Command():
		return event.Typed
	}
	return event.Opening
}

func messageKind(k event.PromptKind) model.Kind {
	switch k {
	case event.Steering:
		return model.Steering
	case event.Typed:
		return model.Reminder
	}
	return model.Prompt
}

// InjectionWarning is the Code of warnings about a prompt injection in a result.
const InjectionWarning = "injection"

// replay processes a stored event. It ignores queued prompts; see Requeue.
func (c *Conversation) replay(env event.Envelope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recall.Take(env)
	c.known.replay(env.Payload)
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if !p.Queued {
			c.date = cmp.Or(p.Date, c.date)
		}
	case event.ReminderAttached:
		if slices.Contains(p.Kinds, reminder.Tasks) {
			c.news = nil
		}
		c.date = cmp.Or(p.States[reminder.DateChange], c.date)
	case event.Warning:
		if p.Code == InjectionWarning {
			c.injected = p.Text
		}
	case event.ContextCompacted:
		c.date = ""
	}
}

// Empty reports whether there is nothing to answer: no message besides the system prompt.
func Empty(c *Conversation) bool {
	return read(c, func(h *history.History) bool { return h.Last() == "" || h.Last() == model.System })
}

// Answered reports whether the history ends with an answer, even if that is only a provider's summary.
func (c *Conversation) Answered() bool {
	return read(c, func(h *history.History) bool { return h.Last() == model.Assistant })
}
