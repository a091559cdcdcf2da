// Package quickjson decodes JSON as encoding/json does, but several times faster if it contains long texts, which
// encoding/json scans byte by byte, once for each level of nesting.
//
//	var m struct { Role string `json:"role"` }
//	err := quickjson.Unmarshal([]byte(`{"role":"user"}`), &m) // as json.Unmarshal
//
// Unmarshal passes JSON that it does not handle itself, valid or not, to encoding/json. Members and String return
// false in this case, so that the caller can do the same.
package quickjson

import (
	"bytes"
	"encoding/hex"
	"unicode/utf8"
)

// Members calls f for the members of an object, in order, until f returns false. The key and the value that f gets are
// parts of data; a value that is not a string may still be invalid. ok is false if f returned false, or if the caller
// must use encoding/json.
func Members(data []byte, f func(key, value []byte) bool) (ok bool) {
	r := reader{rest: data}
	if !r.skip('{') {
		return false
	}
	if r.skip('}') {
		return r.atEnd()
	}
	for {
		key, ok := r.string()
		if !ok || bytes.IndexByte(key, '\\') >= 0 || !plain(key) || !r.skip(':') {
			return false
		}
		value, ok := r.value()
		if !ok || !f(key[1:len(key)-1], value) {
			return false
		}
		if r.skip('}') {
			return r.atEnd()
		}
		if !r.skip(',') {
			return false
		}
	}
}

// String decodes a string, which must be all of raw. ok is false if raw is not a string, or if the caller must use
// encoding/json.
func String(raw []byte) (s string, ok bool) {
	r := reader{rest: raw}
	token, ok := r.string()
	if !ok || len(r.rest) > 0 || len(token) != len(raw) || !plain(token) {
		return "", false
	}
	body := token[1 : len(token)-1]
	at := bytes.IndexByte(body, '\\')
	if at < 0 {
		return string(body), true
	}
	text := make([]byte, 0, len(body))
	for ; at >= 0; at = bytes.IndexByte(body, '\\') {
		text = append(text, body[:at]...)
		b, n := escaped(body[at+1:])
		if n == 0 {
			return "", false
		}
		text = utf8.AppendRune(text, b)
		body = body[at+1+n:]
	}
	return string(append(text, body...)), true
}

// escapes maps the characters after a backslash, except u, to the escaped character.
var escapes = [256]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped returns the character of the escape at the beginning of text, after its backslash, and the length in bytes: 0
// if encoding/json must be used, as for surrogates.
func escaped(text []byte) (r rune, n int) {
	if r = escapes[text[0]]; r != 0 { // text has at least one byte, because a string can't end with one backslash
		return r, 1
	}
	var number [2]byte
	if text[0] != 'u' || len(text) < 5 {
		return 0, 0
	}
	if _, err := hex.Decode(number[:], text[1:5]); err != nil {
		return 0, 0
	}
	r = rune(number[0])<<8 | rune(number[1])
	if !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, 5
}

// plain reports whether a string has neither control characters nor invalid UTF-8.
func plain(token []byte) bool {
	for _, b := range token {
		if b < ' ' {
			return false
		}
	}
	return utf8.Valid(token)
}

// reader reads a text from its start to its end.
type reader struct{ rest []byte }

// space skips white space.
func (r *reader) space() {
	for len(r.rest) > 0 && (r.rest[0] == ' ' || r.rest[0] == '\n' || r.rest[0] == '\t' || r.rest[0] == '\r') {
		r.rest = r.rest[1:]
	}
}

// skip skips b if it is the next byte.
func (r *reader) skip(b byte) bool {
	r.space()
	if len(r.rest) == 0 || r.rest[0] != b {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *reader) atEnd() bool {
	r.space()
	return len(r.rest) == 0
}

// string skips a string, and returns it with its quotes. Its contents may be invalid.
func (r *reader) string() (token []byte, ok bool) {
	r.space()
	if len(r.rest) == 0 || r.rest[0] != '"' {
		return nil, false
	}
	for end := 1; ; end++ {
		i := bytes.IndexByte(r.rest[end:], '"')
		if i < 0 {
			return nil, false
		}
		end += i
		slashes := 0
		for r.rest[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			token, r.rest = r.rest[:end+1], r.rest[end+1:]
			return token, true
		}
	}
}

// ends lists the bytes that end a number or a word.
var ends = []byte("\",:{}[] \n\t\r")

// value skips a value and returns it. A value that is not a string may be invalid.
func (r *reader) value() (raw []byte, ok bool) {
	r.space()
	start := r.rest
	for depth := 0; len(r.rest) > 0; {
		switch r.rest[0] {
		case '"':
			if _, ok := r.string(); !ok {
				return nil, false
			}
		case '{', '[':
			depth++
			r.rest = r.rest[1:]
			continue
		case '}', ']':
			depth--
			r.rest = r.rest[1:]
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return nil, false
			}
			r.rest = r.rest[1:]
			continue
		default: // a number or a word
			for len(r.rest) > 0 && bytes.IndexByte(ends, r.rest[0]) < 0 {
				r.rest = r.rest[1:]
			}
		}
		if depth <= 0 {
			return start[:len(start)-len(r.rest)], depth == 0
		}
	}
	return nil, false
}
