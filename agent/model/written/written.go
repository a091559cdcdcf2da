// Package written runs the tool calls that a model writes as text.
//
// Models are trained to mark their calls, and a server turns the marks into calls. Where the server or the
// chat template doesn't, the marks arrive as the answer's text, or as JSON in a fence. [Model] wraps another
// model and reads them:
//
//	m := written.New(retry.New(adapter, recovery))
//	for d := range m.Stream(ctx, req) { … } // Done has calls where next wrote `{"name": "read_file", "arguments": {…}}`
//
// Text becomes a call only at the end of an answer, if nothing but calls of tools in the request follows, the
// text doesn't occur in what the model has read, and the model has made no native call in the session. Such a
// call carries a mark, which the session file keeps. Thoughts in <think> become reasoning.
package written

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"buddy/agent/model"
)

// The notes that messages and calls carry.
const (
	writtenKey = model.Note + "written" // of a call: its model wrote it as text
	nativeKey  = model.Note + "native"  // of a message: the model that made the native calls in it
	unusedKey  = model.Note + "unused"  // of a message: its text has calls that could not be used
)

// Model is a model.Model that reads calls in the text of another one. Make it with New.
type Model struct {
	next   model.Model
	native atomic.Bool // next has made a native call
}

// New returns next, whose written calls become calls.
func New(next model.Model) *Model { return &Model{next: next} }

// Info describes the model behind it.
func (m *Model) Info() model.Info { return m.next.Info() }

// Mark returns a call with the mark of one that its model wrote as text.
func Mark(c model.ToolCall) model.ToolCall {
	c.Extra = noted(c.Extra, writtenKey, "true")
	return c
}

// Marked reports whether a call's model wrote it as text.
func Marked(c model.ToolCall) bool { return c.Extra[writtenKey] != nil }

// Unused reports whether an answer has the text of calls that could not be used: the tool is unknown, text
// follows, or the form is broken.
func Unused(answer model.Message) bool { return answer.Extra[unusedKey] != nil }

// noted returns a copy of extra with one more member.
func noted(extra map[string]json.RawMessage, key, value string) map[string]json.RawMessage {
	extra = maps.Clone(extra)
	if extra == nil {
		extra = make(map[string]json.RawMessage)
	}
	extra[key] = json.RawMessage(value)
	return extra
}

// isNative reports whether the model has made a native call in the session, and whether the messages of the
// request say so. Calls of sessions that don't tell whose they are count as the model's own.
func (m *Model) isNative(msgs []model.Message) (native, told bool) {
	own := string(m.note())
	unmarked, stamped := false, false
	for _, msg := range msgs {
		unmarked = unmarked || slices.ContainsFunc(msg.ToolCalls, func(c model.ToolCall) bool { return !Marked(c) })
		if who := msg.Extra[nativeKey]; who != nil {
			stamped, told = true, told || string(who) == own
		}
	}
	return told || m.native.Load() || unmarked && !stamped, told
}

// note returns the model's name as a note.
func (m *Model) note() json.RawMessage {
	name, _ := json.Marshal(m.Info().Model) // of a string: cannot fail
	return name
}

// Stream sends req to the model behind it and reads its text. Text that may become a call is held back until
// it is clear that it is none.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		native, told := m.isNative(req.Messages)
		a := answer{m: m, req: req, yield: yield, told: told}
		if !native && len(req.Tools) > 0 {
			a.tools = req.Tools
		}
		a.begin()
		for d, err := range m.next.Stream(ctx, req) {
			if err != nil {
				if a.release(); !a.left {
					yield(model.Delta{}, err)
				}
				return
			}
			if a.take(d); a.left {
				return
			}
		}
	}
}

// answer reads one answer. It has one goroutine.
type answer struct {
	m     *Model
	req   model.Request
	yield func(model.Delta, error) bool
	left  bool            // the reader has left
	tools []model.ToolDef // that the text may call
	told  bool            // see isNative

	alive time.Time // when the reader was told last that the model writes

	think thinking
	hold  hold
	said  strings.Builder // the text that the reader has
}

// begin starts an attempt at the answer.
func (a *answer) begin() {
	a.think, a.hold = thinking{}, newHold(a.tools)
	a.said.Reset()
}

func (a *answer) emit(d model.Delta) { a.left = a.left || !a.yield(d, nil) }

func (a *answer) say(text string) {
	if text != "" {
		a.said.WriteString(text)
		a.emit(model.Delta{Kind: model.Text, Text: text})
	}
}

func (a *answer) reason(text string) {
	if text != "" {
		a.emit(model.Delta{Kind: model.Reasoning, Field: "think", Text: text})
	}
}

// live tells the reader, once a second at most, that the model writes although its text is held back.
func (a *answer) live() {
	if now := time.Now(); a.hold.held && now.Sub(a.alive) >= time.Second {
		a.alive = now
		a.emit(model.Delta{Kind: model.Alive})
	}
}

// release says what was held back.
func (a *answer) release() {
	a.unthink()
	a.say(a.hold.flush())
}

// unthink ends the search for thoughts.
func (a *answer) unthink() {
	thought, text := a.think.end()
	a.reason(thought)
	a.say(a.hold.add(text))
}

func (a *answer) take(d model.Delta) {
	switch d.Kind {
	case model.Text:
		thought, text := a.think.add(d.Text)
		a.reason(thought)
		a.say(a.hold.add(text))
		a.live()
	case model.CallDelta, model.CallReady:
		a.release()
		a.emit(d)
	case model.Stalled, model.Retry, model.Fallback:
		a.release()
		a.begin()
		a.emit(d)
	case model.Done:
		a.done(d)
	default:
		a.emit(d)
	}
}

// done ends the answer: with the calls in its text, if there are any that may run.
func (a *answer) done(d model.Delta) {
	a.unthink()
	switch {
	case d.Message == nil:
		a.say(a.hold.flush())
	case len(d.Message.ToolCalls) > 0:
		a.say(a.hold.flush())
		a.m.native.Store(true)
		if !a.told {
			stamped := *d.Message
			stamped.Extra = noted(stamped.Extra, nativeKey, string(a.m.note()))
			d.Message = &stamped
		}
	case d.Finish == model.FinishLength || d.Finish == model.FinishContentFilter || d.Finish == model.FinishContext:
		a.say(a.hold.flush())
	default:
		a.convert(&d)
	}
	if a.think.found && d.Message != nil {
		m := *d.Message
		m.Content = strings.TrimSpace(a.said.String())
		d.Message = &m
	}
	a.emit(d)
}

// convert turns the calls at the end of a whole answer into calls of its message.
func (a *answer) convert(d *model.Delta) {
	text, calls := a.hold.end()
	a.say(text)
	m := *d.Message
	d.Message = &m
	switch {
	case len(calls) == 0:
		if a.hold.unused {
			m.Extra = noted(m.Extra, unusedKey, "true")
		}
	case !isQuoted(calls, a.req.Messages):
		for _, c := range calls {
			c.ID = "call_" + rand.Text()
			m.ToolCalls = append(m.ToolCalls, Mark(c))
		}
		m.Content, d.Finish = strings.TrimSpace(a.said.String()), model.FinishToolCalls
		return
	}
	a.say(a.hold.flush())
}
