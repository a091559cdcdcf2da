package event

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"

	"buddy/texts/quickjson"
)

// Decode parses an envelope in its public form, as json.Unmarshal does. For lines from MarshalJSON it is ten times
// faster, because json.Unmarshal scans long texts once per nesting level. The envelope shares no memory with line.
func Decode(line []byte) (Envelope, error) {
	if env, ok := decodeOwn(line); ok {
		return env, nil
	}
	var env Envelope
	err := json.Unmarshal(line, &env)
	return env, err
}

// decodeOwn parses most lines from MarshalJSON. For all other lines it returns false; then the caller uses
// json.Unmarshal.
func decodeOwn(line []byte) (env Envelope, ok bool) {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	h := head{rest: line}
	h.skip(`{"seq":`)
	env.Seq = h.number()
	h.skip(`,"ts_unix_ms":`)
	env.Time = int64(h.number()) //nolint:gosec // a number has at most 18 digits
	h.skip(`,"session":`)
	session := h.text()
	env.Branch = h.optional(`,"branch":`)
	env.Task = h.optional(`,"task":`)
	env.Turn = h.optional(`,"turn":`)
	h.skip(`,"type":`)
	name := h.text()
	h.skip(`,"payload":`)
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

// read returns the decoded event that p points to.
func read(p reflect.Value) (Event, bool) {
	if r, ok := p.Interface().(*ToolResult); ok {
		return known(*r), true
	}
	e, ok := p.Elem().Interface().(Event)
	return e, ok
}

// head parses the start of a line. After the first mismatch, failed is true and nothing more is parsed.
type head struct {
	rest   []byte
	failed bool
}

// skip skips an expected literal.
func (h *head) skip(what string) {
	if len(h.rest) < len(what) || string(h.rest[:len(what)]) != what {
		h.failed = true
		return
	}
	h.rest = h.rest[len(what):]
}

// number parses a non-negative number of at most 18 digits.
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

// optional parses a number after a key; it returns 0 if the key does not follow.
func (h *head) optional(key string) int {
	if !bytes.HasPrefix(h.rest, []byte(key)) {
		return 0
	}
	h.rest = h.rest[len(key):]
	return int(h.number()) //nolint:gosec // as above
}

// text parses a string of ASCII characters without escapes.
func (h *head) text() []byte {
	h.skip(`"`)
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
