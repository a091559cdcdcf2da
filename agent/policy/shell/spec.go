package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// spec describes a command that only reads, with certain flags.
type spec struct {
	// name is the program, followed by a subcommand if there is one. Alternatives are separated by |: docker ps|images.
	name string
	// flags lists every flag that keeps the command read-only: -abc (letters that combine), -n: (takes a value), -U?
	// (only an attached value), -abn: (letters, the last with a value), --word, --word: (takes a value), --word? (only
	// after =), !word (one dash, as in Go).
	flags string
	raw   bool   // the command has no flags, or check judges them
	max   int    // largest number of operands; 0 is any number, -1 none
	own   int    // operands that are not files
	asks  string // of a wrapper: why it needs approval, continuing a sentence
	check func(c *call) string

	parsed map[string]arity
}

// arity says whether a flag takes a value.
type arity int

const (
	alone    arity = iota + 1
	attached       // may have a value after = or in the same word
	one            // the rest of the word, or the next word
)

// call is a command with its words sorted into flags and operands.
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

func (c *call) has(names ...string) bool {
	return slices.ContainsFunc(c.flags, func(f flag) bool { return slices.Contains(names, f.name) })
}

func (c *call) values(names ...string) []arg {
	var out []arg
	for _, f := range c.flags {
		if slices.Contains(names, f.name) {
			out = append(out, f.vals...)
		}
	}
	return out
}

func (c *call) given() (all []arg) {
	for _, f := range c.flags {
		all = append(all, f.vals...)
	}
	return all
}

// specs returns the rows of a table by their names.
func specs(rows []spec) map[string]*spec {
	m := make(map[string]*spec, 2*len(rows))
	for _, row := range rows {
		row.compile()
		for _, name := range variants(row.name) {
			s := row
			s.name, m[name] = name, &s
		}
	}
	return m
}

// variants returns each name of a row with alternatives: docker ps and docker images for docker ps|images.
func variants(name string) []string {
	all := []string{""}
	for words := range strings.FieldsSeq(name) {
		var longer []string
		for word := range strings.SplitSeq(words, "|") {
			for _, before := range all {
				longer = append(longer, strings.TrimSpace(before+" "+word))
			}
		}
		all = longer
	}
	return all
}

func (s *spec) compile() {
	s.parsed = make(map[string]arity)
	for f := range strings.FieldsSeq(s.flags) {
		n, name := alone, strings.TrimRight(f, ":?")
		switch f[len(name):] {
		case ":":
			n = one
		case "?":
			n = attached
		}
		switch {
		case strings.HasPrefix(name, "--"):
			s.parsed[name] = n
		case strings.HasPrefix(name, "!"):
			s.parsed["-"+name[1:]], s.parsed["--"+name[1:]] = n, n
		default:
			for _, c := range name[1:] {
				s.parsed["-"+string(c)] = alone
			}
			s.parsed["-"+name[len(name)-1:]] = n
		}
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
		case w.split:
			return nil, "an argument of " + s.name + " may expand to several, including flags: " + texts.ClipBytes(w.src, 60)
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

// flag parses a word that starts with a dash and returns how many following words belong to it.
func (s *spec) flag(c *call, text string, next []arg) (int, string) {
	name, value, hasValue := strings.Cut(text, "=")
	n := s.parsed[name]
	switch {
	case n == 0 && !strings.HasPrefix(text, "--"):
		return s.cluster(c, text, next)
	case n == 0, hasValue && n == alone:
		return 0, s.refuse(text)
	case hasValue:
		c.add(name, literalArg(value))
	case n == one:
		return s.takeValue(c, name, next)
	default:
		c.add(name)
	}
	return 0, ""
}

func (c *call) add(name string, vals ...arg) { c.flags = append(c.flags, flag{name, vals}) }

// cluster parses combined letters such as -abc; the last may take a value.
func (s *spec) cluster(c *call, text string, next []arg) (int, string) {
	if digits(text[1:]) && s.parsed["-#"] != 0 {
		c.add("-#")
		return 0, ""
	}
	for i := 1; i < len(text); i++ {
		name, rest := "-"+text[i:i+1], text[i+1:]
		switch n := s.parsed[name]; {
		case n == alone:
			c.add(name)
		case n == attached, n == one && rest != "":
			c.add(name, literalArg(rest))
			return 0, ""
		case n == one:
			return s.takeValue(c, name, next)
		default:
			return 0, s.refuse(text)
		}
	}
	return 0, ""
}

// leading sorts the flags at the start of words and returns their number. why is not "" if a flag is unknown.
func (s *spec) leading(words []arg) (c *call, n int, why string) {
	c = &call{spec: s}
	for n < len(words) {
		text, known := words[n].lit()
		if !known || !strings.HasPrefix(text, "-") || text == "-" {
			break
		}
		if n++; text == "--" {
			break
		}
		used, why := s.flag(c, text, words[n:])
		if why != "" {
			return c, n, why
		}
		n += used
	}
	return c, n, ""
}

// takeValue records the word after a flag as its value. It refuses a value that looks like a flag, because it would be
// one if the command expected no value here.
func (s *spec) takeValue(c *call, name string, next []arg) (int, string) {
	if len(next) == 0 {
		return 0, s.name + " " + name + " has no value"
	}
	w := next[0]
	text, known := w.lit()
	number := known && len(text) > 1 && digits(strings.TrimLeft(text[1:], "+"))
	if w.split || w.dash() && !number && text != "-" {
		return 0, "the value of " + s.name + " " + name + " may be a flag: " + texts.ClipBytes(w.src, 60)
	}
	c.add(name, w)
	return 1, ""
}

func (s *spec) refuse(text string) string {
	return s.name + " " + texts.ClipBytes(text, 60) + " is not known to be read-only"
}

// afterDashes refuses words after -- that start with a dash: programs that don't know -- would read them as flags, and
// such files can be written as ./-x.
func (c *call) afterDashes() string {
	if c.from < 0 || c.spec.name == "grep" {
		return ""
	}
	for _, w := range c.rest[c.from:] {
		if w.dash() {
			return "an argument of " + c.spec.name + " after -- starts with a dash: " + texts.ClipBytes(w.src, 40)
		}
	}
	return ""
}
