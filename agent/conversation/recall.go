package conversation

import (
	"cmp"
	"slices"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/reminder"
)

// Recall rebuilds what a model is sent from the stored events of one conversation. It
// decides nothing anew: what did not fit is left out, so that the history is longer and
// valid.
//
//	r := conversation.Recall{History: history.New(system)}
//	for _, env := range events { r.Take(env) }
type Recall struct {
	*history.History
	task int            // the last exchange that began
	said map[int]string // prompts that no model has answered yet, by id
	hook string         // the reminder with what hooks said of the session's start
}

// tell adds a prompt to the history.
func (r *Recall) tell(p event.PromptSubmitted, kind event.PromptKind) {
	text := PromptText(p)
	if r.said == nil {
		r.said = make(map[int]string)
	}
	r.said[p.ID] = text
	r.Tell(messageKind(kind), text, p.Images...)
}

// block takes a prompt out of the history again.
func (r *Recall) block(id int) {
	if text, ok := r.said[id]; ok {
		history.Unsay(r.History, text)
		delete(r.said, id)
	}
}

// Take feeds the next event. Most change nothing.
func (r *Recall) Take(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TaskStarted:
		if p.Kind != event.ShellTask {
			r.task = p.ID
		}
	case event.PromptSubmitted:
		if !p.Queued {
			r.tell(p, r.kind(env.Task, p))
		}
	case event.PromptBlocked:
		r.block(p.ID)
	case event.ReminderAttached:
		r.remind(p)
	case event.SkillLoaded:
		r.load(p)
	case event.ModelMessage:
		r.said = nil
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

// shorten repeats what made the history shorter, or keeps it from that.
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

// spill shortens a result of which the rest went to a file.
func (r *Recall) spill(e event.ResultSpilled) {
	if e.Result != "" {
		r.Shorten(e.CallID, e.Result)
	}
}

// remind adds a reminder. Lists always went before the prompt that they came with; others came behind it in
// sessions whose events do not say where they are.
func (r *Recall) remind(e event.ReminderAttached) {
	if e.States[sessionStart] != "" {
		history.Unremind(r.History, r.hook)
		r.hook = e.Text
	}
	if e.Before || e.Digest != "" {
		history.TellBefore(r.History, e.Text, e.Images...)
		return
	}
	r.Tell(model.Reminder, e.Text, e.Images...)
}

// sessionStart is the state of the reminder with what hooks said of the session's start: the newest takes the place of
// the one before it.
const sessionStart = "session_start"

// TellStart tells a conversation what hooks have said of the session's start, unless the model can read just that already.
func TellStart(c *Conversation, task int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text = reminder.Wrap(text); c.recall.hook != text || !history.Reminds(c.hist, text) {
		c.attach(task, 0, event.ReminderAttached{Kinds: []string{reminder.Hook}, Text: text, States: map[string]string{sessionStart: "told"}})
	}
}

// load adds the text of a skill that a person called, behind the prompt that stands for it. That of one that the model called is the
// result of its call, which is still open.
func (r *Recall) load(e event.SkillLoaded) {
	if e.By == event.ByPerson {
		r.Tell(model.Reminder, e.Text)
	}
}

// kind returns what a prompt is for that does not say so itself: one that comes after its task
// began steers it.
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

// messageKind returns what a model reads a person's words as.
func messageKind(k event.PromptKind) model.Kind {
	switch k {
	case event.Steering:
		return model.Steering
	case event.Typed:
		return model.Reminder
	}
	return model.Prompt
}

// InjectionWarning is the code of the warning of a result with a prompt injection in it.
const InjectionWarning = "injection"

// replay feeds a stored event. Prompts that wait are left to the caller: see Requeue.
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

// Answered reports whether the history ends with an answer.
func (c *Conversation) Answered() bool {
	return read(c, func(h *history.History) bool { return h.Last() == model.Assistant })
}
