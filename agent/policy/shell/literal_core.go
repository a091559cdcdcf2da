package shell

import (
	"cmp"
	regexps "regexp/syntax"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// core returns why a read-only script is not in the literal core, or "". The literal core is for commands that the
// kernel does not confine: every word is written out, the programs are those of [coreTools] with flags that mean the
// same on every system, and none reads settings or programs from the current folder.
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

// coreStmt is core for one statement of text. piped means that the statement reads another command's output.
func coreStmt(text string, s *syntax.Stmt, piped bool) string {
	if s.Background || s.Coprocess || s.Disown || s.Negated {
		return "it is not a plain command"
	}
	for _, r := range s.Redirs {
		if !coreRedirect(text, r) {
			return "it redirects output or input"
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return coreCall(text, c, piped)
	case *syntax.BinaryCmd:
		if c.Op == syntax.PipeAll {
			return "|& has another meaning in some shells"
		}
		return cmp.Or(coreStmt(text, c.X, piped), coreStmt(text, c.Y, c.Op == syntax.Pipe))
	}
	return "it is not a plain command"
}

// coreRedirect reports whether a redirection is 2>&1 or output to /dev/null.
func coreRedirect(text string, r *syntax.Redirect) bool {
	if r.N != nil && r.N.Value != "1" && r.N.Value != "2" || r.Hdoc != nil {
		return false
	}
	to, ok := written(text, r.Word)
	return ok && (r.Op == syntax.DplOut && (to == "1" || to == "2") || r.Op == syntax.RdrOut && to == "/dev/null")
}

// writtenRegexp matches a word that every shell reads as plain text: characters without a special meaning in any
// shell, and quotes without expansions.
var writtenRegexp = texts.Regexp("^([\\w./:,@%+-]|'[^'!]*'|\"[^\"\\\\!$`]*\")([\\w=./:,@%+-]|'[^'!]*'|\"[^\"\\\\!$`]*\")*$")

// written returns the value of a word if every shell reads the word as plain text. text is the script that contains it.
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
			return "a word is known only when it runs: " + texts.ClipBytes(source(w), 60)
		}
		words = append(words, literalArg(value))
	}
	return coreWords(words, piped)
}

// coreWords is core for a command whose words are known.
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
		return s.name + " with more arguments may not be read-only"
	case piped && !slices.Contains(filters, name):
		return "a pipe into " + s.name
	case piped && len(call.rest) > s.own:
		return "a pipe into " + s.name + " with a file name"
	case s.check != nil:
		return s.check(call)
	}
	return ""
}

// InCore reports whether a command, taken by itself, is in the literal core.
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
	return texts.ClipBytes(name, 40) + " is not one of the few commands that run without the sandbox"
}

func firstText(words []arg) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].src
}

// filters lists the programs of the core that may read another program's output: they treat it as data.
var filters = []string{"head", "tail", "wc", "sort", "cut", "grep", "uniq", "cat", "tr"}

// dateCheck refuses all arguments of date except formats.
func dateCheck(c *call) string {
	for _, w := range c.rest {
		if s, ok := w.lit(); !ok || !strings.HasPrefix(s, "+") {
			return "date with a time may set the clock"
		}
	}
	return ""
}

// psOperand matches numbers and BSD options without e, because e prints environments. psFlag matches flags in which a
// letter that takes a value is followed only by digits, commas, x, w and f: ps reads -auxe as BSD options if no user is
// called xe.
var (
	psOperand = texts.Regexp(`^([0-9]+|[axufwjlhrvsmT]*)$`)
	psFlag    = texts.Regexp(`^-[^uUgGpqtCsoO]*([uUgGpqtCsoO][0-9,xwf]*)?$`)
)

// psCheck refuses arguments that may print environments.
func psCheck(c *call) string {
	for _, w := range c.words {
		s, _ := w.lit()
		operand := slices.ContainsFunc(c.rest, func(o arg) bool { return o.src == w.src })
		if strings.Contains(s, "env") || operand && !psOperand().MatchString(s) || strings.HasPrefix(s, "-") && !psFlag().MatchString(s) {
			return "ps " + texts.ClipBytes(s, 40) + " may print environment variables, which may hold secrets"
		}
	}
	return ""
}

// hunts lists words typical of a search for secrets.
var hunts = []string{"passw", "secret", "token", "api_key", "apikey", "api-key", "private", "credential", "auth", "akia", "begin", "bearer", "pwd", "ssh-rsa", "aws_"}

// grepCheck refuses a recursive grep that prints lines and whose pattern is not selective, because it could print
// secrets in the files.
func grepCheck(c *call) string {
	patterns := c.values("-e")
	if len(patterns) == 0 {
		if len(c.rest) == 0 {
			return "grep without a pattern"
		}
		patterns = c.rest[:1]
	}
	prints := c.has("-r", "-R") && !c.has("-l", "-L", "-c", "-q") // lines, not names or numbers
	for _, w := range patterns {
		if s, _ := w.lit(); prints && (c.has("-v") || texts.HasAny(s, hunts...) || !selective(s, c.has("-F"))) {
			return "grep for this pattern may print secrets in the files"
		}
	}
	return ""
}

// escapeRegexp matches backslash escapes in a grep pattern, except those for groups and alternatives.
var escapeRegexp = texts.Regexp(`\\[^|()]`)

// selective reports whether every matching line contains at least three fixed characters in a row. It understands
// groups and alternatives in basic and extended patterns. fixed means that s is not a pattern.
func selective(s string, fixed bool) bool {
	switch {
	case fixed:
		return len(strings.TrimSpace(s)) >= 3 && !strings.Contains(s, "\n")
	case texts.HasAny(s, `\?`, `\+`, `\{`):
		return false
	}
	s = strings.NewReplacer(`\`, "", "\n", "|").Replace(escapeRegexp().ReplaceAllLiteralString(s, "."))
	re, err := regexps.Parse(s, regexps.POSIX)
	if err != nil { // a parenthesis may be literal
		re, err = regexps.Parse(strings.NewReplacer("(", ".", ")", ".").Replace(s), regexps.POSIX)
	}
	return err == nil && certain(re) >= 3
}

// certain returns how many literal characters in a row every match of re contains, at least.
func certain(re *regexps.Regexp) int {
	most, least := 0, len(re.Rune)
	for i, sub := range re.Sub {
		n := certain(sub)
		most = max(most, n)
		if least = min(least, n); i == 0 {
			least = n
		}
	}
	switch re.Op {
	case regexps.OpLiteral, regexps.OpAlternate:
		return least
	case regexps.OpConcat, regexps.OpCapture, regexps.OpPlus:
		return most
	}
	return 0
}

// obeyed matches escape sequences, as a command spells them, that make a terminal do more than show colours.
var obeyed = texts.Regexp(`(?i)\\(033|e|x1b|u001b|u1b|0033)[]p_^xc\\]`)

// escapes refuses arguments that contain a terminal control sequence.
func escapes(c *call) string {
	if slices.ContainsFunc(c.words, func(w arg) bool { return obeyed().MatchString(w.src) }) {
		return c.spec.name + " with a terminal control sequence"
	}
	return ""
}
