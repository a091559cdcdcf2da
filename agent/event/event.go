// Package event defines what the agent reports and what it can be told: a closed set
// of facts ([Event]) in numbered envelopes, and a closed set of imperatives
// ([Command]). The screen, the session file, `buddy exec --json`, hooks and tests have
// no other source.
//
// Facts are named in the past tense by family ("tool.started"). Durable events are in
// the journal before anyone sees them; transient ones may be merged with their
// neighbour, are never reordered, and are never in the journal.
//
//	env := event.Envelope{Seq: 7, Time: now.UnixMilli(), Session: id, Payload: event.TaskStarted{ID: 1}}
//	line, err := json.Marshal(env) // {"seq":7,…,"type":"task.started","payload":{"id":1}}
package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"buddy/texts"
)

// Event is a fact about a session. Its JSON form is the payload of an Envelope.
type Event interface {
	// Type returns the name on the wire, "family.fact".
	Type() string
	// Durable reports whether the event is journaled before anyone sees it.
	Durable() bool
}

// Envelope holds an Event with its position in the stream. Seq strictly increases within a
// session, with gaps.
type Envelope struct {
	Seq     uint64
	Time    int64 // Unix milliseconds
	Session string
	Branch  int // 0 is the main branch
	Task    int // 0: concerns no task
	Turn    int // 0: concerns no turn
	Payload Event
}

type wire struct {
	Seq     uint64          `json:"seq"`
	Time    int64           `json:"ts_unix_ms"`
	Session string          `json:"session"`
	Branch  int             `json:"branch,omitempty"`
	Task    int             `json:"task,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// MarshalJSON writes the public form, one object without newlines. Parts that arrived as JSON,
// such as an Unknown or a provider's field, are copied; json.Marshal then still escapes their
// <, > and &, an Encoder with SetEscapeHTML(false) does not.
func (e Envelope) MarshalJSON() ([]byte, error) {
	if e.Payload == nil {
		return nil, fmt.Errorf("event %d has no payload", e.Seq)
	}
	raw, err := texts.JSON(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("event %d %s: %w", e.Seq, e.Payload.Type(), err)
	}
	return texts.JSON(wire{e.Seq, e.Time, e.Session, e.Branch, e.Task, e.Turn, e.Payload.Type(), raw})
}

// UnmarshalJSON reads the public form. A type that is not in All becomes an Unknown, which
// encodes unchanged.
func (e *Envelope) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	payload, err := decode(w.Type, w.Payload)
	if err != nil {
		return fmt.Errorf("event %d %s: %w", w.Seq, w.Type, err)
	}
	*e = Envelope{w.Seq, w.Time, w.Session, w.Branch, w.Task, w.Turn, payload}
	return nil
}

func decode(name string, raw json.RawMessage) (Event, error) {
	if name == "" {
		return nil, errors.New("no type")
	}
	t, ok := types[name]
	if !ok {
		return Unknown{Name: name, Raw: raw}, nil
	}
	p := reflect.New(t)
	if err := json.Unmarshal(raw, p.Interface()); err != nil {
		return nil, err
	}
	return p.Elem().Interface().(Event), nil
}

var types = func() map[string]reflect.Type {
	m := make(map[string]reflect.Type, len(All))
	for _, e := range All {
		m[e.Type()] = reflect.TypeOf(e)
	}
	return m
}()

// Unknown holds an event of a later version. It is kept, and shown to nobody.
type Unknown struct {
	Name string
	Raw  json.RawMessage
}

// Type returns the name it arrived with.
func (u Unknown) Type() string { return u.Name }

// Durable returns true: only durable events are ever read back.
func (Unknown) Durable() bool { return true }

// MarshalJSON writes the payload unchanged.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if u.Raw == nil {
		return []byte("null"), nil
	}
	return u.Raw, nil
}
