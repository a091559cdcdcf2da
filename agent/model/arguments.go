package model

import (
	"encoding/json"
	"regexp"
	"strings"
)

// CallArguments returns the arguments of a call as a JSON object. It repairs small mistakes of the model: an extra
// comma, brace or empty object, a missing last brace, single quotes, line breaks in a string, a code fence or template
// marks around the object. Text that could mean several things, such as text that ends in the middle of a value, is
// returned unchanged.
func CallArguments(written string) string {
	text := strings.TrimSpace(written)
	if json.Valid([]byte(text)) {
		return written
	}
	r := &reader{in: unfenced(text)}
	if fixed, ok := r.arguments(); ok && json.Valid([]byte(fixed)) {
		return fixed
	}
	return written
}

// fence matches a code fence around a text.
var fence = regexp.MustCompile("(?s)^```(?:json)?[ \t]*\\n(.*)```$")

func unfenced(text string) string {
	if m := fence.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return text
}

// maxNesting limits how deep objects and lists are nested.
const maxNesting = 100

// reader reads JSON with small mistakes and writes it without them.
type reader struct {
	in  string
	at  int
	out strings.Builder

	depth  int
	single bool // a string was in single quotes
	repair bool // something was dropped or added
	closed bool // the last value has an explicit end, unlike a number
}

// marks matches what may follow an object: extra closing braces and template marks.
var marks = regexp.MustCompile(`^(\}|\s|<\|[a-z_]+\|>)*$`)

// maxObjects limits how many objects are read one after the other.
const maxObjects = 4

// arguments reads up to maxObjects JSON objects and returns the one that has members, or {} if all are empty. It
// returns false if several different objects have members, or if the text is ambiguous in another way.
func (r *reader) arguments() (string, bool) {
	meant := ""
	for range maxObjects {
		if r.space(); r.peek() != '{' {
			break
		}
		r.out.Reset()
		if !r.value() {
			return "", false
		}
		switch object := r.out.String(); {
		case meant == "" || meant == "{}":
			meant = object
		case object != "{}" && object != meant:
			return "", false
		}
	}
	rest := r.in[r.at:]
	if r.single && (r.repair || rest != "") {
		return "", false // the quote that ends a string may also be part of it
	}
	return meant, meant != "" && marks.MatchString(rest)
}

// peek returns the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.at == len(r.in) {
		return 0
	}
	return r.in[r.at]
}

func (r *reader) space() {
	for r.at < len(r.in) && strings.IndexByte(" \t\r\n", r.in[r.at]) >= 0 {
		r.at++
	}
}

// expect reads c, which must be the next byte after spaces.
func (r *reader) expect(c byte) bool {
	if r.space(); r.peek() != c {
		return false
	}
	r.at++
	r.out.WriteByte(c)
	return true
}

// literal matches a value that is a word or a number.
var literal = regexp.MustCompile(`^(true|false|null|-?\d[\d.eE+-]*)`)

func (r *reader) value() bool {
	r.space()
	switch c := r.peek(); c {
	case '{', '[':
		if r.depth++; r.depth > maxNesting {
			return false
		}
		defer func() { r.depth-- }()
		return r.members(c == '{')
	case '"', '\'':
		return r.text()
	}
	word := literal.FindString(r.in[r.at:])
	r.at += len(word)
	r.out.WriteString(word)
	r.closed = word == "true" || word == "false" || word == "null"
	return word != ""
}

// members reads an object or a list.
func (r *reader) members(object bool) bool {
	end := byte(']')
	if object {
		end = '}'
	}
	r.out.WriteByte(r.in[r.at])
	r.at++
	for first := true; ; first = false {
		if r.expect(end) {
			r.closed = true
			return true
		}
		if !first {
			if object && r.unclosed() {
				r.out.WriteByte(end)
				return true
			}
			if !r.comma(end) {
				return false
			}
			if r.peek() == end {
				continue // the comma was one too many
			}
		}
		if !r.member(object) {
			return false
		}
	}
}

// member reads an item of a list, or a key and its value in an object.
func (r *reader) member(object bool) bool {
	return (!object || r.text() && r.expect(':')) && r.value()
}

// unclosed reports whether only the last brace is missing.
func (r *reader) unclosed() bool {
	if r.peek() != 0 || r.depth > 1 || !r.closed {
		return false
	}
	r.repair = true
	return true
}

// comma reads the comma before another member; it drops a comma before the end.
func (r *reader) comma(end byte) bool {
	if r.peek() != ',' {
		return false
	}
	r.at++
	if r.space(); r.peek() == end {
		r.repair = true
		return true
	}
	r.out.WriteByte(',')
	return true
}

// escapes are the control characters that have a short form in JSON.
var escapes = map[byte]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}

func (r *reader) text() bool {
	r.space()
	quote := r.peek()
	if quote != '"' && quote != '\'' {
		return false
	}
	r.single = r.single || quote == '\''
	r.out.WriteByte('"')
	for r.at++; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; {
		case c == quote:
			r.at++
			r.out.WriteByte('"')
			r.closed = true
			return true
		case c == '"':
			r.out.WriteString(`\"`)
		case c == '\\' && r.at+1 < len(r.in):
			r.at++
			if r.in[r.at] != '\'' { // a single quote needs no escape in JSON
				r.out.WriteByte(c)
			}
			r.out.WriteByte(r.in[r.at])
		case escapes[c] != "":
			r.out.WriteString(escapes[c])
		default:
			r.out.WriteByte(c)
		}
	}
	return false
}
