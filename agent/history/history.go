// Package history holds the messages that are sent to a model, and keeps them valid: every tool call has exactly one
// result, and the results follow the message with the calls directly and in the same order.
//
//	h := history.New("You are buddy.")
//	h.User("list the files")     // opens an exchange; Append adds other messages
//	h.Assistant(answer)          // may open calls
//	h.Result(id, "run_shell", out, history.Worked)
//	req.Messages = h.Messages()
//
// When a history becomes too long, MicroCompact clears results that no longer matter, Compact replaces old exchanges
// with a digest (one line per operation), and Older selects messages for a model to summarize. They return their
// decisions as data, so that ApplyMicro and Apply can repeat them when a session is replayed.
//
// A History is not safe for concurrent use.
package history

import (
	"maps"
	"slices"
	"strings"

	"buddy/agent/model"
)

// Unanswered is the result of calls that got no other result.
const Unanswered = "operation cancelled by user"

// History is a conversation. Create it with New.
type History struct {
	msgs    []model.Message
	system  int              // number of leading system messages, without the summary
	summary bool             // the next message is the summary of a compaction
	here    bool             // the message after that describes where the model works
	recall  bool             // the message after that was restored by a compaction
	open    []model.ToolCall // calls of the last assistant message that lack a result, in order
	grows   bool             // the last answer still streams, see Prefix
	ids     map[string]bool  // of all calls ever made
	meant   meanings         // calls translated to buddy's tools
	results []result         // of the remaining messages, in order of arrival
	seen    int              // number of results that the model has answered
	pins    map[int]bool     // indexes of pinned messages; for a result, the index of the message with its call
	gauge   gauge
}

// New returns a history with a system prompt. An empty prompt adds no message.
func New(system string) *History {
	h := &History{ids: make(map[string]bool), meant: make(meanings), pins: make(map[int]bool)}
	if strings.TrimSpace(system) != "" {
		h.add(model.Message{Role: model.System, Content: system})
		h.system = 1
	}
	return h
}

// SetSystem replaces or adds the system prompt; an empty text changes nothing.
func (h *History) SetSystem(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	m := model.Message{Role: model.System, Content: text}
	if h.system == 0 {
		insert(h, 0, m)
		h.system = 1
		return
	}
	replace(h, 0, m)
}

// SetHere replaces or adds the message before the first prompt: a reminder about where the model works, which no
// compaction removes. It is not part of the system prompt, so that providers can cache the system prompt for all
// folders. An empty text changes nothing.
func SetHere(h *History, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	m := model.Message{Role: model.User, Kind: model.Reminder, Content: text}
	if h.here {
		replace(h, hereAt(h), m)
		return
	}
	insert(h, hereAt(h), m)
	h.here = true
}

// hereAt returns the index of the message about where the model works.
func hereAt(h *History) int {
	if h.summary {
		return h.system + 1
	}
	return h.system
}

// insert adds a message before another one. Slices that Messages returned earlier do not change.
func insert(h *History, at int, m model.Message) {
	h.msgs = slices.Insert(slices.Clone(h.msgs), at, m)
	pins := make(map[int]bool, len(h.pins))
	for i := range h.pins {
		if i >= at {
			i++
		}
		pins[i] = true
	}
	h.pins = pins
	h.gauge.chars += size(m)
}

// replace replaces a message. Slices that Messages returned earlier do not change.
func replace(h *History, at int, m model.Message) {
	h.gauge.chars += size(m) - size(h.msgs[at])
	h.msgs = slices.Clone(h.msgs)
	h.msgs[at] = m
}

// User appends a user's prompt, which opens an exchange. An empty prompt is ignored. Calls without a result first get
// the result Unanswered.
func (h *History) User(text string, images ...model.Image) { h.Append(model.Prompt, text, images...) }

// Append is like User, for a message of any kind with the role user.
func (h *History) Append(kind model.Kind, text string, images ...model.Image) {
	h.Close(Unanswered)
	if strings.TrimSpace(text) == "" && len(images) == 0 {
		return
	}
	h.add(model.Message{Role: model.User, Kind: kind, Content: text, Images: images})
}

// InsertBefore adds a reminder before the user's unanswered messages at the end, so that these stay last. If there are
// none, it appends the reminder.
func InsertBefore(h *History, text string, images ...model.Image) {
	at := Words(h.msgs)
	if at == len(h.msgs) {
		h.Append(model.Reminder, text, images...)
		return
	}
	insert(h, at, model.Message{Role: model.User, Kind: model.Reminder, Content: text, Images: images})
}

// Words returns the index of the first of the user's unanswered messages at the end of msgs: a prompt, or messages that
// steer a running exchange. Reminders may follow them. If there are none, it returns len(msgs).
func Words(msgs []model.Message) int {
	end := len(msgs)
	for end > 0 && reminds(msgs[end-1]) {
		end--
	}
	at := end
	for at > 0 && prompted(msgs[at-1]) && (at == end || msgs[at].Kind == model.Steering) {
		at--
	}
	if at == end {
		return len(msgs)
	}
	return at
}

// Assistant appends an answer and reports whether it did: an answer without text and calls is ignored, unless it has a
// provider's summary. Calls without a name or with a known id are dropped.
func (h *History) Assistant(m model.Message) bool {
	if h.grows {
		return grow(h, m)
	}
	h.Close(Unanswered)
	m.Role = model.Assistant
	if strings.TrimSpace(m.Content) == "" {
		m.Content = ""
	}
	m.ToolCalls = validCalls(m.ToolCalls, h.ids)
	if m.Content == "" && len(m.ToolCalls) == 0 && !m.Compacted() {
		return false
	}
	h.add(m)
	h.seen = len(h.results)
	h.open = slices.Clone(m.ToolCalls)
	for _, c := range m.ToolCalls {
		h.ids[c.ID] = true
	}
	return true
}

// Called reports whether the history has had a call with this id.
func (h *History) Called(id string) bool { return h.ids[id] }

// validCalls returns the calls that have a name and an id that is neither in ids nor repeated.
func validCalls(calls []model.ToolCall, ids map[string]bool) []model.ToolCall {
	var out []model.ToolCall
	for _, c := range calls {
		twice := slices.ContainsFunc(out, func(o model.ToolCall) bool { return o.ID == c.ID })
		if c.ID != "" && c.Name != "" && !twice && !ids[c.ID] {
			out = append(out, c)
		}
	}
	return out
}

// End classifies the end of a call.
type End int

// The ways in which a call ends.
const (
	Worked  End = iota
	BadExit     // its command had an exit code other than 0
	Failed      // the tool failed or did not run
)

// Result answers an open call and reports whether id was open. Results may come in any order;
// Messages has them in call order.
func (h *History) Result(id, name, content string, end End) bool {
	i := slices.IndexFunc(h.open, func(c model.ToolCall) bool { return c.ID == id })
	if i < 0 {
		delete(h.meant, id)
		return false
	}
	call := h.meant.of(h.open[i])
	if call.Name == h.open[i].Name && call.Arguments == h.open[i].Arguments {
		delete(h.meant, id)
	}
	h.results = append(h.results, judge(call, content, end))
	h.open = slices.Delete(h.open, i, i+1)
	if content == "" {
		content = "(" + name + " completed with no output)"
	}
	h.add(model.Message{Role: model.Tool, Content: content, ToolCallID: id, Name: name, Failed: end == Failed})
	sortResults(h.msgs)
	return true
}

// Shorten replaces a result by a shorter text and reports whether the result exists. Slices that Messages returned
// earlier do not change.
func (h *History) Shorten(id, content string) bool {
	i := slices.IndexFunc(h.msgs, func(m model.Message) bool { return m.Role == model.Tool && m.ToolCallID == id })
	if i < 0 || content == "" {
		return false
	}
	h.gauge.chars += len(content) - len(h.msgs[i].Content)
	h.msgs = slices.Clone(h.msgs)
	h.msgs[i].Content = content
	for k := range h.results {
		if r := &h.results[k]; r.id == id {
			r.size = len(content)
		}
	}
	return true
}

// sortResults puts the results after the last assistant message into call order.
func sortResults(msgs []model.Message) {
	first := len(msgs)
	for first > 0 && msgs[first-1].Role == model.Tool {
		first--
	}
	if first == 0 {
		return
	}
	order := make(map[string]int)
	for i, c := range msgs[first-1].ToolCalls {
		order[c.ID] = i
	}
	slices.SortStableFunc(msgs[first:], func(a, b model.Message) int { return order[a.ToolCallID] - order[b.ToolCallID] })
}

// Open returns the calls that have no result yet, in order.
func (h *History) Open() []model.ToolCall { return slices.Clone(h.open) }

// Close answers every open call with the given text. If the last answer was still streaming, it is complete now.
func (h *History) Close(text string) {
	h.grows = false
	for _, c := range h.Open() {
		h.Result(c.ID, c.Name, text, Worked)
	}
}

// Messages returns the messages to send. All calls must have been answered. The caller must
// not change the messages.
func (h *History) Messages() []model.Message { return slices.Clip(h.msgs) }

// Clone returns an independent copy.
func (h *History) Clone() *History {
	c := *h
	c.msgs, c.open, c.results = slices.Clone(h.msgs), slices.Clone(h.open), slices.Clone(h.results)
	c.ids, c.pins, c.gauge.scales = maps.Clone(h.ids), maps.Clone(h.pins), maps.Clone(h.gauge.scales)
	c.meant = maps.Clone(h.meant)
	return &c
}

// Last returns the role of the last message, "" when there is none.
func (h *History) Last() model.Role {
	if len(h.msgs) == 0 {
		return ""
	}
	return h.msgs[len(h.msgs)-1].Role
}

// Unsay removes from h the newest user message with this text, unless a model has answered it, and reports whether it
// existed.
func Unsay(h *History, text string) bool {
	for i := len(h.msgs) - 1; i >= h.start() && h.msgs[i].Role == model.User; i-- {
		if h.msgs[i].Kind == model.Reminder || h.msgs[i].Content != text {
			continue
		}
		remove(h, i)
		return true
	}
	return false
}

// Unremind removes from h the newest reminder with this text.
func Unremind(h *History, text string) {
	for i := len(h.msgs) - 1; i >= h.start(); i-- {
		if m := h.msgs[i]; m.Kind == model.Reminder && m.Content == text {
			remove(h, i)
			return
		}
	}
}

// Reminds reports whether h has a reminder with this text.
func Reminds(h *History, text string) bool {
	return slices.ContainsFunc(h.msgs[h.start():], func(m model.Message) bool { return m.Kind == model.Reminder && m.Content == text })
}

// remove deletes a message. Slices that Messages returned earlier do not change.
func remove(h *History, at int) {
	h.gauge.chars -= size(h.msgs[at])
	h.msgs = slices.Delete(slices.Clone(h.msgs), at, at+1)
	pins := make(map[int]bool, len(h.pins))
	for p := range h.pins {
		if p < at {
			pins[p] = true
		} else if p > at {
			pins[p-1] = true
		}
	}
	h.pins = pins
}

func (h *History) add(m model.Message) {
	h.msgs = append(h.msgs, m)
	h.gauge.chars += size(m)
}
