package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Scan walks the members of a JSON object without allocating, for events that come a
// million times in a long answer. Values are strings with their quotes, numbers, true,
// false, null, empty lists, and objects, which it does not look into: walk them, too.
//
// It returns false for anything else, for what may not be JSON at all and as soon as
// member does. Then nothing that member was given counts, and encoding/json decides.
func Scan(object []byte, member func(key, value []byte) bool) bool {
	b := bytes.Trim(object, " \t\r\n")
	if len(b) < 2 || b[0] != '{' {
		return false
	}
	b = b[1:]
	for first := true; ; first = false {
		b = blanks(b)
		if len(b) == 0 {
			return false
		}
		if b[0] == '}' {
			return len(b) == 1
		}
		if !first {
			if b[0] != ',' {
				return false
			}
			b = blanks(b[1:])
		}
		key := quoted(b)
		if key == nil {
			return false
		}
		b = blanks(b[len(key):])
		if len(b) == 0 || b[0] != ':' {
			return false
		}
		b = blanks(b[1:])
		value := scalar(b)
		if value == nil || !member(key[1:len(key)-1], value) {
			return false
		}
		b = b[len(value):]
	}
}

func blanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// quoted returns the string that b begins with, nil when there is none.
func quoted(b []byte) []byte {
	if len(b) == 0 || b[0] != '"' {
		return nil
	}
	for at := 1; ; {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return nil
		}
		at += i + 1
		slashes := 0
		for b[at-2-slashes] == '\\' { // the opening quote ends this
			slashes++
		}
		if slashes%2 == 0 {
			return b[:at]
		}
	}
}

// scalar returns the value that b begins with; nil when Scan does not know its kind.
func scalar(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	switch b[0] {
	case '"':
		return quoted(b)
	case '{':
		return nested(b)
	case '[':
		if len(b) > 1 && b[1] == ']' {
			return b[:2]
		}
		return nil
	}
	return word(b)
}

// word returns the number, true, false or null that b begins with.
func word(b []byte) []byte {
	n := 0
	for n < len(b) && b[n] != ',' && b[n] != '}' {
		n++
	}
	w := bytes.TrimRight(b[:n], " \t\r\n")
	switch string(w) {
	case "true", "false", "null":
		return w
	}
	other := func(c rune) bool { return c < '0' || c > '9' }
	if bytes.ContainsFunc(w, other) || len(w) == 0 || len(w) > 18 || len(w) > 1 && w[0] == '0' {
		return nil // no number that we need has a sign or a point
	}
	return w
}

// nested returns the object that b begins with.
func nested(b []byte) []byte {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			s := quoted(b[i:])
			if s == nil {
				return nil
			}
			i += len(s) - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return b[:i+1]
			}
		}
	}
	return nil
}

// Unquote returns the text of a JSON string with its quotes.
func Unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' || c < ' ' || c == '"' || c >= utf8.RuneSelf {
			var s string
			err := json.Unmarshal(raw, &s)
			return s, err == nil
		}
	}
	return string(inner), true
}
