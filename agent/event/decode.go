package event

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"

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
	t, known := types[string(name)]
	if h.failed || !known || !bytes.HasSuffix(h.rest, []byte{'}'}) {
		return env, false
	}
	p := reflect.New(t)
	if payload := h.rest[:len(h.rest)-1]; !readFields(p.Elem(), payload) {
		p = reflect.New(t)
		if json.Unmarshal(payload, p.Interface()) != nil {
			return env, false
		}
	}
	env.Session = string(session)
	env.Payload, ok = p.Elem().Interface().(Event)
	return env, ok
}

// readFields reads an object into a struct. If it reports false the struct may be half filled, and json.Unmarshal tells.
func readFields(v reflect.Value, object []byte) bool {
	fields := fieldsOf(v.Type())
	var seen uint64
	return fields != nil && quickjson.Members(object, func(key, value []byte) bool {
		i, known := fields[string(key)]
		if !known || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		field := v.Field(i)
		if field.Kind() == reflect.String {
			if text, ok := quickjson.String(value); ok {
				field.SetString(text)
				return true
			}
		}
		return json.Unmarshal(value, field.Addr().Interface()) == nil
	})
}

// maxFields is how many fields a struct may have that readFields reads.
const maxFields = 64

// fieldLists holds what fieldsOf has found, by type.
var fieldLists sync.Map

// fieldsOf returns the fields of a struct by their names in JSON, nil for one that json.Unmarshal has to read.
func fieldsOf(t reflect.Type) map[string]int {
	if known, ok := fieldLists.Load(t); ok {
		return known.(map[string]int)
	}
	fields := make(map[string]int)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if _, twice := fields[name]; twice || name == "" || i >= maxFields || f.Anonymous || options == "string" || readsItself(f.Type) {
			fields = nil
			break
		}
		fields[name] = i
	}
	fieldLists.Store(t, fields)
	return fields
}

// readsItself reports whether a string is more than its text for json.Unmarshal.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Kind() == reflect.String && (p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
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
