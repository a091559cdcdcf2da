package wire

import (
	"slices"
	"strings"

	"buddy/agent/model"
)

// inOrder returns a request whose messages are accepted even by strict chat templates. If the server accepts any order,
// it only joins a reminder with the user's message that follows it, or changes nothing.
func (m *Model) inOrder(req model.Request, with *Remedied) model.Request {
	msgs, ephemeral, changed := ordered(req.Messages, req.Ephemeral)
	switch {
	case !changed:
	case !m.anyOrder() || with.With(Ordered):
		req.Messages, req.Ephemeral, req.Breakpoints = msgs, ephemeral, nil
	case !m.protocol.AnyOrder:
		req.Messages, req.Ephemeral = reminded(req.Messages, req.Ephemeral)
	}
	return req
}

// anyOrder reports whether the server accepts consecutive messages of the same role. Some protocols allow them. So does
// OpenAI, and so does OpenRouter, except for Mistral's models. All other servers may use a strict template, which
// refuses them.
func (m *Model) anyOrder() bool {
	return m.protocol.AnyOrder || m.provider == OpenAI || m.provider == OpenRouter && !m.mistral
}

// between is an answer that is inserted between tool results and a prompt. Otherwise the prompt would have to be joined
// to a result.
const between = "I have read the results."

// gap separates texts that are joined into one message.
const gap = "\n\n"

// ordered joins messages so that a user's message follows neither another user's message nor a result, as the templates
// of Mistral, Gemma and others require: github.com/mistralai/mistral-common, validator.py: "Expected last role …",
// "Unexpected role 'user' after role 'tool'"; huggingface.co/google/gemma-3-27b-it, chat_template: "Conversation roles
// must alternate". It only appends to texts, so that what the server has cached stays valid. ephemeral is the number of
// messages at the end of msgs that are sent with one request only, and after is the number of such messages in out.
// msgs does not change.
func ordered(msgs []model.Message, ephemeral int) (out []model.Message, after int, changed bool) {
	out = make([]model.Message, 0, len(msgs))
	stay := len(msgs) - ephemeral
	first := -1 // the index in out of the first ephemeral message
	for i, m := range msgs {
		n := len(out)
		switch {
		case n == 0:
			out = append(out, m)
		case m.Role == model.User && out[n-1].Role == model.Tool && (m.Kind != model.Reminder || len(m.Images) > 0):
			out, changed = append(out, model.Message{Role: model.Assistant, Content: between}, m), true
		case m.Role == model.User && out[n-1].Role == model.Tool, m.Role != model.Tool && m.Role == out[n-1].Role && len(out[n-1].ToolCalls) == 0:
			out[n-1], changed = joined(out[n-1], m), true
		default:
			out = append(out, m)
		}
		if i >= stay && first < 0 {
			first = len(out) - 1
		}
	}
	if first >= 0 {
		after = len(out) - first
	}
	return out, after, changed
}

// reminded joins each reminder with the user's message that follows it. ephemeral is the number of messages at the end
// of msgs that are sent with one request only, and after is the number of such messages in out. msgs does not change.
func reminded(msgs []model.Message, ephemeral int) (out []model.Message, after int) {
	out = make([]model.Message, 0, len(msgs))
	for i, m := range msgs {
		if n := len(out); n > 0 && m.Role == model.User && out[n-1].Role == model.User && out[n-1].Kind == model.Reminder {
			out[n-1] = joined(out[n-1], m)
			out[n-1].Kind = m.Kind
		} else {
			out = append(out, m)
		}
		if i == len(msgs)-ephemeral {
			after = len(out) - 1 // the index of the first ephemeral message
		}
	}
	if ephemeral > 0 {
		after = len(out) - after
	}
	return out, after
}

func joined(a, b model.Message) model.Message {
	switch {
	case strings.TrimSpace(a.Content) == "":
		a.Content = b.Content
	case strings.TrimSpace(b.Content) != "":
		a.Content += gap + b.Content
	}
	a.Images = append(slices.Clip(a.Images), b.Images...)
	a.ToolCalls = b.ToolCalls // a has none
	if b.Extra != nil {
		a.Extra = b.Extra
	}
	return a
}
