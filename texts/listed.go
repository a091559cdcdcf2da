package texts

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Member is a named value.
type Member struct{ Name, Value string }

const (
	listedDepth = 8  // nesting depth that Listed shows
	shortList   = 60 // bytes of a list on one line
)

// Listed returns a JSON object or array in readable form: members as "name: value" and entries after "- ", one per
// line, with multi-line values indented below. Strings are decoded. Values below eight levels are replaced by "…". ok
// is false for other JSON.
func Listed(src string) (text string, ok bool) {
	raw := bytes.TrimSpace([]byte(src))
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || !json.Valid(raw) {
		return "", false
	}
	return listed(raw, 0), true
}

// Members splits a JSON object into its members, in order, with values as in [Listed]. It does not read beyond the
// object. ok is false for other JSON.
func Members(src string) (all []Member, ok bool) { return members([]byte(src), 0) }

func members(src []byte, depth int) (all []Member, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(src))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, false
		}
		all = append(all, Member{name.(string), listed(raw, depth+1)}) //nolint:forcetypeassert // names are strings
	}
	_, err := dec.Token()
	return all, err == nil
}

// listed returns a valid JSON value in readable form.
func listed(raw []byte, depth int) string {
	var text string
	switch {
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		return text
	case raw[0] != '{' && raw[0] != '[':
		return strings.ReplaceAll(string(raw), "null", "none")
	case depth == listedDepth:
		return "…"
	case raw[0] == '[':
		return listedEntries(raw, depth)
	}
	all, _ := members(raw, depth)
	lines := make([]string, len(all))
	for i, m := range all {
		switch {
		case strings.Contains(m.Value, "\n"):
			lines[i] = m.Name + ":\n" + indented(m.Value, "  ")
		default:
			lines[i] = strings.TrimSpace(m.Name + ": " + m.Value)
		}
	}
	return orNone(strings.Join(lines, "\n"))
}

func listedEntries(raw []byte, depth int) string {
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return "…"
	}
	short, size := true, 0
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = listed(e, depth+1)
		size += len(lines[i])
		short = short && size < shortList && e[0] != '{' && e[0] != '[' && !strings.ContainsAny(lines[i], "\n,")
	}
	if short {
		return orNone(strings.Join(lines, ", "))
	}
	for i, l := range lines {
		lines[i] = "- " + strings.TrimPrefix(indented(l, "  "), "  ")
	}
	return strings.Join(lines, "\n")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// indented puts spaces before each line.
func indented(text, blanks string) string {
	return blanks + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+blanks)
}
