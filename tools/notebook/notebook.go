// Package notebook converts Jupyter notebooks to text, and applies changes of the text to the notebook's JSON.
//
//	n, ok := notebook.Read(json)
//	text := n.Text()              // each cell below a line "=== cell 1, code ==="
//	json, err := n.Become(edited) // all other bytes stay
//
// The package does no I/O.
package notebook

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Notebook is a notebook of format 4.
type Notebook struct {
	data  string
	array span // of the cells, including its brackets
	cells []cell
	ids   bool // cells have ids
	text  string
}

// span is a part of the notebook's JSON, by offsets.
type span struct{ from, to int }

type cell struct {
	kind    string
	whole   span
	source  span
	lines   []element // of the source
	list    bool      // the source is a list of lines, else one string
	outputs []output
	id      string
	shown   string // the source as displayed
}

// element is a line of a source.
type element struct {
	text string
	at   span
}

// header matches the lines above cells and outputs.
var header = regexp.MustCompile(`^=== (?:cell(?: (\d{1,6}))?, (code|markdown|raw)|output of cell \d+) ===$`)

// Read reads the JSON of a notebook. It returns false for other data, and for a notebook that can't be displayed
// unambiguously.
func Read(data string) (*Notebook, bool) {
	n := &Notebook{data: data}
	if !json.Valid([]byte(data)) || n.read() != nil {
		return nil, false
	}
	n.text = n.show()
	return n, true
}

// Text returns the cells with their outputs, which are shortened.
func (n *Notebook) Text() string { return n.text }

// Sources returns Text with the outputs, which can't be changed, replaced by NUL bytes.
func (n *Notebook) Sources() string {
	var b strings.Builder
	hidden := false
	for line := range strings.Lines(n.text) {
		if m := header.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			hidden = m[2] == ""
		}
		if hidden {
			line = strings.Repeat("\x00", len(line)-1) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// Cells returns the number of cells.
func (n *Notebook) Cells() int { return len(n.cells) }

var errForm = errors.New("not the form of a notebook")

// read finds the cells.
func (n *Notebook) read() error {
	var version struct {
		Major int `json:"nbformat"`
		Minor int `json:"nbformat_minor"`
	}
	if err := json.Unmarshal([]byte(n.data), &version); err != nil || version.Major != 4 {
		return errForm
	}
	n.ids = version.Minor >= 5
	top, err := n.members(span{0, len(n.data)})
	if err != nil {
		return err
	}
	cells, ok := top["cells"]
	if !ok || n.data[cells.from] != '[' {
		return errForm
	}
	n.array = cells
	all, err := n.items(cells)
	if err != nil {
		return err
	}
	for _, one := range all {
		c, err := n.cell(one)
		if err != nil {
			return err
		}
		n.cells = append(n.cells, c)
	}
	return nil
}

func (n *Notebook) cell(whole span) (cell, error) {
	c := cell{whole: whole}
	parts, err := n.members(whole)
	if err != nil {
		return c, err
	}
	ids, outputs := parts["id"], parts["outputs"]
	var ok bool
	switch c.source, ok = parts["source"]; {
	case !ok || n.decode(parts["cell_type"], &c.kind) != nil || !slices.Contains(kinds, c.kind):
		return c, errForm
	case ids.to > 0 && n.decode(ids, &c.id) != nil:
		return c, errForm
	case c.kind == "code" && outputs.to > 0 && n.decode(outputs, &c.outputs) != nil:
		return c, errForm
	}
	return c, n.readSource(&c)
}

var kinds = []string{"code", "markdown", "raw"}

// readSource reads the source of a cell, which is a string or a list of lines.
func (n *Notebook) readSource(c *cell) (err error) {
	elements := []span{c.source}
	if c.list = n.data[c.source.from] == '['; c.list {
		if elements, err = n.items(c.source); err != nil {
			return err
		}
	}
	for i, e := range elements {
		one := element{at: e}
		switch {
		case n.data[e.from] != '"' || n.decode(e, &one.text) != nil || strings.ContainsAny(one.text, "\ufffd\x00"):
			return errForm
		case one.text == "" && len(elements) > 1, i < len(elements)-1 && strings.Index(one.text, "\n") != len(one.text)-1: // not a line
			return errForm
		}
		c.shown += one.text
		c.lines = append(c.lines, one)
	}
	for line := range strings.Lines(c.shown) {
		if header.MatchString(strings.TrimRight(line, "\r\n")) {
			return errForm
		}
	}
	return nil
}

func (n *Notebook) decode(s span, into any) error { return json.Unmarshal([]byte(n.json(s)), into) }

func (n *Notebook) json(s span) string { return n.data[s.from:s.to] }

// members returns the values of an object by name. A name that occurs twice is an error.
func (n *Notebook) members(object span) (map[string]span, error) {
	in := json.NewDecoder(strings.NewReader(n.json(object)))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return nil, errForm
	}
	all := make(map[string]span)
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil, err
		}
		value, err := n.value(in, object.from)
		if err != nil {
			return nil, err
		}
		if _, twice := all[name.(string)]; twice {
			return nil, errForm
		}
		all[name.(string)] = value
	}
	return all, nil
}

// items returns the values of a list.
func (n *Notebook) items(list span) ([]span, error) {
	in := json.NewDecoder(strings.NewReader(n.json(list)))
	if start, err := in.Token(); err != nil || start != json.Delim('[') {
		return nil, errForm
	}
	var all []span
	for in.More() {
		value, err := n.value(in, list.from)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, nil
}

// value returns the next value of a decoder. from is the offset at which the decoder started.
func (n *Notebook) value(in *json.Decoder, from int) (span, error) {
	var raw json.RawMessage
	if err := in.Decode(&raw); err != nil {
		return span{}, err
	}
	to := from + int(in.InputOffset())
	s := span{to - len(raw), to}
	if n.json(s) != string(raw) {
		return span{}, errForm
	}
	return s, nil
}
