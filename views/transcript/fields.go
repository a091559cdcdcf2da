package transcript

import (
	"strings"

	"buddy/texts"
	"buddy/themes"
	"buddy/views/markup"
)

// fieldsOf returns a list with one field, or none if the value is empty. The name may be empty.
func fieldsOf(value, name string) []texts.Member {
	if value == "" {
		return nil
	}
	return []texts.Member{{Name: name, Value: value}}
}

// putFields adds a line for each field; further lines of a value follow. Named fields wrap anywhere, sentences without
// a name between words.
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

// label starts a line with a name.
func label(t *markup.Text, name string) {
	t.Line(markup.Words, "  ")
	t.Put(markup.Inline(name)+"  ", markup.Style{Role: themes.Muted})
}
