package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/agent/model/sse"
	"buddy/agent/model/wire"
	"buddy/texts/quickjson"
)

// answer collects the events of one answer and emits deltas.
type answer struct {
	emit             wire.Emit
	origin           string
	tools            []model.ToolDef // of the request
	items            []*item
	emittedText      bool // some text was emitted
	emittedReasoning bool // some reasoning was emitted
	events           bool // an event of the protocol arrived
	odd              string
	response         *response // the response that ended the answer
}

func newAnswer(emit wire.Emit, origin string, tools []model.ToolDef) *answer {
	return &answer{emit: emit, origin: origin, tools: tools}
}

// event has the members of every event of the protocol. Each kind of event uses some of them.
type event struct {
	Type         string          `json:"type"`
	OutputIndex  *int            `json:"output_index"`
	ItemID       string          `json:"item_id"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        json.RawMessage `json:"delta"`
	Text         json.RawMessage `json:"text"`
	Refusal      json.RawMessage `json:"refusal"`
	Arguments    json.RawMessage `json:"arguments"`
	Input        json.RawMessage `json:"input"`
	Item         wire.Members    `json:"item"`
	Part         wire.Members    `json:"part"`
	Response     json.RawMessage `json:"response"`
}

// response is a complete answer. It arrives at the end of a stream, or as the whole body.
type response struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Output     []wire.Members  `json:"output"`
	OutputText json.RawMessage `json:"output_text"`
	Usage      json.RawMessage `json:"usage"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// The kinds of slots, with the names of the events that fill them.
const (
	outputText  = "output_text"
	refusalText = "refusal"
	reasonText  = "reasoning_text"
	summaryText = "reasoning_summary_text"
	arguments   = "function_call_arguments"
	freeText    = "custom_tool_call_input"
)

// The known kinds of items.
const (
	messageItem   = "message"
	callItem      = "function_call"
	freeItem      = "custom_tool_call" // see customTool
	reasoningItem = "reasoning"
	// compactionItem is the type of an item in which the server has summarized, in an opaque form, everything before
	// it: developers.openai.com/api/docs/guides/compaction. The answer continues after it.
	compactionItem = "compaction"
)

// Take adds one event.
func (a *answer) Take(raw []byte) error {
	var e event
	if err := quickjson.Unmarshal(raw, &e); err != nil {
		return wire.Bad("an event in the answer is not in the Responses format", raw, err)
	}
	name, ok := strings.CutPrefix(e.Type, "response.")
	if !ok {
		return a.document(e.Type, raw)
	}
	a.events = true
	switch name {
	case "output_item.added":
		return a.open(e)
	case "output_item.done":
		return a.itemDone(e)
	case "content_part.done", "reasoning_summary_part.done":
		return a.partDone(e)
	case "completed", "done", "incomplete", "failed", "cancelled":
		return a.end(name, e.Response)
	}
	return a.piece(name, e)
}

// piece adds a delta of a text, or the whole text, which follows its deltas.
func (a *answer) piece(name string, e event) error {
	base, isDelta := strings.CutSuffix(name, ".delta")
	base, isDone := strings.CutSuffix(base, ".done")
	kind, n := base, e.ContentIndex
	raw, owner := e.Text, messageItem
	switch base {
	case outputText:
	case refusalText:
		raw = e.Refusal
	case arguments:
		raw, owner = e.Arguments, callItem
	case freeText:
		raw, owner = e.Input, freeItem
	case reasonText, "reasoning":
		kind, owner = reasonText, reasoningItem
	case summaryText, "reasoning_summary":
		kind, n, owner = summaryText, e.SummaryIndex, reasoningItem
	default:
		return nil // an unknown event
	}
	i := a.find(e, owner)
	if i == nil {
		i = a.newItem(e, owner)
	}
	switch {
	case isDelta:
		return a.delta(i, kind, n, wire.Text(e.Delta))
	case isDone:
		return a.whole(i, kind, n, raw)
	}
	return nil
}

// document handles an event whose type lacks the protocol's prefix. It may be a complete response.
func (a *answer) document(kind string, raw []byte) error {
	var m wire.Members
	_ = json.Unmarshal(raw, &m) // it was an object just now
	if kind != "" || m["output"] == nil && m["output_text"] == nil && wire.Text(m["object"]) != "response" {
		if a.odd == "" {
			a.odd = model.Excerpt(raw)
		}
		return nil
	}
	return a.end(wire.Text(m["status"]), raw)
}

// end handles the response that ends the answer.
func (a *answer) end(name string, raw json.RawMessage) error {
	r := &response{Status: name}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, r); err != nil {
			return wire.Bad("the answer ends with an invalid response", raw, err)
		}
	}
	if name == "failed" || name == "cancelled" || r.Status == "failed" || r.Status == "cancelled" {
		switch string(r.Error) {
		case "", "null", "{}", `""`:
			return &model.Error{Kind: model.ReportedError, Status: 500, What: "the server did not finish its answer: " + model.Excerpt([]byte(r.Status))}
		}
		return sse.Reported(r.Error)
	}
	if name == "incomplete" {
		r.Status = name
	}
	a.response, a.events = r, true
	return a.final(r)
}

// final adds whatever earlier events lacked of a complete response.
func (a *answer) final(r *response) error {
	matched := make(map[*item]bool)
	for _, m := range r.Output {
		i := a.match(m, matched)
		if i == nil {
			i = a.newItem(event{Item: m}, wire.Text(m["type"]))
		}
		matched[i] = true
		if err := a.finish(i, m); err != nil {
			return err
		}
	}
	text := wire.Text(r.OutputText)
	if a.emittedText || strings.TrimSpace(text) == "" {
		return nil
	}
	i := a.newItem(event{}, messageItem)
	return a.delta(i, outputText, 0, text)
}

// match finds the received item that an item of the final response repeats. Some servers give the repetition another
// id.
func (a *answer) match(m wire.Members, matched map[*item]bool) *item {
	kind, id := wire.Text(m["type"]), wire.Text(m["id"])
	for _, i := range a.items {
		if i.kind == kind && id != "" && i.id == id && !matched[i] {
			return i
		}
	}
	for _, i := range a.items {
		if i.kind == kind && !matched[i] {
			return i
		}
	}
	return nil
}

// Ended reports whether the final response arrived.
func (a *answer) Ended() bool { return a.response != nil }

// Over reports the same as Ended, because only [DONE] follows the final response.
func (a *answer) Over() bool { return a.response != nil }

// Done emits the calls that are complete now, and the message.
func (a *answer) Done(marked bool) error {
	finish, err := a.finishReason(marked)
	if err != nil {
		return err
	}
	// If the answer was cut off, its calls may be incomplete.
	whole := finish != model.FinishLength && finish != model.FinishContentFilter
	m := &model.Message{Role: model.Assistant}
	n := note{Origin: a.origin}
	for _, i := range a.items {
		if i.calls() && i.call.Name != "" && whole {
			if err := a.ready(i); err != nil {
				return err
			}
		}
		n.Places = append(n.Places, i.join(m)...)
	}
	if finish == "" {
		finish = model.FinishStop
		if len(m.ToolCalls) > 0 {
			finish = model.FinishToolCalls
		}
	}
	if m.Extra, err = encodeNote(n); err != nil {
		return err
	}
	if slices.ContainsFunc(a.items, func(i *item) bool { return i.kind == compactionItem && i.raw != nil }) {
		m.MarkCompacted()
	}
	var usage *model.Usage
	if a.response != nil {
		usage = wire.Usage(a.response.Usage)
	}
	return a.emit(model.Delta{Kind: model.Done, Message: m, Finish: finish, Usage: usage})
}

// finishReason returns why the answer ended early, or "" if it is complete.
func (a *answer) finishReason(marked bool) (string, error) {
	switch {
	case a.response == nil && !a.events && (a.odd != "" || marked):
		return "", model.Malformed("the answer is not a response", []byte(a.odd), nil)
	case a.response == nil:
		return a.partial(marked)
	case a.response.Status != "incomplete":
		return "", nil
	case a.response.Incomplete.Reason == model.FinishContentFilter:
		return model.FinishContentFilter, nil
	}
	return model.FinishLength, nil
}

// partial judges an answer whose final response is missing. It was cut off, unless the body was marked as complete, it
// has text or a call, and every call has ended.
func (a *answer) partial(marked bool) (string, error) {
	called := false
	for _, i := range a.items {
		called = called || i.calls()
		if i.calls() && !i.done {
			return "", model.Cut()
		}
	}
	if !marked || !a.emittedText && !called {
		return "", model.Cut()
	}
	return "", nil
}
