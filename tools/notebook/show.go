package notebook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/texts"
	"buddy/texts/ansi"
)

// Limits of the displayed part of an output.
const (
	outputLines = 40
	outputBytes = 4000
)

// output holds what a cell printed or returned when it ran.
type output struct {
	Text      lines            `json:"text"` // of a stream
	Data      map[string]lines `json:"data"` // by media type
	Name      string           `json:"ename"`
	Value     string           `json:"evalue"`
	Traceback []string         `json:"traceback"`
}

// lines is a text: a string or a list of strings. Other values are kept as JSON.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var one string
	var list []string
	switch {
	case json.Unmarshal(data, &one) == nil:
		*l = lines(one)
	case json.Unmarshal(data, &list) == nil:
		*l = lines(strings.Join(list, ""))
	default:
		*l = lines(data)
	}
	return nil
}

// show returns the text of the notebook.
func (n *Notebook) show() string {
	var b strings.Builder
	for i, c := range n.cells {
		fmt.Fprintf(&b, "=== cell %d, %s ===\n%s", i+1, c.kind, ended(c.shown))
		if len(c.outputs) > 0 {
			fmt.Fprintf(&b, "=== output of cell %d ===\n", i+1)
			for _, o := range c.outputs {
				b.WriteString(o.show())
			}
		}
	}
	return b.String()
}

// ended returns text with a line end at its end, unless it is empty.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// show returns the text of an output, shortened and indented, so that no line looks like a header of the notebook.
func (o output) show() string {
	text := string(o.Text)
	if plain, ok := o.Data["text/plain"]; ok {
		text += string(plain)
	}
	if o.Name != "" {
		text = o.Name + ": " + o.Value + "\n" + strings.Join(o.Traceback, "\n")
	}
	text = shorten(ansi.Strip(text))
	for _, kind := range slices.Sorted(maps.Keys(o.Data)) {
		if kind != "text/plain" {
			text = ended(text) + fmt.Sprintf("(%s, %d bytes, not shown)\n", texts.OneLine(kind), len(o.Data[kind]))
		}
	}
	var b strings.Builder
	for line := range strings.Lines(ended(text)) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// shorten returns the beginning of a text, with a line about the omitted rest.
func shorten(text string) string {
	if text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), ""); text == "" {
		return ""
	}
	text = ended(text)
	end := 0
	for range outputLines {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			break
		}
		end += i + 1
	}
	head := text[:end]
	if len(head) > outputBytes {
		head = strings.ToValidUTF8(head[:outputBytes], "")
	}
	if rest := text[len(head):]; rest != "" {
		return ended(head) + fmt.Sprintf("(%d more bytes in %s)\n", len(rest), texts.Plural(strings.Count(rest, "\n"), "line"))
	}
	return head
}
