package transcript

import (
	"encoding/json"
	"strings"

	"buddy/themes"
	"buddy/views/markup"
)

// field holds a named value of a JSON object, or an unnamed text.
type field struct{ name, value string }

func fieldsOf(value, name string) []field {
	if value == "" {
		return nil
	}
	return []field{{name, value}}
}

// jsonFields splits a JSON object into its members in their order: strings as what
// they say, all else as it is written. The envelope of a tool's result is opened.
// What is no object is one unnamed value.
func jsonFields(src string) []field {
	fields, ok := objectFields(src)
	if ok && len(fields) == 2 && fields[0].name == "harness_timestamp" && fields[1].name == "result" {
		src = fields[1].value
		fields, ok = objectFields(src)
	}
	if !ok {
		return fieldsOf(src, "")
	}
	return fields
}

func objectFields(src string) ([]field, bool) {
	dec := json.NewDecoder(strings.NewReader(src))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var fields []field
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, false
		}
		value := string(raw)
		var text string
		if json.Unmarshal(raw, &text) == nil {
			value = text
		}
		fields = append(fields, field{name.(string), value})
	}
	return fields, true
}

// putFields adds a line for each field; values of several lines follow their name.
func putFields(t *markup.Text, fields []field) {
	for _, f := range fields {
		indent := ""
		if f.name != "" {
			label(t, f.name)
			indent = "  "
		}
		if f.name != "" && !strings.Contains(f.value, "\n") {
			t.Put(f.value, markup.Style{})
			continue
		}
		for line := range strings.Lines(f.value) {
			t.Line(markup.Hard, indent)
			t.Put(indent+strings.TrimRight(line, "\r\n"), markup.Style{})
		}
	}
}

// label begins a line with a name.
func label(t *markup.Text, name string) {
	t.Line(markup.Words, "  ")
	t.Put(markup.Inline(name)+"  ", markup.Style{Role: themes.Muted})
}
