package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/agent/model/wire"
	"buddy/texts/quickjson"
)

// answer collects the events of one answer and emits deltas.
type answer struct {
	wire.Collector
	model   string
	blocks  map[int]*block // by the server's index
	kept    []*block
	usage   usage
	finish  string
	refusal string // why the content filter stopped the answer
	over    bool   // message_stop arrived
	odd     string // the start of an event of unknown kind
}

// block is a content block whose pieces are still arriving.
type block struct {
	kind string

	call *wire.Call // for a tool call; else nil

	// for a block that is kept unchanged
	place
	input   []byte
	members map[string]json.RawMessage
	grown   map[string]*strings.Builder // texts that arrived in pieces
}

// event has the fields of every kind of event. Type and Usage also occur in an answer that is not streamed.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Delta   json.RawMessage `json:"delta"`
	Block   json.RawMessage `json:"content_block"`
	Message json.RawMessage `json:"message"`
	Usage   json.RawMessage `json:"usage"`
}

// message is a complete answer, or the start of one.
type message struct {
	Content []json.RawMessage `json:"content"`
	ending
}

type delta struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	JSON     string `json:"partial_json"`
}

type ending struct {
	Stop    string          `json:"stop_reason"`
	Details json.RawMessage `json:"stop_details"` // for a refusal
}

// Take processes one event. Once the stop reason has arrived, it ignores errors in events.
func (a *answer) Take(raw []byte) error {
	err := a.handle(raw)
	if err == nil || a.finish == "" {
		return err
	}
	if _, ok := errors.AsType[*model.Error](err); ok {
		return nil
	}
	return err
}

// Ended reports whether the stop reason arrived.
func (a *answer) Ended() bool { return a.finish != "" }

// Over reports whether the message has ended.
func (a *answer) Over() bool { return a.over }

// Done emits the end of the answer, or returns why the answer is incomplete.
func (a *answer) Done(marked bool) error {
	if !a.over {
		if err := a.check(marked); err != nil {
			return err
		}
	}
	return a.done()
}

func (a *answer) handle(raw []byte) error {
	if string(raw) == "[DONE]" {
		return nil // some servers based on Chat Completions send it
	}
	var e event
	if err := quickjson.Unmarshal(raw, &e); err != nil {
		return wire.Bad("an event in the answer is not in the Messages format", raw, err)
	}
	a.usage.add(e.Usage)
	switch e.Type {
	case "message_start":
		var head struct{ Usage json.RawMessage }
		_ = json.Unmarshal(e.Message, &head) // empty if there is none
		a.usage.add(head.Usage)
	case "content_block_start":
		return a.start(e.Index, e.Block)
	case "content_block_delta":
		return a.piece(e.Index, e.Delta)
	case "content_block_stop":
		return a.stop(e.Index)
	case "message_delta":
		var d ending
		if len(e.Delta) == 0 { // only usage
			return nil
		}
		if err := json.Unmarshal(e.Delta, &d); err != nil {
			return wire.Bad("the answer ends with an invalid stop reason", raw, err)
		}
		a.ended(d)
	case "message_stop":
		a.over = true
	case "message":
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return wire.Bad("the answer is not a message", raw, err)
		}
		return a.whole(m)
	case "": // not an event of this protocol
		a.odd = model.Excerpt(raw)
	}
	return nil // ignore unknown kinds
}

// whole adds an answer that was not streamed.
func (a *answer) whole(m message) error {
	for i, raw := range m.Content {
		if err := a.start(i, raw); err != nil {
			return err
		}
		if err := a.stop(i); err != nil {
			return err
		}
	}
	a.ended(m.ending)
	return nil
}

// ended translates the stop reason.
func (a *answer) ended(e ending) {
	reason := strings.ToLower(e.Stop)
	switch reason {
	case "":
		return
	case "end_turn", "stop_sequence", "pause_turn":
		reason = model.FinishStop
	case "tool_use":
		reason = model.FinishToolCalls
	case "max_tokens":
		reason = model.FinishLength
	case "model_context_window_exceeded":
		reason = model.FinishContext
	case "refusal":
		reason = model.FinishContentFilter
		// https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
		var d struct{ Category, Explanation string }
		_ = json.Unmarshal(e.Details, &d) // older servers send none
		a.refusal = model.Excerpt([]byte(cmp.Or(d.Explanation, d.Category)))
	case "compaction": // only for a caller that pauses after compaction, see compacted
		reason = model.FinishCompaction
	}
	a.finish = reason
}

// start starts a block, which may have all of its content already.
func (a *answer) start(index int, raw json.RawMessage) error {
	var head struct {
		Type, Text, ID, Name, Thinking string
		Input                          json.RawMessage
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Type == "" {
		return wire.Bad("a content block in the answer is invalid", raw, err)
	}
	b := a.open(index, head.Type)
	switch head.Type {
	case "text":
		return a.AddText(head.Text)
	case "tool_use":
		b.call = &wire.Call{ID: head.ID, Name: head.Name}
		a.Begin(b.call, "toolu_")
		if input := bytes.TrimSpace(head.Input); len(input) > 2 && input[0] == '{' && len(bytes.TrimSpace(input[1:len(input)-1])) > 0 {
			return a.Add(b.call, string(input))
		}
		return nil
	}
	if err := json.Unmarshal(raw, &b.members); err != nil {
		return wire.Bad("a content block in the answer is invalid", raw, err)
	}
	return a.think(head.Thinking)
}

// open adds a block and records its position in the answer.
func (a *answer) open(index int, kind string) *block {
	b := &block{kind: kind, place: place{Text: a.Text.Len(), Calls: len(a.Calls)}}
	if a.blocks == nil {
		a.blocks = make(map[int]*block)
	}
	a.blocks[index] = b
	if kind != "text" && kind != "tool_use" {
		a.kept = append(a.kept, b)
	}
	return b
}

// piece adds a delta to a block.
func (a *answer) piece(index int, raw json.RawMessage) error {
	var d delta
	if err := quickjson.Unmarshal(raw, &d); err != nil {
		return wire.Bad("a delta in the answer is invalid", raw, err)
	}
	b := a.blocks[index]
	if b == nil { // some servers omit the start
		switch d.Type {
		case "text_delta":
			b = a.open(index, "text")
		case "thinking_delta":
			b = a.open(index, "thinking")
		default:
			return wire.Bad("the answer continues a content block that never started", raw, nil)
		}
	}
	switch b.kind {
	case "text":
		return a.AddText(d.Text) // citations are ignored
	case "tool_use":
		return a.Add(b.call, d.JSON)
	}
	if err := b.grow(d, raw); err != nil {
		return err
	}
	return a.think(d.Thinking)
}

func (a *answer) think(s string) error {
	if s == "" {
		return nil
	}
	return a.Emit(model.Delta{Kind: model.Reasoning, Field: "thinking", Text: s})
}

// stop ends a block. If the arguments of a call are incomplete, perhaps because of the token limit, done decides what
// to do.
func (a *answer) stop(index int) error {
	b := a.blocks[index]
	if b == nil || b.call == nil || len(bytes.TrimSpace(b.call.Args)) > 0 && !json.Valid(b.call.Args) {
		return nil
	}
	return a.Ready(b.call)
}

// check returns an error if an answer without message_stop is incomplete. finished means that the server marked its end
// in another way.
func (a *answer) check(finished bool) error {
	switch {
	case a.finish == "" && a.odd != "":
		return model.Malformed("the answer is not in the Messages format", []byte(a.odd), nil)
	case a.finish == "" && !finished:
		return model.Cut()
	}
	return nil
}

// done emits the calls that are complete now, and the message.
func (a *answer) done() error {
	m, finish, err := a.End(a.finish)
	if err != nil {
		return err
	}
	extra, err := keep(a.model, a.kept)
	if err != nil {
		return err
	}
	m.Extra = extra
	if slices.ContainsFunc(a.kept, (*block).compacted) {
		m.MarkCompacted()
	}
	return a.Emit(model.Delta{Kind: model.Done, Message: m, Finish: finish, Refusal: a.refusal, Usage: a.usage.total()})
}
