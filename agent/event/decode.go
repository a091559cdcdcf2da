package event

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"

	"buddy/texts/quickjson"
)

// Decode reads an envelope in its public form, as json.Unmarshal does. A line that MarshalJSON could have written
// is read ten times faster: json.Unmarshal goes through long texts byte by byte, again for each level that they
// lie in. The envelope keeps nothing of line.
func Decode(line []byte) (Envelope, error) {
	if env, ok := decodeOwn(line); ok {
		return env, nil
	}
	var env Envelope
	err := json.Unmarshal(line, &env)
	return env, err
}

// decodeOwn reads a line that MarshalJSON could have written. Of other lines it reports false, and of some that
// it could have: then json.Unmarshal tells.
func decodeOwn(line []byte) (env Envelope, ok bool) {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	h := head{rest: line}
	h.take(`{"seq":`)
	env.Seq = h.number()
	h.take(`,"ts_unix_ms":`)
	env.Time = int64(h.number()) //nolint:gosec // a number has at most 18 digits
	h.take(`,"session":`)
	session := h.text()
	env.Branch = h.optional(`,"branch":`)
	env.Task = h.optional(`,"task":`)
	env.Turn = h.optional(`,"turn":`)
	h.take(`,"type":`)
	name := h.text()
	h.take(`,"payload":`)
	zero, known := named[string(name)]
	if h.failed || !known || !bytes.HasSuffix(h.rest, []byte{'}'}) {
		return env, false
	}
	p := reflect.New(reflect.TypeOf(zero))
	if quickjson.Unmarshal(h.rest[:len(h.rest)-1], p.Interface()) != nil {
		return env, false
	}
	env.Session = string(session)
	env.Payload, ok = read(p)
	return env, ok
}

// read returns the event that was decoded into p.
func read(p reflect.Value) (Event, bool) {
	if r, ok := p.Interface().(*ToolResult); ok {
		return known(*r), true
	}
	e, ok := p.Elem().Interface().(Event)
	return e, ok
}

// head reads the beginning of a line, up to what is not as it should be.
type head struct {
	rest   []byte
	failed bool
}

// take passes over what must come next.
func (h *head) take(what string) {
	if len(h.rest) < len(what) || string(h.rest[:len(what)]) != what {
		h.failed = true
		return
	}
	h.rest = h.rest[len(what):]
}

// number reads a number that is not negative and has no more than 18 digits.
func (h *head) number() uint64 {
	n := 0
	for n < len(h.rest) && '0' <= h.rest[n] && h.rest[n] <= '9' {
		n++
	}
	if n == 0 || n > 18 || n > 1 && h.rest[0] == '0' {
		h.failed = true
		return 0
	}
	v, err := strconv.ParseUint(string(h.rest[:n]), 10, 64)
	h.failed = h.failed || err != nil
	h.rest = h.rest[n:]
	return v
}

// optional reads a number after a key, 0 if that does not come next.
func (h *head) optional(key string) int {
	if !bytes.HasPrefix(h.rest, []byte(key)) {
		return 0
	}
	h.rest = h.rest[len(key):]
	return int(h.number()) //nolint:gosec // as above
}

// text reads a string of ASCII characters that are written as they are.
func (h *head) text() []byte {
	h.take(`"`)
	for i, b := range h.rest {
		if b == '"' {
			text := h.rest[:i]
			h.rest = h.rest[i+1:]
			return text
		}
		if b < ' ' || b == '\\' || b >= 0x80 {
			break
		}
	}
	h.failed = true
	return nil
}
