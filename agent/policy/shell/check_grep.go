package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// hunts are words typical of a search for secrets.
var hunts = []string{"passw", "secret", "token", "api_key", "apikey", "api-key", "private", "credential", "auth", "akia", "begin", "bearer", "pwd", "ssh-rsa", "aws_"}

// grepCheck judges where grep searches: a search through whole folders must have a selective
// pattern, or it prints the secrets among the files.
func grepCheck(a *analyser, c *call) string {
	patterns := c.values("-e", "--regexp")
	files := c.rest
	if len(patterns) == 0 && !c.has("--files", "--type-list") {
		if len(files) == 0 {
			return c.spec.name + " without a pattern"
		}
		patterns, files = files[:1], files[1:]
	}
	harmless := selectiveAll(c, patterns) || c.has(quietFlags...)
	if why := a.folders.grepFiles(c, files, harmless); why != "" {
		return why
	}
	if c.has(quietFlags...) || c.included() || !c.folders(files) {
		return ""
	}
	if harmless {
		return a.folders.searches(c, files)
	}
	return c.spec.name + " for this pattern prints what secrets there are among the files"
}

// quietFlags make grep print names or numbers instead of lines.
var quietFlags = []string{
	"-l", "-L", "-c", "-q", "--files-with-matches", "--files-without-match", "--count", "--quiet", "--silent", "--files", "--count-matches", "--name-only", "--type-list",
}

// folders reports whether the search is recursive.
func (c *call) folders(files []arg) bool {
	switch {
	case len(files) > 0 && !slices.ContainsFunc(files, func(w arg) bool { return !namesFile(w) }):
		return false
	case c.spec.name == "rg" && c.in.piped && len(files) == 0:
		return false
	}
	return slices.Contains([]string{"rg", "ag", "git grep"}, c.spec.name) || c.has("-r", "-R", "--recursive", "--dereference-recursive", "--no-index")
}

// grepFiles judges the files by name, and removes them from the general judgement.
func (d *folders) grepFiles(c *call, files []arg, selective bool) string {
	c.rest = nil
	for _, w := range files {
		judge := d.reads
		if selective {
			judge = d.lists
			if why := shown(w); why != "" {
				return why
			}
		}
		if why := judge(w); why != "" {
			return why
		}
	}
	return ""
}

// namesFile reports whether w names a file with the ending of source code.
func namesFile(w arg) bool {
	for _, v := range w.vals {
		if !safeSuffix(v.text) {
			return false
		}
	}
	return true
}

// included reports whether the search is limited to files with endings of source code.
func (c *call) included() bool {
	if c.has("-t", "--type") {
		return true
	}
	globs := c.values("--include", "-g", "--glob")
	if len(globs) == 0 {
		return false
	}
	for _, w := range globs {
		s, ok := w.lit()
		if !ok || strings.HasPrefix(s, "!") || !safeSuffix(s) {
			return false
		}
	}
	return true
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

// grepPrints returns what a filter prints: lines of its input, or one number.
func grepPrints(_ *analyser, c *call) names {
	if c.has("-c", "--count") && len(c.flags) == 1 && c.spec.name == "grep" {
		one := len(c.words) == 2 || len(c.words) == 3 && c.words[2].oneWord() // a file after the pattern
		return names{number: one && (c.in.piped || len(c.words) == 3), noDash: one}
	}
	if !c.in.piped || slices.ContainsFunc(c.flags, func(f flag) bool {
		return !slices.Contains([]string{"-v", "-i", "-E", "-F", "-w", "-x", "--invert-match", "--ignore-case"}, f.name)
	}) {
		return names{}
	}
	return c.in.names
}
