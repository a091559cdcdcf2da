package notebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/texts"
)

// block is a header line of a cell or an output, and the text below it.
type block struct {
	head   string
	number int    // of the cell, from 1; 0 for a new one
	kind   string // "" for an output
	text   string
}

// Become returns the JSON of the notebook with a changed text. A cell without a number is new, a cell that is missing
// in text is removed, and cells in another order are moved. In the remaining cells only the source lines that differ
// are written. Outputs can't be changed.
func (n *Notebook) Become(text string) (string, error) {
	blocks, err := split(text)
	if err != nil {
		return "", err
	}
	outputs := make(map[string]string) // the displayed outputs, by their header lines
	shown, _ := split(n.text)
	for _, b := range shown {
		if b.kind == "" {
			outputs[b.head] = b.text
		}
	}
	var cells []string
	var from []int // previous number of each cell, 0 for a new one
	for _, b := range blocks {
		switch {
		case b.kind == "" && b.text != outputs[b.head]:
			return "", fmt.Errorf("%s: outputs can't be changed; they change when the notebook runs", b.head)
		case b.kind == "": // an output stays with its cell
			continue
		case b.number > len(n.cells) || b.number > 0 && slices.Contains(from, b.number):
			return "", fmt.Errorf("cell %d is there twice, or the notebook has no such cell; begin a new one with \"=== cell, %s ===\"", b.number, b.kind)
		}
		data, number := "", b.number
		if number > 0 && n.cells[number-1].kind == b.kind {
			data = n.with(n.cells[number-1], b.text)
		} else {
			data, number = n.made(b, len(cells)), 0
		}
		cells, from = append(cells, data), append(from, number)
	}
	return n.data[:n.array.from] + n.joined(cells, from) + n.data[n.array.to:], nil
}

// split returns the blocks of a text.
func split(text string) ([]block, error) {
	var all []block
	for line := range strings.Lines(text) {
		head := strings.TrimRight(line, "\r\n")
		if m := header.FindStringSubmatch(head); m != nil {
			number, _ := strconv.Atoi(m[1])
			all = append(all, block{head: head, number: number, kind: m[2]})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("the text of a notebook begins with a line such as \"=== cell 1, code ===\", not with %.100q", head)
		}
		all[len(all)-1].text += line
	}
	return all, nil
}

// with returns the JSON of a cell with a new source.
func (n *Notebook) with(c cell, text string) string {
	if text == ended(c.shown) {
		return n.json(c.whole)
	}
	if !strings.HasSuffix(c.shown, "\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	source := quoted(text)
	if c.list {
		source = n.list(c, text)
	}
	return n.data[c.whole.from:c.source.from] + source + n.data[c.source.to:c.whole.to]
}

// list returns the JSON of a source as a list of lines. Unchanged lines at its beginning and end keep their bytes.
func (n *Notebook) list(c cell, text string) string {
	added := strings.SplitAfter(text, "\n")
	if added[len(added)-1] == "" {
		added = added[:len(added)-1]
	}
	begin, end := 0, 0
	for begin < min(len(c.lines), len(added)) && c.lines[begin].text == added[begin] {
		begin++
	}
	for end < min(len(c.lines), len(added))-begin && c.lines[len(c.lines)-1-end].text == added[len(added)-1-end] {
		end++
	}
	added = added[begin : len(added)-end]
	stay := c.lines[len(c.lines)-end:] // after the change
	form := n.formOf(c)
	var lines []string
	for _, line := range added {
		lines = append(lines, quoted(line))
	}
	between := strings.Join(lines, form.comma)
	switch {
	case begin+end == 0 && between == "":
		return "[]"
	case end > 0:
		if between != "" {
			between += form.comma
		}
		return n.data[c.source.from:c.lines[begin].at.from] + between + n.data[stay[0].at.from:c.source.to]
	case begin > 0:
		if between != "" {
			between = form.comma + between
		}
		return n.data[c.source.from:c.lines[begin-1].at.to] + between + n.data[c.lines[len(c.lines)-1].at.to:c.source.to]
	default:
		return "[" + form.open + between + form.end + "]"
	}
}

// form holds the JSON before, between and after the lines of a source.
type form struct{ open, comma, end string }

// formOf returns the form of a cell's source or, if it has no lines, of another cell's source.
func (n *Notebook) formOf(c cell) form {
	for _, one := range append([]cell{c}, n.cells...) {
		if !one.list || len(one.lines) == 0 {
			continue
		}
		first, last := one.lines[0].at, one.lines[len(one.lines)-1].at
		f := form{open: n.data[one.source.from+1 : first.from], end: n.data[last.to : one.source.to-1]}
		f.comma = "," + f.open
		if len(one.lines) > 1 {
			f.comma = n.data[first.to:one.lines[1].at.from]
		} else if f.open == "" {
			f.comma = ", "
		}
		return f
	}
	return form{comma: ", "}
}

// joined returns the JSON of the list of cells. Cells that were neighbours before keep the bytes between them.
func (n *Notebook) joined(cells []string, from []int) string {
	if len(cells) == 0 {
		return "[]"
	}
	open, end := "", ""
	if len(n.cells) > 0 {
		open, end = n.data[n.array.from+1:n.cells[0].whole.from], n.data[n.cells[len(n.cells)-1].whole.to:n.array.to-1]
	}
	var out strings.Builder
	out.WriteString("[" + open)
	for i, c := range cells {
		switch {
		case i == 0:
		case from[i-1] > 0 && from[i] == from[i-1]+1:
			out.WriteString(n.data[n.cells[from[i-1]-1].whole.to:n.cells[from[i]-1].whole.from])
		default:
			out.WriteString("," + open)
		}
		out.WriteString(c)
	}
	return out.String() + end + "]"
}

// made returns the JSON of a new cell, indented like the others.
func (n *Notebook) made(b block, index int) string {
	members := []string{`"cell_type": ` + quoted(b.kind)}
	if b.kind == "code" {
		members = append(members, `"execution_count": null`)
	}
	if n.ids {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", index, b.text, n.data))
		members = append(members, fmt.Sprintf(`"id": "%x"`, sum[:4]))
	}
	members = append(members, `"metadata": {}`)
	if b.kind == "code" {
		members = append(members, `"outputs": []`)
	}
	text := strings.TrimSuffix(b.text, "\n")
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, quoted(line))
	}
	whole := "{" + strings.Join(append(members, `"source": [`+strings.Join(lines, ", ")+"]"), ", ") + "}"
	prefix, unit, ok := n.indent()
	if !ok {
		return whole
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(whole), prefix, unit); err != nil {
		return whole
	}
	if strings.Contains(n.data, "\r\n") {
		return strings.ReplaceAll(out.String(), "\n", "\r\n")
	}
	return out.String()
}

// indent returns the indentation of cells, and the additional indentation of their members; false if the list is on one
// line.
func (n *Notebook) indent() (prefix, unit string, ok bool) {
	if len(n.cells) == 0 {
		return "", "", false
	}
	first := n.cells[0].whole
	outer, inner := n.data[n.array.from+1:first.from], n.json(first)[1:]
	inner = inner[:strings.IndexByte(inner, '"')]
	at, below := strings.LastIndexByte(outer, '\n'), strings.LastIndexByte(inner, '\n')
	if at < 0 || below < 0 {
		return "", "", false
	}
	unit, ok = strings.CutPrefix(inner[below+1:], outer[at+1:])
	return outer[at+1:], unit, ok
}

// quoted returns a text as JSON.
func quoted(text string) string {
	data, _ := texts.JSON(text) // strings never fail
	return string(data)
}
