package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"buddy/agent/model"
	"buddy/agent/model/wire"
	"buddy/texts"
)

// extraKey is the key in a message's Extra under which the kept blocks are stored.
const extraKey = model.Note + Name

// kept is the value under extraKey. The blocks are sent back only to the model that wrote them, because no other model
// accepts their signatures.
type kept struct {
	Model  string      `json:"model"`
	Blocks []keptBlock `json:"blocks"`
}

// place is a block's position among text and calls.
type place struct {
	Text  int `json:"text"`  // bytes of text before it
	Calls int `json:"calls"` // tool calls before it
}

type keptBlock struct {
	place
	Block json.RawMessage `json:"block"`
}

// grow adds a delta to a kept block. Except for input, a delta's members have the same names as the block's. Texts are
// appended; anything else is replaced.
func (b *block) grow(d delta, raw json.RawMessage) error {
	if d.Type == "input_json_delta" {
		b.input = append(b.input, d.JSON...)
		return nil
	}
	var pieces map[string]json.RawMessage
	if err := json.Unmarshal(raw, &pieces); err != nil {
		return wire.Bad("a delta in the answer is invalid", raw, err)
	}
	for k, v := range pieces {
		var s string
		switch {
		case k == "type":
		case json.Unmarshal(v, &s) != nil || v[0] != '"':
			b.member()[k] = v
		default:
			b.extend(k, s)
		}
	}
	return nil
}

// member returns the members of a block, at least its type.
func (b *block) member() map[string]json.RawMessage {
	if b.members == nil {
		b.members = map[string]json.RawMessage{"type": json.RawMessage(`"` + b.kind + `"`)}
	}
	return b.members
}

func (b *block) extend(key, text string) {
	grown := b.grown[key]
	if grown == nil {
		grown = &strings.Builder{}
		var before string
		_ = json.Unmarshal(b.member()[key], &before) // empty if there was none
		grown.WriteString(before)
		if b.grown == nil {
			b.grown = make(map[string]*strings.Builder)
		}
		b.grown[key] = grown
	}
	grown.WriteString(text)
}

// compacted reports whether the block is the provider's summary of everything before it. Such a block is sent back like
// any other kept block, and the provider then ignores what the block summarizes. If the block has no summary,
// compaction failed: platform.claude.com/docs/en/build-with-claude/compaction.
func (b *block) compacted() bool {
	var summary string
	_ = json.Unmarshal(b.members["content"], &summary) // it may be null
	return b.kind == "compaction" && summary != ""
}

// encode returns the block with the texts that arrived in pieces.
func (b *block) encode() (json.RawMessage, error) {
	for k, v := range b.grown {
		s, err := texts.JSON(v.String())
		if err != nil {
			return nil, err
		}
		b.members[k] = s
	}
	if len(b.input) > 0 {
		b.members["input"] = json.RawMessage(model.Object(string(b.input)))
	}
	return texts.JSON(b.members) // sorted: the same bytes in every request
}

// keep returns the extra members of a message, which hold its kept blocks; nil if there are none.
func keep(name string, blocks []*block) (map[string]json.RawMessage, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	k := kept{Model: name}
	for _, b := range blocks {
		raw, err := b.encode()
		if err != nil {
			return nil, fmt.Errorf("content block %q: %w", b.kind, err)
		}
		k.Blocks = append(k.Blocks, keptBlock{b.place, raw})
	}
	raw, err := texts.JSON(k)
	return map[string]json.RawMessage{extraKey: raw}, err
}

// keptIn returns the kept blocks of a message if the given model wrote them.
func keptIn(m model.Message, name string) []keptBlock {
	var k kept
	if raw := m.Extra[extraKey]; len(raw) == 0 || json.Unmarshal(raw, &k) != nil || k.Model != name {
		return nil // blocks of another model, or in an invalid note, may be left out
	}
	return k.Blocks
}

// assistant encodes an answer with the kept blocks at their original positions. If the answer's text or calls have
// become fewer, the blocks after them move forward.
func assistant(m model.Message, name string) []any {
	var out []any
	text, calls := m.Content, m.ToolCalls
	writeText := func(n int) {
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		out = addText(out, text[:n])
		text = text[n:]
	}
	writeCalls := func(n int) {
		for _, c := range calls[:n] {
			out = append(out, &part{Type: "tool_use", ID: safe(c.ID), Name: safe(c.Name), Input: json.RawMessage(model.Object(c.Arguments))})
		}
		calls = calls[n:]
	}
	for _, k := range keptIn(m, name) {
		written, called := len(m.Content)-len(text), len(m.ToolCalls)-len(calls)
		writeText(min(max(k.Text-written, 0), len(text)))
		writeCalls(min(max(k.Calls-called, 0), len(calls)))
		out = append(out, k.Block)
	}
	writeText(len(text))
	writeCalls(len(calls))
	return withoutLastThinking(out)
}

// withoutLastThinking drops thinking blocks from the end, because the provider refuses a message that ends with one.
func withoutLastThinking(parts []any) []any {
	for len(parts) > 0 {
		raw, ok := parts[len(parts)-1].(json.RawMessage)
		var b struct{ Type string }
		if !ok || json.Unmarshal(raw, &b) != nil || !strings.HasSuffix(b.Type, "thinking") {
			break
		}
		parts = parts[:len(parts)-1]
	}
	return parts
}
