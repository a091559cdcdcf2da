// Package written runs tool calls that a model has written as text.
//
// Each model marks its tool calls with its own notation, which the server should convert to calls. If the server does
// not, the calls arrive in the text of the answer. [Model] wraps another model and finds them there:
//
//	m := written.New(retry.New(adapter, recovery))
//	for d := range m.Stream(ctx, req) { … } // Done has a call if the text is `{"name": "read_file", "arguments": {…}}`
//
// Text counts as a call only if nothing but calls of offered tools follows it in the answer, the text does not repeat
// something that the model has read, and the model has made no native call in the session. The session file marks such
// calls. Text in <think> becomes reasoning.
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

// The keys in Extra under which this package stores notes on messages and calls.
const (
	writtenKey = model.Note + "written" // on a call: its model wrote it as text
	nativeKey  = model.Note + "native"  // on a message: the model that made its native calls
	unusedKey  = model.Note + "unused"  // on a message: its text has unusable calls
)

// Model is a model.Model that finds tool calls in the text of the model that it wraps. Create it with New.
type Model struct {
	next   model.Model
	native atomic.Bool // next has made a native call
}

// New wraps next.
func New(next model.Model) *Model { return &Model{next: next} }

// Info describes the wrapped model.
func (m *Model) Info() model.Info { return m.next.Info() }

// Mark returns c with a note that the model wrote the call as text.
func Mark(c model.ToolCall) model.ToolCall {
	c.Extra = noted(c.Extra, writtenKey, "true")
	return c
}

// Marked reports whether a call was written as text.
func Marked(c model.ToolCall) bool { return c.Extra[writtenKey] != nil }

// Unused reports whether the text of an answer contains calls that buddy could not use, because the tool is unknown,
// other text follows, or the notation is broken.
func Unused(answer model.Message) bool { return answer.Extra[unusedKey] != nil }

func noted(extra map[string]json.RawMessage, key, value string) map[string]json.RawMessage {
	extra = maps.Clone(extra)
	if extra == nil {
		extra = make(map[string]json.RawMessage)
	}
	extra[key] = json.RawMessage(value)
	return extra
}

// isNative reports whether the model has made a native call in the session. recorded reports whether a message records
// that: messages record which model made their native calls. If no message does, all native calls are attributed to
// this model.
func (m *Model) isNative(msgs []model.Message) (native, recorded bool) {
	own := string(m.note())
	unmarked, stamped := false, false
	for _, msg := range msgs {
		unmarked = unmarked || slices.ContainsFunc(msg.ToolCalls, func(c model.ToolCall) bool { return !Marked(c) })
		if who := msg.Extra[nativeKey]; who != nil {
			stamped, recorded = true, recorded || string(who) == own
		}
	}
	return recorded || m.native.Load() || unmarked && !stamped, recorded
}

// note returns the value of nativeKey for this model: its name as JSON.
func (m *Model) note() json.RawMessage {
	name, _ := json.Marshal(m.Info().Model) // of a string: cannot fail
	return name
}

// Stream sends req to the wrapped model and looks for calls in the text of the answer. Text that may become a call is
// held back until it no longer can.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		native, recorded := m.isNative(req.Messages)
		a := answer{m: m, req: req, yield: yield, recorded: recorded}
		if !native && len(req.Tools) > 0 {
			a.tools = req.Tools
		}
		a.start()
		for d, err := range m.next.Stream(ctx, req) {
			if err != nil {
				if a.release(); !a.stopped {
					yield(model.Delta{}, err)
				}
				return
			}
			if a.handle(d); a.stopped {
				return
			}
		}
	}
}

// answer reads one answer. It is used by one goroutine.
type answer struct {
	m        *Model
	req      model.Request
	yield    func(model.Delta, error) bool
	stopped  bool            // the reader has stopped
	tools    []model.ToolDef // the tools that the text may call
	recorded bool            // see isNative

	alive time.Time // when the last Alive was sent

	think thinking
	hold  hold
	sent  strings.Builder // the text that the reader has got
}

// start prepares for an answer, either the first one or another after a failed attempt.
func (a *answer) start() {
	a.think, a.hold = thinking{}, newHold(a.tools)
	a.sent.Reset()
}

func (a *answer) emit(d model.Delta) { a.stopped = a.stopped || !a.yield(d, nil) }

func (a *answer) emitText(text string) {
	if text != "" {
		a.sent.WriteString(text)
		a.emit(model.Delta{Kind: model.Text, Text: text})
	}
}

func (a *answer) emitReasoning(text string) {
	if text != "" {
		a.emit(model.Delta{Kind: model.Reasoning, Field: "think", Text: text})
	}
}

// live yields an Alive at most once a second while text is held back.
func (a *answer) live() {
	if now := time.Now(); a.hold.held && now.Sub(a.alive) >= time.Second {
		a.alive = now
		a.emit(model.Delta{Kind: model.Alive})
	}
}

// release emits the text that is held back.
func (a *answer) release() {
	a.unthink()
	a.emitText(a.hold.flush())
}

// unthink stops looking for thoughts, and emits what was held back.
func (a *answer) unthink() {
	thought, text := a.think.end()
	a.emitReasoning(thought)
	a.emitText(a.hold.add(text))
}

func (a *answer) handle(d model.Delta) {
	switch d.Kind {
	case model.Text:
		thought, text := a.think.add(d.Text)
		a.emitReasoning(thought)
		a.emitText(a.hold.add(text))
		a.live()
	case model.CallDelta, model.CallReady:
		a.release()
		a.emit(d)
	case model.Stalled, model.Retry, model.Fallback:
		a.release()
		a.start()
		a.emit(d)
	case model.Done:
		a.done(d)
	default:
		a.emit(d)
	}
}

// done ends the answer, and adds the calls in its text, if they may run.
func (a *answer) done(d model.Delta) {
	a.unthink()
	switch {
	case d.Message == nil:
		a.emitText(a.hold.flush())
	case len(d.Message.ToolCalls) > 0:
		a.emitText(a.hold.flush())
		a.m.native.Store(true)
		if !a.recorded {
			stamped := *d.Message
			stamped.Extra = noted(stamped.Extra, nativeKey, string(a.m.note()))
			d.Message = &stamped
		}
	case d.Finish == model.FinishLength || d.Finish == model.FinishContentFilter || d.Finish == model.FinishContext:
		a.emitText(a.hold.flush())
	default:
		a.convert(&d)
	}
	if a.think.found && d.Message != nil {
		m := *d.Message
		m.Content = strings.TrimSpace(a.sent.String())
		d.Message = &m
	}
	a.emit(d)
}

// convert makes the calls at the end of a complete answer's text calls of its message.
func (a *answer) convert(d *model.Delta) {
	text, calls := a.hold.end()
	a.emitText(text)
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
		m.Content, d.Finish = strings.TrimSpace(a.sent.String()), model.FinishToolCalls
		return
	}
	a.emitText(a.hold.flush())
}
