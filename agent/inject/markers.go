package inject

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"buddy/texts"
)

// Regular expressions for the markers of roles, turns and calls that models know.
const (
	roleNames = `\|[a-z_▁]{2,30}\||｜[^｜<>]{2,40}｜|<sys>|</sys>|start_of_turn|end_of_turn|/?system[-_]reminder|/?system[-_]prompt|/?system|/?assistant|/?important_instructions`
	callNames = `/?function_calls|/?tool_calls?|/?tool_results?|/?tool_use|/?tool_response|/?antml:[a-z_]+`
)

var (
	roleMarker = texts.Regexp(`^(?:<(?:` + roleNames + `)>|\[/?inst\]|\[buddy:)`)
	callMarker = texts.Regexp(`^(?:<(?:` + callNames + `)>|<(?:invoke|parameter) name ?=|<function=|\[/?tool_calls\]|\{ ?(?:type: ?function, ?function: ?\{ ?)?name: ?(?:run_shell|read_file|write_file|edit_file|fetch|bash|shell)\b, ?(?:arguments|parameters|input) ?:)`)

	anyMarker = texts.Regexp(`(?i)<(` + roleNames + `|` + callNames + `)>|\[(/?inst|/?tool_calls)\]|<((?:invoke|parameter) name ?=|function=)|\[(buddy:)`)
)

func (p *plainText) markers() []Finding {
	var found []Finding
	for i := 0; len(found) < maxFindings; i++ {
		n := bytes.IndexAny(p.text[i:], "<[{")
		if n < 0 {
			break
		}
		i += n
		text := p.text[i:min(len(p.text), i+80)]
		f := Finding{Severity: Low, at: i, quoted: p.quoted(i)}
		loc := roleMarker().FindIndex(text)
		if f.Kind, f.Reason = Role, "contains markers of roles or turns"; loc == nil {
			loc = callMarker().FindIndex(text)
			f.Kind, f.Reason = ToolCall, "has the form of a tool call"
		}
		if loc != nil {
			f.Excerpt = excerpt(string(text[:loc[1]]))
			found = append(found, f)
		}
	}
	return found
}

// disarm rewrites markers so that they are ordinary text, and replaces runs of invisible characters by ‹hidden
// characters›.
func disarm(s string) string {
	s = anyMarker().ReplaceAllStringFunc(s, func(m string) string {
		return brackets.Replace(m)
	})
	if strings.IndexFunc(s, unseen) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unseen(r) {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		from, count := i, 0
		for i < len(s) {
			if r, n = utf8.DecodeRuneInString(s[i:]); !unseen(r) {
				break
			}
			i += n
			count++
		}
		if count <= 2 { // part of an emoji or a script
			b.WriteString(s[from:i])
			continue
		}
		b.WriteString("‹hidden characters›")
	}
	return b.String()
}

var brackets = strings.NewReplacer("<", "‹", ">", "›", "[", "‹", "]", "›")
