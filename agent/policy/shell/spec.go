package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// operands is the meaning of a command's words that are not flags.
type operands int

const (
	noFiles operands = iota // not file names
	content                 // files whose content is shown
	listed                  // files whose metadata is shown
	unseen                  // not file names, and never printed
)

// spec describes a read-only command.
type spec struct {
	name string // one word, or more with subcommands: git log
	// flags lists every flag that keeps the command read-only:
	// -abc (single letters that combine), -n: (takes a value), -U? (value only attached), -abn: (both),
	// --word, --word: (takes a value), --word? (value only after =), !word (one dash, as in
	// Go), :: takes two values, < one that names a file.
	flags string
	takes operands
	raw   bool // the command has no flags, or check judges them
	any   bool // no flag makes it do more than read, so a word may be computed
	max   int  // largest number of operands; 0 is any number, -1 none
	own   int  // in the literal core: operands that are not files
	check func(a *analyser, c *call) string
	// prints returns what is known about the names that the command prints.
	prints func(a *analyser, c *call) names
	why    string // why it is read-only

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
	in    input
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
		case !s.any && w.several():
			return nil, "a word of " + s.name + " may become several, and flags: " + texts.ClipBytes(w.src, 60)
		case !w.dash(), text == "-", !known && s.any:
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
		if w.split || (w.dash() && !number && !s.any && text != "-") {
			return 0, "the value of " + s.name + " " + name + " may be a flag: " + texts.ClipBytes(w.src, 60)
		}
	}
	c.flags = append(c.flags, flag{name, next[:n]})
	return n, ""
}

func (s *spec) refuse(text string) string {
	return s.name + " " + texts.ClipBytes(text, 60) + " is not known to only read"
}

// judge returns why the call is not read-only, or "".
func (a *analyser) judge(c *call) string {
	s := c.spec
	if why := c.afterDashes(); why != "" {
		return why
	}
	many := 0
	for _, w := range c.rest {
		if w.split || len(w.vals) > 1 || w.vals[0].kind == pattern {
			many = 1000
		}
	}
	if s.max == -1 && len(c.rest) > 0 || s.max > 0 && len(c.rest)+many > s.max {
		return s.name + " with more words may do more than read"
	}
	if s.check != nil {
		if why := s.check(a, c); why != "" {
			return why
		}
	}
	if s.takes == unseen {
		return ""
	}
	return a.folders.judgeFiles(c)
}

// afterDashes refuses words after -- that begin with a dash: not every program knows --, and
// files of such names can be written ./-x.
func (c *call) afterDashes() string {
	if c.from < 0 || c.spec.any || strings.HasPrefix(c.spec.name, "git ") || slices.Contains([]string{"grep", "egrep", "fgrep", "rg"}, c.spec.name) {
		return ""
	}
	for _, w := range c.rest[c.from:] {
		if w.dash() {
			return "a word of " + c.spec.name + " after -- begins with a dash: " + texts.ClipBytes(w.src, 40)
		}
	}
	return ""
}

// judgeFiles judges every word that may name a file, including values of flags.
func (d *folders) judgeFiles(c *call) string {
	for _, w := range c.rest {
		if strings.HasPrefix(c.spec.name, "git ") && w.commit() {
			continue
		}
		if why := d.judgeFile(c.spec.takes, w); why != "" {
			return why
		}
	}
	if c.spec.takes != noFiles && len(c.rest) == 0 && !c.in.piped {
		if why := d.here(); why != "" {
			return why
		}
	}
	return d.judgeValues(c)
}

// judgeValues judges the values of flags.
func (d *folders) judgeValues(c *call) string {
	for _, f := range c.flags {
		for _, w := range f.vals {
			file := c.spec.files["-"+strings.TrimLeft(f.name, "-")]
			if c.spec.takes == noFiles && !file {
				continue
			}
			if why := d.named(file, w); why != "" {
				return why
			}
			if c.spec.takes == content && w.dynamic() && !c.spec.any {
				return "a value of " + c.spec.name + " " + f.name + " is known only when it runs"
			}
		}
	}
	return ""
}

func (d *folders) judgeFile(takes operands, w arg) string {
	switch takes {
	case content:
		return d.reads(w)
	case listed:
		if why := d.lists(w); why != "" {
			return why
		}
	}
	return shown(w)
}

// named judges the value of a flag as a possible secret and, with file, as a file.
func (d *folders) named(file bool, w arg) string {
	if file {
		return d.reads(w)
	}
	for _, v := range w.vals {
		if v.kind == literal || v.kind == pattern && dotted(v.text) {
			if why := d.secret(v); why != "" {
				return why
			}
		}
	}
	return ""
}

// commit reports whether the word is a commit name printed by git.
func (w arg) commit() bool {
	for _, v := range w.vals {
		if v.kind != output || !v.names.commit {
			return false
		}
	}
	return len(w.vals) > 0
}

// shown returns why the value of a word may not be printed, or "".
func shown(w arg) string {
	for _, v := range w.vals {
		if v.kind == dynamic && v.open {
			return "a variable that may hold a secret is printed: " + texts.ClipBytes(w.src, 60)
		}
	}
	return ""
}
