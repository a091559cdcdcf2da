package redact

import "strings"

// notation parses the text after a name: a separator, a quote, and the value.
type notation struct {
	s     string
	name  int // start of the name
	i     int
	end   bool // the text is complete
	short bool // s ended too early to decide
	hold  int  // where the value may start; 0: unknown

	quote  byte // of the value; 0: none
	slash  int  // number of backslashes before the quote
	tight  bool // a separator without spaces between name and value
	code   bool // an operator of programs such as :=, after which only quoted text is a value
	markup bool // the value ends at the next <
	inside bool // the line continues after an unquoted value
}

// open returns the match if no value was parsed: none, or undecided if the text ended too early to tell.
func (p *notation) open() match {
	switch {
	case !p.short:
		return none
	case p.hold == 0:
		return undecided(len(p.s))
	}
	return undecided(p.hold)
}

func (p *notation) byte() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	p.short = p.short || !p.end
	return 0
}

func (p *notation) skip(set string) bool {
	from := p.i
	p.i = skip(p.s, from, set)
	p.byte()
	return p.i > from
}

const quotes = "\"'`"

// separate skips the separator after the name, spaces, and the value's opening quote, and reports whether a value
// follows.
func (p *notation) separate() bool {
	name := p.i
	quoted := p.skip(`"'` + "`\\]})")
	if p.word() {
		return p.unquote()
	}
	blank := p.skip(" \t")
	signs := p.i
	p.skip("=:>?|")
	switch p.s[signs:p.i] {
	case "=", ":":
		p.tight = !blank && strings.IndexByte(" \t", p.byte()) < 0
	case ":=", "=>", "?=", "||=", "==", "===", "::":
		p.code = true
	case ">":
		p.markup = !blank && p.name > 0 && p.s[p.name-1] == '<'
		p.hold = p.i
		return p.markup && !p.short
	case "":
		if !p.unsigned(p.s[p.name:name], quoted, blank) {
			return false
		}
	default:
		return false
	}
	return p.unquote()
}

// unsigned parses the text between a name and a value without a sign such as = or :. It accepts the comma between
// arguments, the space after an option and in ~/.netrc, and the space before a quoted text, as in SQL.
func (p *notation) unsigned(name string, quoted, blank bool) bool {
	line := p.s[max(0, p.name-before):p.name]
	switch quote := strings.IndexByte(quotes, p.byte()) >= 0; {
	case quoted && p.byte() == ',' && p.name > 1 && p.s[p.name-2] == '(':
		p.i++
		p.code = true
		return true
	case !blank:
		return false
	case name[0] == '-', strings.Contains(line, "machine ") && strings.Contains(line, "login "):
		p.tight = true
		return true
	default:
		p.code = true
		return quote
	}
}

// word skips the word "value" between a name and its value, as in "name: TOKEN, value: X".
func (p *notation) word() bool {
	from, short := p.i, p.short
	p.skip(",\"'\\ \t\r\nn")
	const name = "value"
	rest := p.s[p.i:]
	if n := min(len(rest), len(name)); p.i > from && strings.EqualFold(rest[:n], name[:n]) {
		p.i += n
		p.skip("\"'\\ \t")
		if c := p.byte(); n == len(name) && (c == '=' || c == ':') {
			p.i++
			return true
		}
		if p.short {
			return false
		}
	}
	p.i, p.short = from, short
	return false
}

// unquote skips the spaces before the value and its opening quote.
func (p *notation) unquote() bool {
	p.skip(" \t")
	at := p.i
	p.hold = at
	if c := p.byte(); strings.IndexByte("bBrRfFuUL@", c) >= 0 && c != 0 {
		p.i++
	}
	slashes := p.i
	p.skip("\\")
	p.slash = p.i - slashes
	if c := p.byte(); c != 0 && strings.IndexByte(quotes, c) >= 0 {
		p.quote = c
		p.i++
	} else {
		p.i, p.slash = at, 0
	}
	if p.short || p.quote == 0 && p.code {
		return false
	}
	p.hold = p.i
	return true
}

// value advances to the end of the value, and reports whether the value is complete.
func (p *notation) value() bool {
	from := p.i
	stop := " \t\r\n\"'`,;&<>)]}|\\\x1b"
	switch {
	case p.markup:
		stop = "<\r\n"
	case p.quote != 0:
		stop = string(p.quote) + "\r\n"
	}
	for {
		p.i = skipNot(p.s, p.i, stop, maxValue-(p.i-from))
		if p.i-from >= maxValue {
			return false
		}
		switch c := p.byte(); {
		case p.short:
			return false
		case p.quote == 0:
			if p.markup {
				return c == '<'
			}
			p.inside = !p.tight && !p.ends()
			return !p.short && (!p.inside || c == ' ' || c == '\t')
		case c == 0:
			return true // truncated text
		case c != p.quote:
			return false // the line ends before the value
		case p.closes(from):
			p.i -= p.slash
			return p.i > from
		}
		p.i++
	}
}

// closes reports whether the quote at p.i ends the value: it must be escaped in the same way as the opening quote.
func (p *notation) closes(from int) bool {
	n := 0
	for n < p.i-from && p.s[p.i-n-1] == '\\' {
		n++
	}
	return n == p.slash || p.slash == 0 && n%2 == 0
}

// ends reports whether an unquoted value is the last of its line; otherwise it is probably code.
func (p *notation) ends() bool {
	at := p.i
	p.skip(" \t")
	c := p.byte()
	blank := p.i > at
	p.i = at
	return !p.short && (c == 0 || strings.IndexByte("\r\n\\\x1b", c) >= 0 || !blank && strings.IndexByte(quotes, c) >= 0 || blank && c == '#')
}
