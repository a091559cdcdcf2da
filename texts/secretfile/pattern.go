package secretfile

import (
	"slices"
	"strings"
	"sync"
)

// FindPattern returns the part of a glob pattern that could match a file with secrets, or "". In pattern \ escapes a
// literal character. A pattern with the ending of source code is meant for source code: *.go does not ask for secrets
// in credentials.go.
func FindPattern(pattern string) string {
	pattern = strings.ToLower(pattern)
	parts := strings.Split(pattern, "/")
	source := isSource(parts[len(parts)-1])
	for i, part := range parts {
		if !strings.ContainsAny(part, "*?[") {
			if i == len(parts)-1 || part == "" {
				continue
			}
			if r := names().match(strings.ReplaceAll(part, `\`, ""), source); r != nil {
				return part
			}
			continue
		}
		if source && (i == len(parts)-1 || !strings.HasPrefix(part, ".")) {
			continue
		}
		if slices.ContainsFunc(globs(), func(g glob) bool { return hidden(part) == g.hidden && overlap(tokens(part), g.tokens) }) {
			return part
		}
	}
	if last := parts[len(parts)-1]; !strings.ContainsAny(last, "*?[") {
		if part, _ := Find(strings.ReplaceAll(pattern, `\`, "")); part != "" {
			return part
		}
	}
	for _, list := range long() {
		if slices.ContainsFunc(list, func(l longName) bool { return overlapPaths(parts, l.parts) }) {
			return pattern
		}
	}
	return ""
}

// glob is a pattern of secret names, compiled for comparison with other patterns.
type glob struct {
	tokens []rune
	hidden bool // it matches names that begin with a dot
}

var globs = sync.OnceValue(compileGlobs)

func compileGlobs() (all []glob) {
	add := func(p string) { all = append(all, glob{tokens(p), strings.HasPrefix(p, ".")}) }
	for _, r := range rows {
		for p := range r.all() {
			add(p)
			if strings.HasPrefix(p, "*") && !strings.HasPrefix(p, "*.") {
				add("." + p)
			}
		}
	}
	for _, w := range words {
		add("*" + w.word + "*")
		add(".*" + w.word + "*")
	}
	return all
}

// hidden reports whether a pattern explicitly matches names that start with a dot.
func hidden(part string) bool {
	return strings.HasPrefix(part, ".") || strings.HasPrefix(part, "[.")
}

// overlapPaths reports whether consecutive parts of a pattern match those of a path.
func overlapPaths(parts, secret []string) bool {
	for i := 0; i+len(secret) <= len(parts); i++ {
		ok, literal := true, 0
		for j, p := range secret {
			ok = ok && hidden(parts[i+j]) == strings.HasPrefix(p, ".") && overlap(tokens(parts[i+j]), tokens(p))
			if !strings.ContainsAny(parts[i+j], "*?[") {
				literal++
			}
		}
		if ok && (literal > 0 || hidden(parts[i])) {
			return true
		}
	}
	return false
}

// Tokens of a pattern: a character, any one character, or any number of any characters.
const (
	anyOne  = -1
	anyMany = -2
	end     = -3 // the end of a name
)

// tokens splits a pattern; a set in brackets counts as any character.
func tokens(pattern string) []rune {
	var out []rune
	r := []rune(pattern)
	for i := 0; i < len(r); i++ {
		switch r[i] {
		case '*':
			out = append(out, anyMany)
		case '?':
			out = append(out, anyOne)
		case '\\':
			if i++; i < len(r) {
				out = append(out, r[i])
			}
		case '[':
			end := slices.Index(r[min(i+2, len(r)):], ']')
			if end < 0 {
				out = append(out, r[i])
				continue
			}
			i += 2 + end
			out = append(out, anyOne)
		default:
			out = append(out, r[i])
		}
	}
	return out
}

// NamesMeet reports whether some file name matches both patterns.
func NamesMeet(a, b string) bool { return overlap(tokens(a), tokens(b)) }

// alike reports whether two tokens can match the same character, or both are the end.
func alike(x, y rune) bool {
	return x == y || x == anyOne && y != end || y == anyOne && x != end
}

// overlap reports whether some name matches both patterns.
func overlap(a, b []rune) bool {
	if len(a) > 200 || len(b) > 200 {
		return true
	}
	// can[j] holds whether some name matches a[i:] and b[j:]; filled from the end.
	can := make([]bool, len(b)+2)
	next := make([]bool, len(b)+2)
	a, b = append(slices.Clone(a), end), append(slices.Clone(b), end)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			switch x, y := a[i], b[j]; {
			case x == anyMany:
				can[j] = next[j] || y != end && can[j+1]
			case y == anyMany:
				can[j] = can[j+1] || x != end && next[j]
			default:
				can[j] = alike(x, y) && (x == end || next[j+1])
			}
		}
		can, next = next, can
	}
	return next[0]
}
