package shell

import (
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

// psCheck allows BSD options without e, which prints environments. A ps that finds no user xe
// takes -auxe for auxe.
func psCheck(c *call) string {
	const why = " may print environments, which may hold secrets"
	for _, w := range append(c.rest, c.values("-o", "-O", "--format")...) {
		s, ok := w.lit()
		if !ok {
			return "what ps prints is computed"
		}
		if strings.Contains(s, "env") {
			return "ps " + texts.ClipBytes(s, 40) + why
		}
	}
	for _, w := range c.rest {
		if s, _ := w.lit(); !digits(s) && strings.Trim(s, "axufwjlhrvsmT") != "" {
			return "ps " + texts.ClipBytes(s, 40) + why
		}
	}
	for _, w := range c.words {
		s, _ := w.lit()
		if letters, ok := strings.CutPrefix(s, "-"); !ok || strings.HasPrefix(letters, "-") {
			continue
		} else if i := strings.IndexAny(letters, "uUgGpqtCsoO"); i >= 0 && strings.Trim(letters[i+1:], "0123456789,xwf") != "" {
			return "ps " + texts.ClipBytes(s, 40) + why
		}
	}
	return ""
}

// hunts are words typical of a search for secrets.
var hunts = []string{"passw", "secret", "token", "api_key", "apikey", "api-key", "private", "credential", "auth", "akia", "begin", "bearer", "pwd", "ssh-rsa", "aws_"}

// quietFlags make grep print names or numbers instead of lines.
var quietFlags = []string{"-l", "-L", "-c", "-q"}

// grepCheck requires a selective pattern of a search through whole folders, which else prints the secrets among the files.
func grepCheck(c *call) string {
	patterns := c.values("-e")
	if len(patterns) == 0 {
		if len(c.rest) == 0 {
			return "grep without a pattern"
		}
		patterns = c.rest[:1]
	}
	if c.has("-r", "-R") && !c.has(quietFlags...) && !selectiveAll(c, patterns) {
		return "grep for this pattern prints what secrets there are among the files"
	}
	return ""
}

// selectiveAll reports whether every pattern is selective.
func selectiveAll(c *call, patterns []arg) bool {
	if c.has("-v", "--invert-match", "-f", "--file", "--passthru") || len(patterns) == 0 {
		return false
	}
	fixed := c.has("-F", "--fixed-strings") || c.spec.name == "fgrep"
	for _, w := range patterns {
		s, ok := w.lit()
		if len(w.vals) == 1 && w.vals[0].kind == pattern { // unquoted, but matches no file
			s, ok = w.vals[0].text, true
		}
		if !ok || texts.HasAny(s, hunts...) || !selective(s, fixed) {
			return false
		}
	}
	return true
}

// selective reports whether every line that the pattern matches contains at least three given
// characters in a row.
func selective(s string, fixed bool) bool {
	if fixed {
		return len(strings.TrimSpace(s)) >= 3 && !strings.Contains(s, "\n")
	}
	var k certain
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			i++
			switch s[i] {
			case '|', '(', ')':
				c = s[i] // their meaning without \ in other dialects
			case '?', '+', '{':
				return false
			default:
				c = '.'
			}
		}
		if c == '[' {
			i += max(0, strings.IndexByte(s[i:], ']'))
		}
		if !k.take(c) {
			return false
		}
	}
	return k.best >= 3
}

// certain counts the consecutive characters that every match of a pattern contains.
type certain struct {
	best, run int
	depth     int // open groups, which may be optional
}

// take advances by one character; it returns false if an alternative ends that is not
// selective.
func (k *certain) take(c byte) bool {
	switch c {
	case '|', '\n':
		if k.depth == 0 && k.best < 3 {
			return false
		}
		if k.run = 0; k.depth == 0 {
			k.best = 0
		}
	case '(':
		k.depth, k.run = k.depth+1, 0
	case ')':
		k.depth, k.run = k.depth-1, 0
	case '*', '?', '{':
		if k.run > 0 && k.best == k.run {
			k.best-- // the previous character is optional
		}
		k.run = 0
	case '.', '^', '$', '+', '[':
		k.run = 0
	default:
		k.run++
	}
	if k.depth == 0 {
		k.best = max(k.best, k.run)
	}
	return true
}

// escapes refuses sequences that make a terminal do more than show colours.
func escapes(c *call) string {
	for _, w := range c.words {
		for _, v := range w.vals {
			text := strings.ToLower(v.text)
			for _, esc := range []string{`\033`, `\e`, `\x1b`, `\u001b`, `\u1b`, `\0033`} {
				for _, kind := range []string{"]", "p", "_", "^", "x", "c", `\`} {
					if strings.Contains(text, esc+kind) {
						return c.spec.name + " with a sequence that the terminal obeys"
					}
				}
			}
		}
	}
	return ""
}
