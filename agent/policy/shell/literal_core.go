package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// core returns why a read-only program is not in the literal core, or "". The literal core is
// for commands that the kernel does not confine: each word is written out, the programs are
// those of [coreTools] with flags that mean the same on every system, and none takes settings
// or programs from the current folder.
func core(text string) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		return "it is not a plain command"
	}
	for _, s := range file.Stmts {
		if why := coreStmt(text, s, false); why != "" {
			return why
		}
	}
	return ""
}

// coreStmt judges a statement of a text; piped means that it reads another command's output.
func coreStmt(text string, s *syntax.Stmt, piped bool) string {
	if s.Background || s.Coprocess || s.Disown || s.Negated {
		return "it is not a plain command"
	}
	for _, r := range s.Redirs {
		if !coreRedirect(text, r) {
			return "it has a redirection"
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return coreCall(text, c, piped)
	case *syntax.BinaryCmd:
		if c.Op == syntax.PipeAll {
			return "|& means something else to some shells"
		}
		return cmp.Or(coreStmt(text, c.X, piped), coreStmt(text, c.Y, c.Op == syntax.Pipe))
	}
	return "it is not a plain command"
}

// coreRedirect allows 2>&1 and output to /dev/null.
func coreRedirect(text string, r *syntax.Redirect) bool {
	if r.N != nil && r.N.Value != "1" && r.N.Value != "2" || r.Hdoc != nil {
		return false
	}
	to, ok := written(text, r.Word)
	return ok && (r.Op == syntax.DplOut && (to == "1" || to == "2") || r.Op == syntax.RdrOut && to == "/dev/null")
}

// writtenRegexp matches a word that every shell reads as plain text: a few characters without a special meaning in any of
// them, and quotes without expansions.
var writtenRegexp = texts.Regexp("^([\\w./:,@%+-]|'[^'!]*'|\"[^\"\\\\!$`]*\")([\\w=./:,@%+-]|'[^'!]*'|\"[^\"\\\\!$`]*\")*$")

// written returns the value of a word of a text that every shell reads as plain text.
func written(text string, w *syntax.Word) (value string, ok bool) {
	if w == nil || !writtenRegexp().MatchString(text[w.Pos().Offset():w.End().Offset()]) {
		return "", false
	}
	value, err := expand.Literal(nil, w)
	return value, err == nil
}

func coreCall(text string, c *syntax.CallExpr, piped bool) string {
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		return "it sets a variable"
	}
	words := make([]arg, 0, len(c.Args))
	for _, w := range c.Args {
		value, ok := written(text, w)
		if !ok {
			return "not every word is written out: " + texts.ClipBytes(source(w), 60)
		}
		words = append(words, literalArg(value))
	}
	return coreWords(words, piped)
}

// coreWords judges a command whose words are known.
func coreWords(words []arg, piped bool) string {
	name := baseName(words[0].src)
	s, rest := coreTools()[name], words[1:]
	if second := firstText(rest); second != "" && coreTools()[name+" "+second] != nil {
		s, rest = coreTools()[name+" "+second], rest[1:]
	}
	if s == nil {
		return notInCore(name, firstText(rest))
	}
	call, why := s.sort(rest)
	if why == "" {
		why = call.afterDashes()
	}
	switch {
	case why != "":
		return why
	case s.max == -1 && len(call.rest) > 0 || s.max > 0 && len(call.rest) > s.max:
		return s.name + " with more words may do more than read"
	case piped && !slices.Contains(filters, name):
		return "a pipe into " + s.name
	case piped && len(call.rest) > s.own:
		return "a pipe into " + s.name + " with the name of a file"
	case s.check != nil:
		return s.check(call)
	}
	return ""
}

// InCore reports whether a command by itself is in the literal core.
func (c Command) InCore() bool {
	words := make([]arg, 0, len(c.Argv))
	for _, w := range c.Argv {
		if w.Dynamic || w.Odd || strings.ContainsAny(w.Text, "*?[$`{~") {
			return false
		}
		words = append(words, literalArg(w.Text))
	}
	return c.ReadOnly && c.beyond == "" && len(c.Via) == 0 && coreWords(words, false) == ""
}

func notInCore(name, second string) string {
	if talkers[name] != "" && plain(second, "-") {
		name = strings.TrimSpace(name + " " + second)
	}
	return texts.ClipBytes(name, 40) + " is not one of the few commands that are free without it"
}

func firstText(words []arg) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].src
}

// filters are the programs of the core that others may be piped into: they treat their input
// as data.
var filters = []string{"head", "tail", "wc", "sort", "cut", "grep", "uniq", "cat", "tr"}
