package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// sedCheck allows a script in which no command writes or reads files or runs programs.
func sedCheck(_ *analyser, c *call) string {
	scripts := c.values("-e", "--expression")
	if len(scripts) == 0 {
		if len(c.rest) == 0 {
			return "sed without a script"
		}
		scripts, c.rest = c.rest[:1], c.rest[1:]
	}
	for _, w := range scripts {
		s, ok := w.lit()
		if !ok {
			return "the script of sed is computed"
		}
		if !sedReads(s) {
			return "the script of sed may write files or run commands: " + texts.ClipBytes(s, 60)
		}
	}
	return ""
}

// sedScript walks a script.
type sedScript struct {
	s string
	i int
}

// sedReads reports whether a script has only commands that print and change lines.
func sedReads(script string) bool {
	p := &sedScript{s: script}
	for {
		p.skip(" \t;\n{}")
		if p.i >= len(p.s) {
			return true
		}
		if p.s[p.i] == '#' { // comment to the end of the line
			n := strings.IndexByte(p.s[p.i:], '\n')
			if n < 0 {
				return true
			}
			p.i += n
			continue
		}
		if !p.addresses() || !p.command() {
			return false
		}
	}
}

func (p *sedScript) skip(set string) {
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedScript) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// addresses skips the addresses before a command.
func (p *sedScript) addresses() bool {
	for {
		switch c := p.peek(); {
		case c == '/':
			p.i++
			if !p.until('/') {
				return false
			}
			p.skip("IM")
		case c == '\\':
			if p.i += 2; p.i > len(p.s) || !usable(p.s[p.i-1]) || !p.until(p.s[p.i-1]) {
				return false
			}
			p.skip("IM")
		case c >= '0' && c <= '9' || strings.IndexByte("$,~+! \t", c) >= 0 && c != 0:
			p.i++
		default:
			return true
		}
	}
}

// usable reports whether every sed treats c in the same way as a delimiter.
func usable(c byte) bool { return strings.IndexByte("/|,:#@!%_+=~;^-", c) >= 0 }

// until skips to the end of an expression. Programs differ in whether a delimiter inside
// brackets ends it: such an expression is refused, and so is one with several lines.
func (p *sedScript) until(delim byte) bool {
	for ; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			if p.i++; p.peek() == '\n' {
				return false
			}
		case '\n':
			return false
		case delim:
			p.i++
			return true
		case '[':
			if !p.bracket(delim) {
				return false
			}
		}
	}
	return false
}

// bracket skips a set of characters. One that contains a delimiter or an escape is refused.
func (p *sedScript) bracket(delim byte) bool {
	p.i++
	if p.peek() == '^' {
		p.i++
	}
	end := strings.IndexByte(p.s[min(p.i+1, len(p.s)):], ']') + 1 // a leading ] is part of the set
	if end == 0 {
		return false
	}
	set := p.s[p.i : p.i+end]
	p.i += end
	for i := range len(set) {
		escaped := set[i] == '\\' && i+1 == len(set)
		if set[i] == delim || set[i] == '\n' || escaped || set[i] == '[' && i+1 < len(set) && strings.IndexByte(":.=", set[i+1]) < 0 {
			return false
		}
	}
	return !strings.ContainsAny(set, "[") || p.class()
}

// class skips the rest of [:alpha: in a set.
func (p *sedScript) class() bool {
	if p.i++; p.peek() == ']' {
		return true
	}
	return false
}

// replacement skips the second part of s, where brackets have no meaning.
func (p *sedScript) replacement(delim byte) bool {
	for ; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			p.i++
		case '\n':
			return false
		case delim:
			p.i++
			return true
		}
	}
	return false
}

// command skips one command, or returns false if it is not known to be harmless.
func (p *sedScript) command() bool {
	c := p.peek()
	p.i++
	switch c {
	case 0, '{', '}':
		return true
	case 'p', 'P', 'd', 'D', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'l', 'z', 'F':
		return p.end()
	case 'q', 'Q':
		p.skip(" 0123456789")
		return p.end()
	case 'b', 't', 'T', ':':
		p.skip(" ")
		for p.i < len(p.s) && plain(p.s[p.i:p.i+1], "_") {
			p.i++
		}
		return p.end()
	case 's', 'y':
		d := p.peek()
		if p.i++; !usable(d) || !p.until(d) || !p.replacement(d) {
			return false
		}
		if c == 's' {
			p.skip("gpiI0123456789")
		}
		return p.end()
	}
	return false
}

// end reports whether a command ends here.
func (p *sedScript) end() bool {
	p.skip(" \t")
	return p.i >= len(p.s) || strings.IndexByte(";\n}", p.s[p.i]) >= 0
}

// awkCheck allows a program that only prints to its output.
func awkCheck(_ *analyser, c *call) string {
	if len(c.rest) == 0 {
		return "awk without a program"
	}
	program, ok := c.rest[0].lit()
	if !ok {
		return "the program of awk is computed"
	}
	if why := awkReads(program); why != "" {
		return "the program of awk may " + why
	}
	for _, w := range c.values("-v", "--assign") {
		if why := shown(w); why != "" {
			return why
		}
	}
	c.rest = c.rest[1:]
	return ""
}

// awkReads returns what a program may do besides printing, or "". Words that run commands or
// reach other data are refused everywhere, even in strings; for the characters > and | it must
// be certain what is a string and what an expression.
func awkReads(program string) string {
	if texts.HasAny(program, "system", "getline", "environ", "procinfo", "symtab", "functab", "argv", "close", "fflush", "@", "function", "func ", "load", "include", "extension", "inplace", "`") {
		return "run commands or read other files"
	}
	code, ok := awkCode(program)
	if !ok {
		return "be read in several ways"
	}
	code = strings.ReplaceAll(code, "||", "")
	switch {
	case strings.Contains(code, "|"):
		return "run commands"
	case strings.Contains(code, ">>"):
		return "write files"
	}
	brackets := 0
	for i := range len(code) {
		switch code[i] {
		case '(':
			brackets++
		case ')':
			brackets--
		case '>', '<':
			if brackets <= 0 && printsIn(code[:i]) {
				return "write files"
			}
		}
	}
	return ""
}

// printsIn reports whether the statement at the end of code contains a print. A statement
// continues on the next line after a comma, && and ||.
func printsIn(code string) bool {
	if i := strings.LastIndexAny(code, ";{}"); i >= 0 {
		code = code[i+1:]
	}
	return strings.Contains(code, "print")
}

// awkCode returns the program without its strings and expressions; ok is false if a slash may
// be a division or begin an expression, and it matters which.
func awkCode(s string) (string, bool) {
	var out []byte
	divides := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			end := closing(s, i, '"')
			if end < 0 {
				return "", false
			}
			out = append(out, 'S')
			i = end
		case '/':
			last := byte(0)
			if t := strings.TrimRight(string(out), " \t"); t != "" {
				last = t[len(t)-1]
			}
			if last != 0 && !slices.Contains([]byte("{}(,;!~&|\n"), last) {
				divides = true
				out = append(out, c)
				continue
			}
			end := closing(s, i, '/')
			if end < 0 {
				return "", false
			}
			out = append(out, 'R')
			i = end
		case '#', '\\':
			return "", false
		default:
			out = append(out, c)
		}
	}
	return string(out), !divides || !strings.ContainsAny(s, "|>") && strings.Count(s, "/") == 1
}

// closing returns the end of the string or expression that begins at i, or -1.
func closing(s string, i int, delim byte) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case '[':
			if delim == '/' { // a slash in brackets ends the expression in some programs
				end := strings.IndexByte(s[i:], ']')
				if end < 0 || strings.IndexByte(s[i:i+end], '/') >= 0 {
					return -1
				}
			}
		case delim:
			return i
		}
	}
	return -1
}
