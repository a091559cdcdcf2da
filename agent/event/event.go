// Package event defines the events that an agent publishes and the commands that it accepts. The screen, the session
// file, `buddy exec --json`, hooks and tests use no other interface.
//
// An [Event] is a fact, named after its family and in the past tense, such as tool.started. It is published in a
// numbered [Envelope]. Durable events are stored in the session file before any reader gets them. Transient events
// are not stored; neighbouring ones may be merged, but they are never reordered.
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

// Envelope holds an Event with its position in the stream. Seq strictly increases within a
// session, with gaps.
type Envelope struct {
	Seq     uint64
	Time    int64 // Unix milliseconds
	Session string
	Branch  int // 0 is the main branch
	Task    int // 0: no task
	Turn    int // 0: no turn
	Payload Event
}

// envelopeFields holds the fields of an envelope before its payload.
type envelopeFields struct {
	Seq     uint64 `json:"seq"`
	Time    int64  `json:"ts_unix_ms"`
	Session string `json:"session"`
	Branch  int    `json:"branch,omitempty"`
	Task    int    `json:"task,omitempty"`
	Turn    int    `json:"turn,omitempty"`
	Type    string `json:"type"`
}

// MarshalJSON returns the public form, one object without newlines. Parts that arrived as JSON, such as an Unknown or a
// provider's field, are copied; json.Marshal then escapes <, > and & in them, an Encoder with SetEscapeHTML(false) does
// not.
func (e Envelope) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends the result of MarshalJSON to b, without the check and the escapes of json.Marshal. On an error
// it returns b unchanged.
func (e Envelope) AppendJSON(b []byte) ([]byte, error) {
	if e.Payload == nil {
		return b, fmt.Errorf("event %d has no payload", e.Seq)
	}
	name := Type(e.Payload)
	first, err := texts.JSON(envelopeFields{e.Seq, e.Time, e.Session, e.Branch, e.Task, e.Turn, name})
	if err != nil {
		return b, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	payload, err := texts.JSON(e.Payload)
	if err != nil {
		return b, fmt.Errorf("event %d %s: %w", e.Seq, name, err)
	}
	b = append(append(b, first[:len(first)-1]...), `,"payload":`...)
	return append(append(b, payload...), '}'), nil
}

// UnmarshalJSON parses the public form. A type that is not in All becomes an Unknown, which encodes unchanged.
func (e *Envelope) UnmarshalJSON(data []byte) error {
	var w struct {
		envelopeFields
		Payload json.RawMessage `json:"payload"`
	}
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
	zero, ok := named[name]
	if !ok {
		return Unknown{Name: name, Raw: raw}, nil
	}
	p := reflect.New(reflect.TypeOf(zero))
	if err := json.Unmarshal(raw, p.Interface()); err != nil {
		return nil, err
	}
	e, _ := read(p)
	return e, nil
}

// Unknown holds an event of a later version. It is stored but not shown.
type Unknown struct {
	Name string
	Raw  json.RawMessage
}

// MarshalJSON returns the payload unchanged.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if u.Raw == nil {
		return []byte("null"), nil
	}
	return u.Raw, nil
}

// NextSeq returns the first number for a process that continues a session, given the session's last stored number: the
// next multiple of 1,000,000. The gap covers events that an earlier process showed but did not store.
func NextSeq(last uint64) uint64 {
	const step = 1_000_000
	return (last/step + 1) * step
}
