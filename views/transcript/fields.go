package transcript

import (
	"strings"

	"buddy/texts"
	"buddy/themes"
	"buddy/views/markup"
)

// fieldsOf returns a value with its name, which may be empty, as a list; none if there is no value.
func fieldsOf(value, name string) []texts.Member {
	if value == "" {
		return nil
	}
	return []texts.Member{{Name: name, Value: value}}
}

// putFields adds a line for each field; values of several lines follow their name. What has a name is
// seen to the letter, what has none are sentences.
func putFields(t *markup.Text, fields []texts.Member) {
	for _, f := range fields {
		indent, wrap := "", markup.Words
		if f.Name != "" {
			label(t, f.Name)
			indent, wrap = "  ", markup.Hard
		}
		if f.Name != "" && !strings.Contains(f.Value, "\n") {
			t.Put(f.Value, markup.Style{})
			continue
		}
		for line := range strings.Lines(f.Value) {
			t.Line(wrap, indent)
			t.Put(indent+strings.TrimRight(line, "\r\n"), markup.Style{})
		}
	}
}

// label begins a line with a name.
func label(t *markup.Text, name string) {
	t.Line(markup.Words, "  ")
	t.Put(markup.Inline(name)+"  ", markup.Style{Role: themes.Muted})
}
