package shell

import (
	"strings"

	"buddy/texts"
)

// spec describes a read-only command.
type spec struct {
	name string // one word, or more with subcommands: git log
	// flags lists every flag that keeps the command read-only:
	// -abc (single letters that combine), -n: (takes a value), -U? (value only attached), -abn: (both),
	// --word, --word: (takes a value), --word? (value only after =), !word (one dash, as in
	// Go), :: takes two values, < one that names a file.
	flags string
	raw   bool // the command has no flags, or check judges them
	max   int  // largest number of operands; 0 is any number, -1 none
	own   int  // operands that are not files
	check func(c *call) string

	parsed map[string]arity
	files  map[string]bool // flags whose values are file names
}

// arity is the number of words that a flag takes.
type arity int

const (
	alone    arity = iota + 1
	attached       // may have a value after = or in the same word
	one            // the rest of the word, or the next word
	two            // the next two words
)

// call is a command with its words sorted.
type call struct {
	spec  *spec
	words []arg // after the name
	flags []flag
	rest  []arg // operands
	from  int   // index of the operand after --, or -1
}

type flag struct {
	name string
	vals []arg
}

// has reports whether one of the flags is given.
func (c *call) has(names ...string) bool {
	for _, f := range c.flags {
		for _, n := range names {
			if f.name == n {
				return true
			}
		}
	}
	return false
}

// values returns the values given to the flags.
func (c *call) values(names ...string) []arg {
	var out []arg
	for _, f := range c.flags {
		for _, n := range names {
			if f.name == n {
				out = append(out, f.vals...)
			}
		}
	}
	return out
}

// given returns the values of all flags.
func (c *call) given() (all []arg) {
	for _, f := range c.flags {
		all = append(all, f.vals...)
	}
	return all
}

// compile parses the list of flags.
func (s *spec) compile() {
	s.parsed, s.files = make(map[string]arity), make(map[string]bool)
	for f := range strings.FieldsSeq(s.flags) {
		n := alone
		f, file := strings.CutSuffix(f, "<")
		switch {
		case file:
			n = one
		case strings.HasSuffix(f, "::"):
			f, n = f[:len(f)-2], two
		case strings.HasSuffix(f, ":"):
			f, n = f[:len(f)-1], one
		case strings.HasSuffix(f, "?"):
			f, n = f[:len(f)-1], attached
		}
		switch {
		case strings.HasPrefix(f, "--"):
			s.parsed[f] = n
		case strings.HasPrefix(f, "!"): // one dash and a word, as in Go
			s.parsed["-"+f[1:]], s.parsed["--"+f[1:]] = n, n
		default:
			for _, c := range f[1 : len(f)-1] {
				s.parsed["-"+string(c)] = alone
			}
			s.parsed["-"+f[len(f)-1:]] = n
		}
		name := strings.TrimLeft(f, "-!")
		if !strings.HasPrefix(f, "--") && !strings.HasPrefix(f, "!") {
			name = f[len(f)-1:]
		}
		s.files["-"+name] = file
	}
}

// sort sorts words into flags and operands, or returns why it can't.
func (s *spec) sort(words []arg) (*call, string) {
	c := &call{spec: s, words: words, from: -1}
	if s.raw {
		c.rest = words
		return c, ""
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		text, known := w.lit()
		switch {
		case known && text == "--":
			c.from = len(c.rest)
			c.rest = append(c.rest, words[i+1:]...)
			return c, ""
		case s.valued(w):
			name, value, _ := strings.Cut(w.vals[0].text, "=")
			c.flags = append(c.flags, flag{name, []arg{literalArg(unescape(value))}})
		case w.several():
			return nil, "a word of " + s.name + " may become several, and flags: " + texts.ClipBytes(w.src, 60)
		case !w.dash(), text == "-":
			c.rest = append(c.rest, w)
		case !known:
			return nil, "a flag of " + s.name + " is known only when it runs: " + texts.ClipBytes(w.src, 60)
		default:
			used, why := s.flag(c, text, words[i+1:])
			if why != "" {
				return nil, why
			}
			i += used
		}
	}
	return c, ""
}

// valued reports whether w is a long flag with a value that a shell may take for a pattern:
// --include=*.go. All its possible matches begin with the same flag.
func (s *spec) valued(w arg) bool {
	if len(w.vals) != 1 || w.vals[0].kind != pattern {
		return false
	}
	name, _, ok := strings.Cut(w.vals[0].text, "=")
	return ok && strings.HasPrefix(name, "--") && !strings.ContainsAny(name, `*?[\\`) && s.parsed[name] >= attached && !s.files[name[1:]]
}

// flag parses a word that begins with a dash and returns how many following words belong to
// it.
func (s *spec) flag(c *call, text string, next []arg) (int, string) {
	if !ascii(text) {
		return 0, s.refuse(text)
	}
	name, value, hasValue := strings.Cut(text, "=")
	n := s.parsed[name]
	if n == 0 && !strings.HasPrefix(text, "--") {
		return s.cluster(c, text, next)
	}
	switch {
	case n == 0, hasValue && n == alone, n == two && hasValue:
		return 0, s.refuse(text)
	case hasValue:
		c.flags = append(c.flags, flag{name, []arg{literalArg(value)}})
		return 0, ""
	case n == alone || n == attached:
		c.flags = append(c.flags, flag{name: name})
		return 0, ""
	}
	return s.take(c, name, int(n-attached), next)
}

// cluster parses -abc: combined letters, the last perhaps with a value.
func (s *spec) cluster(c *call, text string, next []arg) (int, string) {
	if digits(text[1:]) && s.parsed["-#"] != 0 {
		c.flags = append(c.flags, flag{name: "-#"})
		return 0, ""
	}
	for i := 1; i < len(text); i++ {
		name := "-" + text[i:i+1]
		rest := text[i+1:]
		switch n := s.parsed[name]; {
		case n == alone:
			c.flags = append(c.flags, flag{name: name})
		case n == attached:
			c.flags = append(c.flags, flag{name, []arg{literalArg(rest)}})
			return 0, ""
		case n == one && rest != "":
			c.flags = append(c.flags, flag{name, []arg{literalArg(rest)}})
			return 0, ""
		case n == one || n == two && rest == "":
			return s.take(c, name, int(n-attached), next)
		default:
			return 0, s.refuse(text)
		}
	}
	return 0, ""
}

// take assigns the words that follow a flag. A value that looks like a flag is refused: if the
// command does not take a value here, it would be one.
func (s *spec) take(c *call, name string, n int, next []arg) (int, string) {
	if len(next) < n {
		return 0, s.name + " " + name + " lacks its value"
	}
	for _, w := range next[:n] {
		text, known := w.lit()
		number := known && len(text) > 1 && digits(strings.TrimLeft(text[1:], "+"))
		if w.split || (w.dash() && !number && text != "-") {
			return 0, "the value of " + s.name + " " + name + " may be a flag: " + texts.ClipBytes(w.src, 60)
		}
	}
	c.flags = append(c.flags, flag{name, next[:n]})
	return n, ""
}

func (s *spec) refuse(text string) string {
	return s.name + " " + texts.ClipBytes(text, 60) + " is not known to only read"
}

// afterDashes refuses words after -- that begin with a dash: not every program knows --, and
// files of such names can be written ./-x.
func (c *call) afterDashes() string {
	if c.from < 0 || c.spec.name == "grep" {
		return ""
	}
	for _, w := range c.rest[c.from:] {
		if w.dash() {
			return "a word of " + c.spec.name + " after -- begins with a dash: " + texts.ClipBytes(w.src, 40)
		}
	}
	return ""
}
