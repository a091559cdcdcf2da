package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Limits of a file, far above any real one: the file of a checkout must not cost time or memory.
const (
	maxFile  = 1 << 20 // bytes
	maxKeys  = 4000
	maxParts = 8 // in one dotted key
)

// entry is one key or table of a file. Entries are in the file's order.
type entry struct {
	path []string
	line int
	kind unstable.Kind
	text string // the value of a string, the digits of a number, true or false
	// items are the values of an array of strings; nil for other values.
	items []string

	table int // number of parts of the path that name the table around the key
	// Offsets in the file: of the key, of its value, and of the value's end. Tables have only the first one.
	from, value, to int
}

// parser parses one file into entries.
type parser struct {
	toml    unstable.Parser
	entries []entry
	table   []string // the table that the next keys belong to
	line    int      // of offset
	offset  int
}

// parse parses a whole document. If that fails, it returns the number of the line and an error of one line.
func parse(data []byte) ([]entry, int, error) {
	entries, offset, err := scan(data)
	if err != nil {
		return nil, 1 + bytes.Count(data[:offset], []byte{'\n'}), err
	}
	return entries, 0, nil
}

// scan is like parse, but returns the offset of an error instead of the line, and the entries before it.
func scan(data []byte) ([]entry, int, error) {
	p := &parser{line: 1}
	if offset, err := notText(data); err != nil {
		return nil, offset, err
	}
	p.toml.Reset(slices.Clip(data)) // the parser finds offsets by capacity
	for p.toml.NextExpression() {
		if err := p.expression(p.toml.Expression()); err != nil {
			return p.entries, p.offset, err
		}
	}
	if err := p.toml.Error(); err != nil {
		if bad, ok := errors.AsType[*unstable.ParserError](err); ok {
			p.moveTo(int(p.toml.Range(bad.Highlight).Offset))
		}
		return p.entries, p.offset, hinted(err)
	}
	// The loop above finds the positions. This decoder checks the rest: that no key or table is duplicate, and that
	// numbers and dates are in range.
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		offset := p.offset
		if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
			offset = offsetOf(data, bad)
		}
		return p.entries, offset, hinted(errors.New(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	return p.entries, 0, nil
}

// notText finds bytes that cannot occur in UTF-8 text files.
func notText(data []byte) (offset int, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return 0, errors.New("begins with a byte order mark (allowed: UTF-8 without one)")
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return 0, errors.New("is UTF-16 (allowed: UTF-8)")
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i, errors.New("is not a text file: it has a NUL byte (allowed: UTF-8)")
	}
	return 0, nil
}

// hints explains the usual cause of parser messages that start or end with part.
var hints = []struct{ part, hint string }{
	{"at start of value", `text is written "in quotes", true and false in small letters`},
	{"invalid escape character", `a \ in text is written \\, or the text 'in single quotes'`},
	{"strings cannot have new lines", "is the quote at the end missing?"},
	{"invalid character at start of key", "comments begin with #, sections are [name], settings are name = value"},
	{"expected '=' after key", "settings are name = value"},
	{"invalid UTF-8", "allowed: UTF-8"},
	{" already exists", "a section may appear only once in a file; put its settings below the first one"},
	{" is already defined", "a setting may appear only once in its section"},
}

func hinted(err error) error {
	for _, h := range hints {
		if strings.Contains(err.Error(), h.part) {
			return fmt.Errorf("%w (%s)", err, h.hint)
		}
	}
	return err
}

// offsetOf returns the offset of a decoder's error.
func offsetOf(data []byte, err *toml.DecodeError) int {
	line, column := err.Position()
	offset := 0
	for ; line > 1; line-- {
		offset += bytes.IndexByte(data[offset:], '\n') + 1
	}
	return min(offset+max(column-1, 0), len(data))
}

func (p *parser) expression(n *unstable.Node) error {
	if n.Kind == unstable.KeyValue {
		return p.keyValue(p.table, n)
	}
	path, err := p.path(nil, n)
	if err != nil {
		return err
	}
	p.table = path
	from := p.offset
	for from > 0 && strings.IndexByte(" \t[", p.toml.Data()[from-1]) >= 0 {
		from-- // to the bracket
	}
	return p.add(entry{path: path, line: p.line, kind: n.Kind, from: from})
}

// keyValue adds a key, and the keys inside an inline table.
func (p *parser) keyValue(table []string, n *unstable.Node) error {
	path, err := p.path(table, n)
	if err != nil {
		return err
	}
	v := n.Value()
	e := entry{path: path, line: p.line, kind: v.Kind, table: len(table), from: int(n.Raw.Offset)}
	e.to = e.from + int(n.Raw.Length)
	e.value = valueAt(p.toml.Data(), n)
	switch v.Kind {
	case unstable.String, unstable.Integer, unstable.Float, unstable.Bool:
		e.text = string(v.Data)
	case unstable.Array:
		e.items = stringsOf(v)
	}
	if err := p.add(e); err != nil {
		return err
	}
	if v.Kind != unstable.InlineTable {
		return nil
	}
	for it := v.Children(); it.Next(); {
		if err := p.keyValue(path, it.Node()); err != nil {
			return err
		}
	}
	return nil
}

// valueAt returns the offset of a key's value.
func valueAt(data []byte, n *unstable.Node) int {
	at := 0
	for it := n.Key(); it.Next(); {
		at = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	at += bytes.IndexByte(data[at:], '=') + 1
	return at + len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t"))
}

// stringsOf returns the values of an array of strings, nil if it contains others.
func stringsOf(array *unstable.Node) []string {
	items := []string{}
	for it := array.Children(); it.Next(); {
		if it.Node().Kind != unstable.String {
			return nil
		}
		items = append(items, string(it.Node().Data))
	}
	return items
}

// path returns the whole path of a key and moves the line to it.
func (p *parser) path(table []string, n *unstable.Node) ([]string, error) {
	path := slices.Clip(table)
	for it := n.Key(); it.Next(); {
		if len(path) == len(table) {
			p.moveTo(int(it.Node().Raw.Offset))
		}
		if len(path) == maxParts {
			return nil, fmt.Errorf("a key has more than %d parts", maxParts)
		}
		path = append(path, string(it.Node().Data))
	}
	return path, nil
}

func (p *parser) add(e entry) error {
	if len(p.entries) == maxKeys {
		return fmt.Errorf("more than %d keys", maxKeys)
	}
	p.entries = append(p.entries, e)
	return nil
}

// moveTo counts lines up to an offset. Keys come in the file's order, so each byte is counted once.
func (p *parser) moveTo(offset int) {
	if offset > p.offset {
		p.line += bytes.Count(p.toml.Data()[p.offset:offset], []byte{'\n'})
		p.offset = offset
	}
}

// kindName returns the word for a kind of value.
func kindName(k unstable.Kind) string {
	switch k {
	case unstable.Table, unstable.InlineTable:
		return "a table"
	case unstable.ArrayTable:
		return "an array of tables"
	case unstable.Array:
		return "an array"
	case unstable.String:
		return "a string"
	case unstable.Integer:
		return "an integer"
	case unstable.Float:
		return "a float"
	case unstable.Bool:
		return "a boolean"
	}
	return "a date or time"
}
