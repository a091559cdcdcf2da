package shell

import (
	"slices"
	"strings"
)

// hunts are words that a search for secrets has in it.
var hunts = []string{"passw", "secret", "token", "api_key", "apikey", "api-key", "private", "credential", "auth", "akia", "begin", "bearer", "pwd", "ssh-rsa", "aws_"}

// grepCheck judges where grep looks: a search through whole folders must look for
// something in particular, or it prints the secrets among the files.
func grepCheck(a *analyser, c *call) string {
	patterns := c.values("-e", "--regexp")
	files := c.rest
	if len(patterns) == 0 && !c.has("--files", "--type-list") {
		if len(files) == 0 {
			return c.spec.name + " without a pattern"
		}
		patterns, files = files[:1], files[1:]
	}
	// The pattern is the first operand only for the command; it is no name of a file.
	c.rest = files
	selective := selectiveAll(c, patterns)
	quiet := c.has("-l", "-L", "-c", "-q", "--files-with-matches", "--files-without-match", "--count", "--quiet", "--silent", "--files", "--count-matches", "--name-only", "--type-list")
	if why := a.grepFiles(c, files, selective || quiet); why != "" {
		return why
	}
	folders := c.has("-r", "-R", "--recursive", "--dereference-recursive", "--no-index") ||
		c.spec.name == "rg" || c.spec.name == "ag" || c.spec.name == "git grep"
	if !folders || selective || quiet || a.included(c) || c.spec.name == "rg" && c.in.piped && len(files) == 0 {
		return ""
	}
	if len(files) > 0 && !slices.ContainsFunc(files, func(w arg) bool { return !namesFile(w) }) {
		return ""
	}
	return c.spec.name + " for this pattern prints what secrets there are among the files"
}

// grepFiles judges the files by name, and takes them away from the general judgement.
func (a *analyser) grepFiles(c *call, files []arg, selective bool) string {
	c.rest = nil
	for _, w := range files {
		judge := a.reads
		if selective {
			judge = a.lists
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

// namesFile reports whether w is the name of a file with the ending of a source.
func namesFile(w arg) bool {
	for _, v := range w.vals {
		if !safeSuffix(v.text) {
			return false
		}
	}
	return true
}

// included reports whether the search takes only files with the endings of sources.
func (a *analyser) included(c *call) bool {
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

// selectiveAll reports whether every pattern is one that few lines have.
func selectiveAll(c *call, patterns []arg) bool {
	if c.has("-v", "--invert-match", "-f", "--file", "--passthru") || len(patterns) == 0 {
		return false
	}
	fixed := c.has("-F", "--fixed-strings") || c.spec.name == "fgrep"
	for _, w := range patterns {
		s, ok := w.lit()
		if len(w.vals) == 1 && w.vals[0].kind == pattern { // not quoted, but no file is like it
			s, ok = w.vals[0].text, true
		}
		if !ok || hasAny(s, hunts...) || !selective(s, fixed) {
			return false
		}
	}
	return true
}

// selective reports whether every line that the pattern matches has at least three
// certain characters in a row.
func selective(s string, fixed bool) bool {
	if fixed {
		return len(strings.TrimSpace(s)) >= 3 && !strings.Contains(s, "\n")
	}
	best, run, depth := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '|' || c == '\n':
			if depth == 0 {
				if best < 3 {
					return false
				}
				best, run = 0, 0
			}
			run = 0
		case c == '\\':
			run = 0
			if i++; i < len(s) {
				switch s[i] {
				case '|':
					if best < 3 {
						return false
					}
					best = 0
				case '(':
					depth++
				case ')':
					depth--
				case '.', '-', '/', '$', '[', ']', '*', '"':
					run++
				case '?', '+', '{':
					return false
				}
			}
		case c == '(':
			depth, run = depth+1, 0
		case c == ')':
			depth, run = depth-1, 0
		case c == '[':
			run = 0
			for i++; i < len(s) && s[i] != ']'; i++ {
				continue
			}
		case c == '*' || c == '?' || c == '{':
			if best == run {
				best--
			}
			run = 0
		case c == '.' || c == '^' || c == '$' || c == '+':
			run = 0
		default:
			run++
		}
		if depth == 0 && run > best {
			best = run
		}
	}
	return best >= 3
}

func grepPrints(_ *analyser, c *call) names {
	if c.has("-l", "-L", "--files-with-matches", "--files-without-match", "--files", "--name-only") {
		a := &analyser{}
		return names{safe: a.included(c), noDash: c.has("-r", "--recursive", "-R") && c.spec.name == "grep"}
	}
	if c.has("-r", "-R", "--recursive", "-o", "--only-matching", "-c", "--count", "-n", "--line-number", "-A", "-B", "-C", "--replace", "-r") || !c.in.piped {
		if c.has("-c", "--count") && len(c.flags) == 1 && c.spec.name == "grep" {
			return names{number: true, noDash: true}
		}
		return names{}
	}
	return c.in.names
}
