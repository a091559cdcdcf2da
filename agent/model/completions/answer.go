package completions

import (
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/agent/model/wire"
)

// answer collects the events of one answer and emits deltas.
type answer struct {
	wire.Collector
	origin  string // see wire.Client.Origin
	form    template
	calls   []*call
	traces  traces
	extra   fields
	usage   *model.Usage
	finish  string
	choices bool   // an event had a choice
	odd     string // the start of the first event of another kind
}

type chunk struct {
	Choices  []choice        `json:"choices"`
	Usage    json.RawMessage `json:"usage"`
	Progress *progress       `json:"prompt_progress"`
}

// progress is sent by llama.cpp's server after each processed batch of a prompt:
// github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (return_progress).
type progress struct {
	Total     int   `json:"total"`
	Cache     int   `json:"cache"`
	Processed int   `json:"processed"`
	TimeMS    int64 `json:"time_ms"`
}

// choice has a Delta if the answer is streamed, and a Message if not.
type choice struct {
	Index   int          `json:"index"`
	Delta   wire.Members `json:"delta"`
	Message wire.Members `json:"message"`
	Finish  *string      `json:"finish_reason"`
}

// Take adds one event.
func (a *answer) Take(event []byte) error {
	if raw, ok := a.form.match(event); ok {
		return a.form.apply(a, raw)
	}
	var c chunk
	if err := json.Unmarshal(event, &c); err != nil {
		return wire.Bad("an event in the answer is not a chat completion", event, err)
	}
	a.form.learn(event, c)
	if err := a.reading(c.Progress); err != nil {
		return err
	}
	a.choices = a.choices || len(c.Choices) > 0
	if u := wire.Usage(c.Usage); u != nil {
		a.usage = u
	} else if c.Choices == nil && a.odd == "" {
		a.odd = model.Excerpt(event)
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue // only one was requested
		}
		if err := a.choice(ch); err != nil {
			return err
		}
	}
	return nil
}

// reading emits how much of the prompt the server has processed, if the numbers are plausible.
func (a *answer) reading(p *progress) error {
	if p == nil || p.Cache < 0 || p.Cache > p.Processed || p.Processed > p.Total || p.TimeMS < 0 {
		return nil
	}
	return a.Emit(model.Delta{Kind: model.Reading, Prompt: &model.PromptRead{Total: p.Total, Cached: p.Cache, Done: p.Processed, TookMS: p.TimeMS}})
}

func (a *answer) choice(c choice) error {
	if err := a.merge(c.Delta); err != nil {
		return err
	}
	if c.Message != nil {
		if err := a.whole(c.Message); err != nil {
			return err
		}
	}
	if c.Finish == nil || *c.Finish == "" || *c.Finish == "null" {
		return nil
	}
	switch a.finish = strings.ToLower(*c.Finish); a.finish {
	case "error":
		return &model.Error{Kind: model.ReportedError, Status: 500, What: "the server ended its answer with finish_reason \"error\""}
	case "max_tokens", "model_length":
		a.finish = model.FinishLength
	}
	return nil
}

// whole adds a complete message: an answer that is not streamed, or the repetition of the whole answer that some
// servers send at the end of a stream. From a repetition, it adds only what is missing.
func (a *answer) whole(m wire.Members) error {
	if a.Text.Len() > 0 {
		delete(m, "content")
		delete(m, "refusal")
	}
	if len(a.calls) > 0 {
		delete(m, "tool_calls")
	}
	for k := range m {
		if a.extra.has(k) {
			delete(m, k)
		}
	}
	return a.merge(m)
}

// merge adds the members of a delta: reasoning first, because the model thought first.
func (a *answer) merge(m wire.Members) error {
	var traced []string
	for k, raw := range m {
		switch {
		case k == "role" || k == "content" || k == "tool_calls" || k == "refusal":
		case isTrace(k):
			traced = append(traced, k)
		default:
			a.extra.add(k, raw)
		}
	}
	slices.SortFunc(traced, byPreference)
	for _, k := range traced {
		a.extra.add(k, m[k])
		if err := a.reason(k, m[k]); err != nil {
			return err
		}
	}
	for _, k := range []string{"content", "refusal"} { // a refusal is text of the model
		if err := a.content(m[k]); err != nil {
			return err
		}
	}
	return a.callPieces(m["tool_calls"])
}

// content adds text: a string, a part or a list of parts.
func (a *answer) content(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	if raw[0] == '"' {
		s, ok := wire.String(raw)
		if !ok {
			return wire.Bad("a text in the answer is invalid", raw, nil)
		}
		return a.AddText(s)
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		parts = []json.RawMessage{raw}
	}
	for _, p := range parts {
		if err := a.part(p); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) part(raw json.RawMessage) error {
	var p struct {
		Type          string
		Text, Content json.RawMessage
	}
	if len(raw) > 0 && raw[0] == '"' {
		p.Text = raw
	} else if json.Unmarshal(raw, &p) != nil {
		return nil // an unknown kind of part
	}
	if isTrace(p.Type) {
		return a.reason("content."+p.Type, raw)
	}
	if s := wire.Text(p.Text); s != "" {
		return a.AddText(s)
	}
	return a.AddText(wire.Text(p.Content))
}

func (a *answer) reason(field string, raw json.RawMessage) error {
	if s := a.traces.add(field, raw); s != "" {
		return a.Emit(model.Delta{Kind: model.Reasoning, Field: field, Text: s})
	}
	return nil
}

// Ended reports whether the finish reason arrived.
func (a *answer) Ended() bool { return a.finish != "" }

// Over returns false: usage may still follow the finish reason, so the answer ends only with [DONE].
func (*answer) Over() bool { return false }

// Done emits the calls that are complete now, and the message.
func (a *answer) Done(marked bool) error {
	switch {
	case a.finish == "" && !marked:
		return model.Cut()
	case !a.choices && a.odd != "":
		return model.Malformed("the answer is not a chat completion", []byte(a.odd), nil)
	case !a.choices:
		return &model.Error{Kind: model.EmptyError, What: "model returned empty response: it has no choices", Hint: "try again, or choose another model with /model"}
	}
	m, finish, err := a.End(a.finish)
	if err != nil {
		return err
	}
	m.Extra = a.extra.encode(a.origin)
	return a.Emit(model.Delta{Kind: model.Done, Message: m, Finish: finish, Usage: a.usage})
}
