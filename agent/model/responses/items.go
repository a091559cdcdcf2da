package responses

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"maps"
	"strings"

	"buddy/agent/model"
	"buddy/agent/model/wire"
	"buddy/texts"
)

// item is an item of an answer whose pieces are still arriving.
type item struct {
	kind  string
	index int // the server's; -1 = none
	id    string
	slots []*slot
	raw   wire.Members // the complete item when it is done; nil before
	call  model.ToolCall
	free  string // the argument to which the call's text belongs; "" = the text is all arguments, in JSON
	done  bool
	ready bool // CallReady was emitted
}

// slot is one of an item's texts. It arrives in deltas, and then up to three times as a whole.
type slot struct {
	kind string
	n    int
	text []byte
}

func (i *item) slot(kind string, n int) *slot {
	for _, s := range i.slots {
		if s.kind == kind && s.n == n {
			return s
		}
	}
	s := &slot{kind: kind, n: n}
	i.slots = append(i.slots, s)
	return s
}

// text returns the joined text of all slots.
func (i *item) text() string {
	if len(i.slots) == 1 {
		return string(i.slots[0].text)
	}
	var b strings.Builder
	for _, s := range i.slots {
		b.Write(s.text)
	}
	return b.String()
}

// join adds an item to m, and returns the item's places in the note; none if the item is empty.
func (i *item) join(m *model.Message) []place {
	switch i.kind {
	case messageItem:
		return i.joinMessage(m)
	case callItem, freeItem:
		if i.call.Name == "" {
			return nil // the runtime could not run it
		}
		m.ToolCalls = append(m.ToolCalls, i.toolCall())
		return []place{{Call: true, Free: i.free}}
	}
	if i.raw == nil || i.kind == reasoningItem && !keeps(i.raw) {
		return nil
	}
	return []place{{Item: i.encode()}}
}

// joinMessage implements join for items that hold text.
func (i *item) joinMessage(m *model.Message) []place {
	text := i.text()
	if text == "" {
		return nil
	}
	if m.Content != "" {
		m.Content += between
	}
	m.Content += text
	p := place{Text: len(text)}
	if phase := i.raw["phase"]; wire.Text(phase) != "" {
		p.Phase = phase
	}
	return []place{p}
}

// encode returns the item with all its members, sorted by name. It drops nulls, because some servers send them but
// refuse them in requests.
func (i *item) encode() json.RawMessage {
	maps.DeleteFunc(i.raw, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	raw, err := texts.JSON(i.raw)
	if err != nil {
		return nil // parsed values: cannot happen
	}
	return raw
}

func (i *item) toolCall() model.ToolCall {
	t := i.call
	if i.free != "" {
		t.Arguments = wrapped(i.free, i.text())
		return t
	}
	if t.Arguments = i.text(); strings.TrimSpace(t.Arguments) == "" {
		t.Arguments = "{}" // the form of a call without parameters
	}
	return t
}

// find returns the item that an event belongs to, or nil if the event starts a new one. It must guess if a server omits
// the index or the id, uses index 0 for every item, or changes ids.
func (a *answer) find(e event, kind string) *item {
	index := -1
	if e.OutputIndex != nil {
		index = *e.OutputIndex
	}
	var byIndex, byID, last *item
	for _, i := range a.items {
		if i.kind != kind {
			continue
		}
		last = i
		if index >= 0 && i.index == index {
			byIndex = i
		}
		if e.ItemID != "" && i.id == e.ItemID {
			if byID = i; i.index == index {
				return i
			}
		}
	}
	switch {
	case byIndex != nil:
		return byIndex
	case byID != nil:
		return byID
	case index < 0 && e.ItemID == "":
		return last
	}
	return nil
}

func (a *answer) newItem(e event, kind string) *item {
	i := &item{kind: kind, index: -1, id: e.ItemID}
	if e.OutputIndex != nil {
		i.index = *e.OutputIndex
	}
	if id := wire.Text(e.Item["id"]); id != "" {
		i.id = id
	}
	a.items = append(a.items, i)
	if i.calls() {
		a.named(i, wire.Text(e.Item["name"]))
		i.call.ID = a.callID(wire.Text(e.Item["call_id"]), i.id)
	}
	return i
}

// callID returns the first of the ids that is neither empty nor used, or else a generated one.
func (a *answer) callID(ids ...string) string {
	for _, id := range ids {
		used := id == ""
		for _, i := range a.items {
			used = used || i.call.ID == id
		}
		if !used {
			return id
		}
	}
	return "call_" + rand.Text()
}

// open handles the event that starts an item. The item may already be complete.
func (a *answer) open(e event) error {
	return a.fill(a.newItem(e, wire.Text(e.Item["type"])), e.Item)
}

func (a *answer) itemDone(e event) error {
	kind := wire.Text(e.Item["type"])
	if e.ItemID == "" {
		e.ItemID = wire.Text(e.Item["id"])
	}
	i := a.find(e, kind)
	if i == nil || i.done {
		i = a.newItem(e, kind)
	}
	return a.finish(i, e.Item)
}

// finish adds a complete item.
func (a *answer) finish(i *item, m wire.Members) error {
	if err := a.fill(i, m); err != nil {
		return err
	}
	i.raw, i.done = m, true
	if i.calls() && wire.Text(m["status"]) != "incomplete" && a.response == nil {
		return a.ready(i)
	}
	return nil
}

// fill adds the texts, and the tool's name, that the members of an item contain.
func (a *answer) fill(i *item, m wire.Members) error {
	switch i.kind {
	case messageItem:
		return a.parts(i, m["content"], "")
	case reasoningItem:
		if err := a.parts(i, m["summary"], summaryText); err != nil {
			return err
		}
		return a.parts(i, m["content"], reasonText)
	case callItem, freeItem:
		if name := wire.Text(m["name"]); name != "" {
			a.named(i, name)
		}
		if i.kind == freeItem {
			return a.whole(i, freeText, 0, m["input"])
		}
		return a.whole(i, arguments, 0, m["arguments"])
	}
	return nil
}

// parts adds a list of parts; a string counts as one part. kind is the kind of all parts, or "" if each part states its
// own.
func (a *answer) parts(i *item, raw json.RawMessage, kind string) error {
	var parts []wire.Members
	if json.Unmarshal(raw, &parts) != nil {
		parts = []wire.Members{{"text": raw}}
	}
	places := i.places(kind, parts)
	for n, p := range parts {
		if err := a.part(i, p, kind, places[n]); err != nil {
			return err
		}
	}
	return nil
}

// kindOf returns the kind of a part. kind is as in parts.
func kindOf(kind string, p wire.Members) string {
	if p["refusal"] != nil {
		return refusalText
	}
	return cmp.Or(kind, outputText)
}

// places returns, for each part, the index that its deltas had. OpenAI uses the part's index in the list. Some servers
// count from 1, or count other parts, too. In that case, parts and deltas of the same kind are matched by their order.
func (i *item) places(kind string, parts []wire.Members) []int {
	places := make([]int, len(parts))
	for n := range parts {
		places[n] = n
	}
	if i.indexed(kind, parts) {
		return places
	}
	came := make(map[string][]int)
	for _, s := range i.slots {
		came[s.kind] = append(came[s.kind], s.n)
	}
	next := make(map[string]int) // the index after the last assigned one
	for n, p := range parts {
		k := kindOf(kind, p)
		if len(came[k]) > 0 {
			places[n], came[k] = came[k][0], came[k][1:]
		} else {
			places[n] = max(n, next[k])
		}
		next[k] = max(next[k], places[n]+1)
	}
	return places
}

// indexed reports whether every received text of an item is the start of the part with the same index.
func (i *item) indexed(kind string, parts []wire.Members) bool {
	for _, s := range i.slots {
		if kind != "" && s.kind != kind {
			continue // from another list
		}
		if s.n < 0 || s.n >= len(parts) || kindOf(kind, parts[s.n]) != s.kind || !strings.HasPrefix(partText(parts[s.n]), string(s.text)) {
			return false
		}
	}
	return true
}

func partText(p wire.Members) string {
	if p["refusal"] != nil {
		return wire.Text(p["refusal"])
	}
	return wire.Text(p["text"])
}

func (a *answer) part(i *item, p wire.Members, kind string, n int) error {
	if p["refusal"] != nil { // a refusal is text of the model
		return a.whole(i, refusalText, n, p["refusal"])
	}
	return a.whole(i, cmp.Or(kind, outputText), n, p["text"])
}

func (a *answer) partDone(e event) error {
	kind, owner, n := outputText, messageItem, e.ContentIndex
	switch wire.Text(e.Part["type"]) {
	case "summary_text":
		kind, owner, n = summaryText, reasoningItem, e.SummaryIndex
	case reasonText:
		kind, owner = reasonText, reasoningItem
	}
	i := a.find(e, owner)
	if i == nil {
		i = a.newItem(e, owner)
	}
	return a.part(i, e.Part, kind, n)
}

// whole handles a text that arrives as a whole. It emits only what the deltas lacked. If the text differs from the
// deltas, it replaces them.
func (a *answer) whole(i *item, kind string, n int, raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == 'n' || i.ready {
		return nil
	}
	text := wire.Text(raw)
	if raw[0] == '{' && kind == arguments { // from servers that do not encode it as a string
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return wire.Bad("a tool call in the answer has arguments that are not valid JSON", raw, err)
		}
		text = b.String()
	}
	if text == "" {
		return nil
	}
	s := i.slot(kind, n)
	rest, ok := strings.CutPrefix(text, string(s.text))
	if ok {
		return a.delta(i, kind, n, rest)
	}
	s.text = []byte(text)
	return nil
}

// delta adds a piece of a text and emits it.
func (a *answer) delta(i *item, kind string, n int, text string) error {
	if text == "" || i.ready {
		return nil
	}
	s := i.slot(kind, n)
	first := len(s.text) == 0
	s.text = append(s.text, text...)
	switch i.kind {
	case messageItem:
		if first && i.slots[0] == s && a.emittedText {
			text = between + text
		}
		a.emittedText = true
		return a.emit(model.Delta{Kind: model.Text, Text: text})
	case callItem, freeItem:
		return a.emit(model.Delta{Kind: model.CallDelta, CallID: i.call.ID, Text: text})
	}
	if kind != i.slots[0].kind {
		return nil // a summary of shown reasoning, or the reasoning behind a shown summary
	}
	if first && a.emittedReasoning {
		text = between + text
	}
	a.emittedReasoning = true
	return a.emit(model.Delta{Kind: model.Reasoning, Field: kind, Text: text})
}

// ready emits a complete call, but only once.
func (a *answer) ready(i *item) error {
	if i.ready || i.call.Name == "" {
		return nil
	}
	i.ready = true
	t := i.toolCall()
	return a.emit(model.Delta{Kind: model.CallReady, CallID: t.ID, Call: &t})
}
