package shell

import (
	"regexp/syntax"
	"slices"
	"strings"

	"buddy/texts"
)

func dateCheck(c *call) string {
	for _, w := range c.rest {
		if s, ok := w.lit(); !ok || !strings.HasPrefix(s, "+") {
			return "date with a time may set the clock"
		}
	}
	return ""
}

// psOperand matches numbers and BSD options without e, which prints environments; psFlag matches flags without a letter that
// takes a value, in which a ps that finds no user xe would read options: -auxe.
var (
	psOperand = texts.Regexp(`^([0-9]+|[axufwjlhrvsmT]*)$`)
	psFlag    = texts.Regexp(`^-[^uUgGpqtCsoO]*([uUgGpqtCsoO][0-9,xwf]*)?$`)
)

func psCheck(c *call) string {
	for _, w := range c.words {
		s, _ := w.lit()
		operand := slices.ContainsFunc(c.rest, func(o arg) bool { return o.src == w.src })
		if strings.Contains(s, "env") || operand && !psOperand().MatchString(s) || strings.HasPrefix(s, "-") && !psFlag().MatchString(s) {
			return "ps " + texts.ClipBytes(s, 40) + " may print environments, which may hold secrets"
		}
	}
	return ""
}

// hunts are words typical of a search for secrets.
var hunts = []string{"passw", "secret", "token", "api_key", "apikey", "api-key", "private", "credential", "auth", "akia", "begin", "bearer", "pwd", "ssh-rsa", "aws_"}

// grepCheck requires a selective pattern of a search through whole folders, which else prints the secrets among the files.
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
			return "grep for this pattern prints what secrets there are among the files"
		}
	}
	return ""
}

// escapeRegexp matches escapes in a pattern of grep besides those of groups and alternatives.
var escapeRegexp = texts.Regexp(`\\[^|()]`)

// selective reports whether every line that the pattern matches contains at least three given
// characters in a row. Groups and alternatives count in every dialect of patterns.
func selective(s string, fixed bool) bool {
	switch {
	case fixed:
		return len(strings.TrimSpace(s)) >= 3 && !strings.Contains(s, "\n")
	case texts.HasAny(s, `\?`, `\+`, `\{`):
		return false
	}
	s = strings.NewReplacer(`\`, "", "\n", "|").Replace(escapeRegexp().ReplaceAllLiteralString(s, "."))
	re, err := syntax.Parse(s, syntax.POSIX)
	if err != nil { // a parenthesis may stand for itself
		re, err = syntax.Parse(strings.NewReplacer("(", ".", ")", ".").Replace(s), syntax.POSIX)
	}
	return err == nil && certain(re) >= 3
}

// certain returns how many characters in a row every match contains.
func certain(re *syntax.Regexp) int {
	most, least := 0, len(re.Rune)
	for i, sub := range re.Sub {
		n := certain(sub)
		most = max(most, n)
		if least = min(least, n); i == 0 {
			least = n
		}
	}
	switch re.Op {
	case syntax.OpLiteral, syntax.OpAlternate:
		return least
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return most
	}
	return 0
}

// obeyed matches how sequences are written that make a terminal do more than show colours.
var obeyed = texts.Regexp(`(?i)\\(033|e|x1b|u001b|u1b|0033)[]p_^xc\\]`)

// escapes refuses sequences that a terminal obeys.
func escapes(c *call) string {
	if slices.ContainsFunc(c.words, func(w arg) bool { return obeyed().MatchString(w.src) }) {
		return c.spec.name + " with a sequence that the terminal obeys"
	}
	return ""
}
