package gitfiles

import (
	"errors"
	"strings"
)

// entry is a line of a configuration. The key includes its section, as in git: core.excludesfile. It is in lower case
// except for a subsection in quotes.
type entry struct{ key, value string }

// errSyntax means that git refuses to read a file.
var errSyntax = errors.New("not in the format of git's configuration")

// parse reads a configuration as git does (git-config(1), "Syntax"). The package uses no library, because libraries
// refuse a key on the same line as its section, as in "[user] name = Ann".
func parse(text string) (all []entry, err error) {
	r := reader{rest: strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")}
	section := ""
	for r.rest != "" {
		switch c := r.next(); {
		case isSpace(c):
		case c == '#', c == ';':
			r.line()
		case c == '[':
			if section, err = r.header(); err != nil {
				return nil, err
			}
		case isLetter(c):
			key, value, err := r.variable(c)
			if err != nil {
				return nil, err
			}
			all = append(all, entry{section + key, value})
		default:
			return nil, errSyntax
		}
	}
	return all, nil
}

// reader reads a text from its start.
type reader struct{ rest string }

// next reads a byte; after the end it returns a newline.
func (r *reader) next() byte {
	if r.rest == "" {
		return '\n'
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

// line skips the rest of the line.
func (r *reader) line() { _, r.rest, _ = strings.Cut(r.rest, "\n") }

// readWhile reads the bytes that fit.
func (r *reader) readWhile(fits func(byte) bool) string {
	n := 0
	for n < len(r.rest) && fits(r.rest[n]) {
		n++
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// header reads the rest of [section "subsection"], or of [section.subsection], and returns the prefix of its keys.
func (r *reader) header() (string, error) {
	section := strings.ToLower(r.readWhile(func(c byte) bool { return isKey(c) || c == '.' })) + "."
	c := r.next()
	if isSpace(c) && c != '\n' {
		r.readWhile(func(c byte) bool { return c != '\n' && isSpace(c) })
		sub, ok := r.quoted()
		if !ok {
			return "", errSyntax
		}
		section, c = section+sub+".", r.next()
	}
	if c != ']' || section == "." {
		return "", errSyntax
	}
	return section, nil
}

// quoted reads the name of a subsection with its quotes.
func (r *reader) quoted() (string, bool) {
	var b strings.Builder
	if r.next() != '"' {
		return "", false
	}
	for {
		c := r.next()
		if c == '"' {
			return b.String(), true
		}
		if c == '\\' {
			c = r.next()
		}
		if c == '\n' {
			return "", false
		}
		b.WriteByte(c)
	}
}

// variable reads the rest of a line that starts with a key.
func (r *reader) variable(first byte) (key, value string, err error) {
	key = strings.ToLower(string(first) + r.readWhile(isKey))
	r.readWhile(func(c byte) bool { return c == ' ' || c == '\t' })
	switch r.next() {
	case '\n':
		return key, "", nil
	case '=':
		value, err = r.value()
		return key, value, err
	}
	return "", "", errSyntax
}

// value reads the text after the =, without surrounding spaces, quotes and comments.
func (r *reader) value() (string, error) {
	var b strings.Builder
	quote, blanks := false, ""
	for {
		c := r.next()
		switch {
		case c == '\n' && quote:
			return "", errSyntax
		case c == '\n':
			return b.String(), nil
		case isSpace(c) && !quote:
			if b.Len() > 0 {
				blanks += string(c)
			}
			continue
		case (c == '#' || c == ';') && !quote:
			r.line()
			return b.String(), nil
		}
		b.WriteString(blanks)
		blanks = ""
		switch c {
		case '"':
			quote = !quote
			continue
		case '\\':
			to := strings.IndexByte("tbn\\\"\n", r.peek())
			if to < 0 {
				return "", errSyntax
			}
			r.next()
			if to == len("tbn\\\"") { // a continuation line
				continue
			}
			c = "\t\b\n\\\""[to]
		}
		b.WriteByte(c)
	}
}

// peek returns the next byte without reading it.
func (r *reader) peek() byte {
	if r.rest == "" {
		return '\n'
	}
	return r.rest[0]
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isKey(c byte) bool    { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }
