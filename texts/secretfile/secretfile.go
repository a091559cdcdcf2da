// Package secretfile recognizes by name the files that hold secrets, such as .env. The file tools, the policy for
// commands and the read-only sandbox use the same table.
//
//	part, why := secretfile.Find("/home/ann/shop/.env.local") // ".env.local", "variables of a program, …"
//	part, _ = secretfile.Find("internal/credentials_test.go") // ""
package secretfile

import (
	"iter"
	"slices"
	"strings"
	"sync"
)

// name is a row's pattern of one part of a path.
type name struct {
	pieces pieces
	row    *row
}

// pieces holds the parts of a pattern between its *.
type pieces []string

func piecesOf(pattern string) pieces { return strings.Split(pattern, "*") }

// match reports whether the pattern matches a name; * also matches a leading dot.
func (p pieces) match(name string) bool {
	first, last := p[0], p[len(p)-1]
	if len(p) == 1 {
		return name == first
	}
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, piece := range p[1 : len(p)-1] {
		i := strings.Index(name, piece)
		if i < 0 {
			return false
		}
		name = name[i+len(piece):]
	}
	return true
}

// table finds the patterns that a name may match without trying all of them.
type table struct {
	exact   map[string]name
	endings map[string]name // .ext of *.ext, without further dots
	wild    []name          // start with *
	byStart map[byte][]name // other names, by their first character
}

var names = sync.OnceValue(compile)

func compile() *table {
	t := &table{exact: make(map[string]name), endings: make(map[string]name), byStart: make(map[byte][]name)}
	for i := range rows {
		for p := range rows[i].all() {
			n := name{piecesOf(p), &rows[i]}
			switch ext, ok := strings.CutPrefix(p, "*."); {
			case !strings.Contains(p, "*"):
				t.exact[p] = n
			case ok && !strings.ContainsAny(ext, "*."):
				t.endings["."+ext] = n
			case p[0] == '*':
				t.wild = append(t.wild, n)
			default:
				t.byStart[p[0]] = append(t.byStart[p[0]], n)
			}
		}
	}
	return t
}

// all returns the patterns of a row.
func (r *row) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range strings.FieldsSeq(r.names) {
			if !yield(strings.ReplaceAll(p, "@", " ")) {
				return
			}
		}
	}
}

// match returns the row for one part of a path, in lower case; nil if there is none. With free, loose rows are ignored.
func (t *table) match(part string, free bool) *row {
	fits := func(n name) bool { return (!free || !n.row.loose) && n.pieces.match(part) }
	if n, ok := t.exact[part]; ok && fits(n) {
		return n.row
	}
	if i := strings.LastIndexByte(part, '.'); i >= 0 {
		if n, ok := t.endings[part[i:]]; ok && fits(n) {
			return n.row
		}
	}
	for _, list := range [][]name{t.byStart[part[0]], t.wild} {
		if i := slices.IndexFunc(list, fits); i >= 0 {
			return list[i].row
		}
	}
	return nil
}

// Find returns the part of a path that marks the file, or a folder above it, as holding secrets, and a description of
// the secrets. Both are "" for other files. Only names count, ignoring case; the caller must resolve links.
func Find(file string) (part, why string) {
	file = strings.ToLower(file)
	file = strings.ReplaceAll(file, `\`, "/")
	parts := strings.FieldsFunc(file, func(r rune) bool { return r == '/' })
	if len(parts) == 0 {
		return "", ""
	}
	last := original(parts[len(parts)-1])
	source := isSource(last) || slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return slices.Contains(textFolders, p) })
	for i, p := range parts {
		if i == len(parts)-1 {
			return findLast(parts, p, last, source)
		}
		if r := names().match(p, source); r != nil {
			return p, r.why
		}
	}
	return "", ""
}

// findLast checks the last part of a path, and then the path as a whole. full is the last part; last is the name of the
// original if the file is a copy, else the same.
func findLast(parts []string, full, last string, source bool) (part, why string) {
	if !isExample(last) && !slices.ContainsFunc(exempt(), func(p pieces) bool { return p.match(last) }) {
		for _, n := range slices.Compact([]string{full, last}) {
			if r := names().match(n, source); r != nil {
				return full, r.why
			}
		}
		if !source {
			if why := word(last); why != "" {
				return full, why
			}
		}
	}
	return findPath(parts)
}

// findPath looks for names of several parts in a path, such as .git/config.
func findPath(parts []string) (part, why string) {
	for i := range parts {
		for _, l := range long()[parts[i]] {
			if i+len(l.parts) <= len(parts) && matchesAll(l.parts, parts[i:]) {
				return strings.Join(l.parts, "/"), l.row.why
			}
		}
	}
	return "", ""
}

// exempt holds the compiled patterns of freeNames.
var exempt = sync.OnceValue(func() (all []pieces) {
	for _, p := range freeNames {
		all = append(all, piecesOf(p))
	}
	return all
})

func matchesAll(patterns, parts []string) bool {
	for i, p := range patterns {
		if p != parts[i] && p != "*" {
			return false
		}
	}
	return true
}

// longName is a name of several parts.
type longName struct {
	parts []string
	row   *row
}

// long holds the patterns in paths, by their first part, which never contains a *.
var long = sync.OnceValue(compileLong)

func compileLong() map[string][]longName {
	all := make(map[string][]longName)
	for i := range paths {
		for p := range paths[i].all() {
			parts := strings.Split(p, "/")
			all[parts[0]] = append(all[parts[0]], longName{parts, &paths[i]})
		}
	}
	return all
}

// original returns the name of the original if a name is that of a copy, such as .env.bak; else the name itself.
func original(part string) string {
	if len(part) > len(".#") {
		part = strings.TrimPrefix(part, ".#")
	}
	if rest := strings.Trim(part, "#"); rest != "" { // # alone is a name
		part = rest
	}
	for {
		i := slices.IndexFunc(copies, func(c string) bool { return len(part) > len(c) && strings.HasSuffix(part, c) })
		if i < 0 {
			return part
		}
		if part = strings.TrimSuffix(part, copies[i]); strings.HasPrefix(copies[i], ".sw") { // vim's copy of name is .name.swp
			if rest, ok := strings.CutPrefix(part, "."); ok && strings.HasPrefix(rest, ".") {
				part = rest
			}
		}
	}
}

// isSource reports whether a name has the ending of source code.
func isSource(part string) bool {
	i := strings.LastIndexByte(part, '.')
	return i > 0 && sources[part[i:]]
}

var sources = func() map[string]bool {
	all := make(map[string]bool, len(sourceEndings))
	for _, e := range sourceEndings {
		all[e] = true
	}
	return all
}()

// isExample reports whether the last word of a name, or the word before a usual ending, marks an example that people
// copy and fill in.
func isExample(part string) bool {
	parts := strings.FieldsFunc(part, func(r rune) bool { return r == '.' || r == '-' || r == '_' })
	n := len(parts)
	if n == 0 {
		return false
	}
	if n > 1 && slices.Contains(examples, parts[n-1]) {
		return true
	}
	data := []string{"yaml", "yml", "json", "toml", "ini", "conf", "cfg", "xml", "properties", "txt", "env", "tfvars", "md"}
	return n > 1 && slices.Contains(data, parts[n-1]) && slices.Contains(examples, parts[n-2])
}

// word returns what a file contains according to a word in its name, or "".
func word(part string) string {
	squeezed := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, part)
	for _, w := range words {
		for from := 0; ; {
			i := strings.Index(squeezed[from:], w.word)
			if i < 0 {
				break
			}
			if rest := squeezed[from+i:]; !slices.ContainsFunc(strings.Fields(w.but), func(b string) bool { return strings.HasPrefix(rest, b) }) {
				return w.why
			}
			from += i + len(w.word)
		}
	}
	return ""
}
