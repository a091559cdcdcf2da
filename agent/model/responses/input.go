package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"buddy/agent/model"
	"buddy/agent/model/wire"
	"buddy/texts"
)

// noteKey is the key in a message's Extra under which the note is stored.
const noteKey = model.Note + Name

// note records the order of an answer's items. It contains neither the text nor the calls, which are in the message
// itself: they are stored only once, and if they are changed later, the changed ones are sent.
type note struct {
	Origin string  `json:"origin"` // see wire.Client.Origin
	Places []place `json:"places"`
}

// place is an entry of a note. It stands for one item of the answer: an item kept unchanged, a text or a call.
type place struct {
	Item  json.RawMessage `json:"item,omitempty"`  // the item with all its members
	Text  int             `json:"text,omitempty"`  // number of bytes of the content
	Phase json.RawMessage `json:"phase,omitempty"` // the model's name for the kind of this text
	Call  bool            `json:"call,omitempty"`  // the next call
	Free  string          `json:"free,omitempty"`  // the call's argument that was free text; "" = all arguments were JSON
}

// between separates two texts of one answer.
const between = "\n\n"

// input collects the items of a request.
type input struct {
	buf    bytes.Buffer
	enc    *json.Encoder
	client *wire.Client
	free   bool            // calls that were free text are sent as free text
	freed  map[string]bool // ids of calls sent as free text
}

// The items that buddy writes. Their members have a fixed order, so that a message has the same bytes in every request.
type (
	message struct {
		Type    string     `json:"type"`
		Role    model.Role `json:"role"`
		Content []part     `json:"content"`
	}
	// answerText contains the model's text as a string, because both OpenAI and vLLM accept that. In a list of
	// output_text, OpenAI requires an id and a status, and vLLM requires annotations.
	answerText struct {
		Type    string          `json:"type"`
		Role    model.Role      `json:"role"`
		Content string          `json:"content"`
		Phase   json.RawMessage `json:"phase,omitempty"`
	}
	part struct {
		Type   string `json:"type"`
		Text   string `json:"text,omitempty"`
		Image  string `json:"image_url,omitempty"`
		Detail string `json:"detail,omitempty"` // for an image, where it is required
	}
	functionCall struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	functionOutput struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output string `json:"output"`
	}
)

// encode encodes a conversation. instructions are the system messages, joined by empty lines; items are all other
// messages.
func encode(msgs []model.Message, client *wire.Client, free bool) (instructions string, items []byte, err error) {
	in := &input{client: client, free: free, freed: make(map[string]bool)}
	in.enc = json.NewEncoder(&in.buf)
	in.enc.SetEscapeHTML(false)
	in.buf.WriteByte('[')
	var system []string
	for i, m := range msgs {
		switch m.Role {
		case model.System:
			if strings.TrimSpace(m.Content) != "" {
				system = append(system, m.Content)
			}
		case model.User:
			err = in.user(m)
		case model.Assistant:
			err = in.assistant(m)
		case model.Tool:
			if m.ToolCallID != "" {
				err = in.output(m)
			}
		default:
			err = fmt.Errorf("unknown role %q", m.Role)
		}
		if err != nil {
			return "", nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	in.buf.WriteByte(']')
	return strings.Join(system, between), in.buf.Bytes(), nil
}

func (in *input) add(item any) error {
	if in.buf.Len() > 1 {
		in.buf.WriteByte(',')
	}
	if err := in.enc.Encode(item); err != nil {
		return err
	}
	in.buf.Truncate(in.buf.Len() - 1) // the encoder ends each value with a newline
	return nil
}

// text adds a text of the model, unless it is blank: servers refuse blank text.
func (in *input) text(text string, phase json.RawMessage) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return in.add(answerText{"message", model.Assistant, text, phase})
}

// user adds a user's message with its images, unless it is empty.
func (in *input) user(m model.Message) error {
	var parts []part
	if strings.TrimSpace(m.Content) != "" {
		parts = append(parts, part{Type: "input_text", Text: m.Content})
	}
	for _, i := range m.Images {
		parts = append(parts, part{Type: "input_image", Image: wire.DataURL(i), Detail: "auto"})
	}
	if parts == nil {
		return nil
	}
	return in.add(message{Type: "message", Role: model.User, Content: parts})
}

// assistant adds an answer: its items in the order of the note or, if there is no usable note, the text and then the
// calls.
func (in *input) assistant(m model.Message) error {
	text, calls := m.Content, m.ToolCalls
	places := in.places(m)
	for i, p := range places {
		var err error
		switch {
		case p.Call && len(calls) > 0:
			err = in.made(calls[0], p.Free)
			calls = calls[1:]
		case p.Text > 0:
			piece := text[:p.Text]
			text = strings.TrimPrefix(text[p.Text:], between)
			err = in.text(piece, p.Phase)
		case p.Item != nil && (!isReasoning(p.Item) || led(places[i+1:], len(calls))):
			err = in.add(p.Item)
		}
		if err != nil {
			return err
		}
	}
	if err := in.text(text, nil); err != nil {
		return err
	}
	for _, c := range calls {
		if err := in.call(c); err != nil {
			return err
		}
	}
	return nil
}

func (in *input) callID(id string) string { return in.client.CallID(id, maxCallID) }

func (in *input) call(c model.ToolCall) error {
	return in.add(functionCall{"function_call", in.callID(c.ID), c.Name, model.Object(c.Arguments)})
}

// led reports whether an item follows that reasoning may have led to. Without such an item, the server refuses the
// reasoning.
func led(rest []place, calls int) bool {
	for _, p := range rest {
		if p.Text > 0 || p.Call && calls > 0 || p.Item != nil && !isReasoning(p.Item) {
			return true
		}
	}
	return false
}

// places returns the places in an answer's note. It returns nil if another model wrote the answer, or if the text no
// longer fits the note.
func (in *input) places(m model.Message) []place {
	raw, ok := m.Extra[noteKey]
	var n note
	if !ok || json.Unmarshal(raw, &n) != nil || n.Origin != in.client.Origin() {
		return nil
	}
	text := m.Content
	for _, p := range n.Places {
		if p.Text == 0 {
			continue
		}
		if p.Text < 0 || p.Text > len(text) || p.Text < len(text) && !utf8.RuneStart(text[p.Text]) {
			return nil
		}
		text = strings.TrimPrefix(text[p.Text:], between)
	}
	if text != "" {
		return nil
	}
	return n.Places
}

func isReasoning(item json.RawMessage) bool {
	var i struct{ Type string }
	return json.Unmarshal(item, &i) == nil && i.Type == "reasoning"
}

// keeps reports whether a reasoning item is worth sending back. The server stores nothing, so it can't use an item
// without content.
func keeps(m wire.Members) bool {
	switch string(m["encrypted_content"]) {
	case "", "null", `""`:
	default:
		return true
	}
	var content []json.RawMessage
	return json.Unmarshal(m["content"], &content) == nil && len(content) > 0
}

// encodeNote returns the Extra of an answer, or nil if text and calls already determine the order.
func encodeNote(n note) (map[string]json.RawMessage, error) {
	plain := true
	for i, p := range n.Places {
		plain = plain && p.Item == nil && p.Phase == nil && p.Free == "" && (p.Call || i == 0)
	}
	if plain {
		return nil, nil
	}
	raw, err := texts.JSON(n)
	if err != nil {
		return nil, fmt.Errorf("items of the answer: %w", err)
	}
	return map[string]json.RawMessage{noteKey: raw}, nil
}
