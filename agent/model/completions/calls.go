package completions

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/model/wire"
)

// call is a tool call whose pieces are still arriving. If the server sends no ID, one is generated.
type call struct {
	wire.Call
	wireID string // the server's
	index  int    // the server's; -1 = none
	extra  fields
}

// complete reports whether only white space can follow the arguments.
func (c *call) complete() bool {
	return bytes.HasSuffix(bytes.TrimSpace(c.Args), []byte("}")) && json.Valid(c.Args)
}

type piece struct {
	index    int // -1 = none
	id, name string
	args     json.RawMessage
	extra    wire.Members
}

// callPieces adds the tool_calls of a delta.
func (a *answer) callPieces(raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	var list []wire.Members
	if err := json.Unmarshal(raw, &list); err != nil {
		list = make([]wire.Members, 1)
		if json.Unmarshal(raw, &list[0]) != nil {
			return wire.Bad("the tool calls in the answer are not a list", raw, err)
		}
	}
	for _, m := range list {
		p, err := readPiece(m)
		if err != nil {
			return wire.Bad("a tool call in the answer is invalid", raw, err)
		}
		if err := a.callPiece(p); err != nil {
			return err
		}
	}
	return nil
}

func readPiece(m wire.Members) (piece, error) {
	p := piece{index: -1, id: wire.Text(m["id"]), extra: m}
	if i, err := strconv.Atoi(strings.Trim(string(m["index"]), `"`)); err == nil && i >= 0 {
		p.index = i
	}
	if f := m["function"]; len(f) > 0 {
		var fn struct {
			Name      *string
			Arguments json.RawMessage
		}
		if err := json.Unmarshal(f, &fn); err != nil {
			return p, err
		}
		if fn.Name != nil {
			p.name = *fn.Name
		}
		p.args = fn.Arguments
	}
	for _, k := range []string{"index", "id", "type", "function"} {
		delete(m, k)
	}
	return p, nil
}

func (a *answer) callPiece(p piece) error {
	c := a.callOf(p)
	if c == nil {
		// A new call starts, so no more pieces of the earlier calls will arrive.
		for _, before := range a.calls {
			if before.complete() {
				if err := a.Ready(&before.Call); err != nil {
					return err
				}
			}
		}
		c = &call{Call: wire.Call{ID: p.id}, wireID: p.id, index: p.index}
		a.Begin(&c.Call, "call_")
		a.calls = append(a.calls, c)
	}
	if c.wireID == "" {
		c.wireID = p.id // too late for ID: deltas have used it already
	}
	if c.Name != p.name { // some servers repeat it
		c.Name += p.name
	}
	for k, raw := range p.extra {
		c.extra.add(k, raw)
		c.Extra = c.extra.encode(a.origin)
	}
	return a.arguments(c, p.args)
}

// callOf returns the call that a piece belongs to, nil if the piece starts a new one. Some servers omit the index or
// the id, or use index 0 for every call.
func (a *answer) callOf(p piece) *call {
	switch {
	case p.index >= 0:
		c := a.lastCall(func(c *call) bool { return c.index == p.index })
		if c != nil && p.name != "" && p.id != "" && c.wireID != "" && p.id != c.wireID {
			return nil
		}
		return c
	case p.id != "":
		return a.lastCall(func(c *call) bool { return c.wireID == p.id })
	}
	c := a.lastCall(func(*call) bool { return true })
	if c != nil && p.name != "" && c.Name != "" && (p.name != c.Name || c.complete()) {
		return nil
	}
	return c
}

func (a *answer) lastCall(is func(*call) bool) *call {
	for _, c := range slices.Backward(a.calls) {
		if is(c) {
			return c
		}
	}
	return nil
}

// arguments adds a piece of arguments: a string, or an object from servers that do not encode it as a string.
func (a *answer) arguments(c *call, raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	s, ok := wire.String(raw)
	if !ok {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return wire.Bad("a tool call in the answer has arguments that are not valid JSON", raw, err)
		}
		s = b.String()
		c.Args = c.Args[:0]
	}
	return a.Add(&c.Call, s)
}
