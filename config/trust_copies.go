package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// Copies holds copies of a part's files, whose contents were compared with the trusted ones. Commands run these copies,
// so that later changes of the project's files have no effect.
type Copies struct {
	part   Part
	finder *finder
	bases  []string
	of     map[string]string // paths of the copies, by the path of their file
}

// CopyPart copies the files of a trusted part to a folder; if the part is not trusted, it returns nil. lines are the
// texts of the part's definition. The folders of the copies also get links to the other files in the original folders.
func (s TrustStore) CopyPart(dir string, p Part, lines []string, into string) (*Copies, error) {
	print, files, err := readPart(dir, p, "")
	if err != nil {
		return nil, err
	}
	trusted, err := s.TrustsPrint(dir, p, print)
	if err == nil && !trusted && s.Main != nil && s.Main(dir) != "" {
		if print, _, err = readPart(dir, p, s.Main(dir)); err == nil {
			trusted, err = s.TrustsPrint(dir, p, print)
		}
	}
	if !trusted || err != nil {
		return nil, err
	}
	f := newFinder(dir, lines)
	c := &Copies{part: p, finder: f, bases: f.bases(), of: map[string]string{}}
	var real []partFile
	for _, one := range files {
		rel, err := filepath.Rel(f.root, one.real)
		if one.data == nil || err != nil || !filepath.IsLocal(rel) {
			continue // not a file of the project
		}
		c.of[filepath.Join(dir, one.name)] = filepath.Join(into, rel)
		c.of[one.real] = filepath.Join(into, rel)
		real = append(real, partFile{real: rel, data: one.data})
	}
	return c, writeCopies(f.root, into, real)
}

// maxBeside limits the links that writeCopies creates in one folder.
const maxBeside = 5000

// writeCopies writes files to a folder that otherwise mirrors root: it creates the folders above the files and fills
// them with links to everything else in the same folders of root.
func writeCopies(root, into string, files []partFile) error {
	for _, f := range files {
		to := filepath.Join(into, f.real)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, f.data, 0o500); err != nil && !os.IsPermission(err) { // a file with two names exists already
			return err
		}
	}
	linked := map[string]bool{}
	for _, f := range files {
		for dir := filepath.Dir(f.real); !linked[dir]; dir = filepath.Dir(dir) {
			linked[dir] = true
			entries, _ := os.ReadDir(filepath.Join(root, dir)) // the program could not read such a folder either
			for _, e := range entries[:min(len(entries), maxBeside)] {
				// Symlink fails for the copies and their folders, which exist already.
				_ = os.Symlink(filepath.Join(root, dir, e.Name()), filepath.Join(into, dir, e.Name()))
			}
			if dir == "." {
				break
			}
		}
	}
	return nil
}

// Args returns a program and its arguments with paths of copied files replaced by their copies.
func (c *Copies) Args(args []string) ([]string, error) {
	out := slices.Clone(args)
	for i := range out {
		before := ""
		if i > 0 {
			before = args[i-1]
		}
		out[i] = c.word(args[i], before)
	}
	return out, c.checkUncopied(out)
}

// Line returns a command line for a shell with paths of copied files replaced by their copies.
func (c *Copies) Line(line string) (string, error) {
	parsed, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return line, c.checkUncopied([]string{line})
	}
	type change struct {
		from, to uint
		text     string
	}
	var changes []change
	syntax.Walk(parsed, func(n syntax.Node) bool {
		before := ""
		words := []*syntax.Word(nil)
		switch n := n.(type) {
		case *syntax.CallExpr:
			words = n.Args
		case *syntax.Assign:
			words = []*syntax.Word{n.Value}
		case *syntax.WordIter:
			words = n.Items
		case *syntax.Redirect:
			if n.Op != syntax.Hdoc && n.Op != syntax.DashHdoc {
				words = []*syntax.Word{n.Word}
			}
		}
		for _, w := range words {
			if w == nil {
				continue
			}
			value, static := c.value(w.Parts)
			if text := c.shellWord(value, before); static && text != "" {
				changes = append(changes, change{w.Pos().Offset(), w.End().Offset(), text})
			}
			before = value
		}
		return true
	})
	slices.SortFunc(changes, func(a, b change) int { return int(b.from) - int(a.from) })
	for i, ch := range changes {
		if i == 0 || ch.to <= changes[i-1].from { // else it is inside a replaced part
			line = line[:ch.from] + ch.text + line[ch.to:]
		}
	}
	return line, c.checkUncopied([]string{line})
}

// value returns the value of parts of a word in a shell line, and whether it is known without running the line.
func (c *Copies) value(parts []syntax.WordPart) (text string, static bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text += strings.ReplaceAll(p.Value, `\`, "")
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			inner, ok := c.value(p.Parts)
			if !ok {
				return "", false
			}
			text += inner
		case *syntax.ParamExp:
			value, known := c.finder.vars[p.Param.Value]
			if !known || !plain(p) {
				return "", false
			}
			text += value
		default:
			return "", false
		}
	}
	return text, true
}

// plain reports whether the expansion of a variable that is set yields just the variable's value.
func plain(p *syntax.ParamExp) bool {
	usual := p.Exp == nil || p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.DefaultUnset
	return usual && !p.Length && !p.Excl && p.Slice == nil && p.Repl == nil && p.Index == nil
}

// shellWord returns the replacement of a word in a shell's line, "" if it needs none.
func (c *Copies) shellWord(value, before string) string {
	var words []string
	switch now := c.word(value, before); {
	case now != value:
		words = []string{now}
	case strings.ContainsAny(value, "*?["):
		words = c.matches(value)
	}
	for i, w := range words {
		quoted, err := syntax.Quote(w, syntax.LangPOSIX)
		if err != nil {
			return ""
		}
		words[i] = quoted
	}
	return strings.Join(words, " ")
}

// matches returns the files that match a pattern, with copied files replaced by their copies; nil if none was copied.
func (c *Copies) matches(pattern string) (all []string) {
	for _, base := range c.bases {
		path := pattern
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		found, _ := filepath.Glob(path)
		copied := false
		for _, one := range found[:min(len(found), maxMatches)] {
			to, ok := c.of[one]
			copied = copied || ok
			if !ok {
				to = one
			}
			all = append(all, to)
		}
		if copied {
			return all
		}
		all = nil
	}
	return nil
}

// readers are programs that run the file in their first argument.
var readers = []string{"sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "source", ".", "exec", "env"}

// word replaces paths of copied files in a word by their copies: the word as a whole, or its parts. before is the word
// before it.
func (c *Copies) word(word, before string) string {
	runs := slices.Contains(readers, filepath.Base(before))
	if to := c.find(word, runs); to != "" {
		return to
	}
	const ends = " \t\r\n'\"`;|&<>(){}=,:@!$"
	var out strings.Builder
	for rest := word; rest != ""; {
		n := strings.IndexAny(rest, ends)
		if n < 0 {
			n = len(rest)
		}
		part := rest[:n]
		to := c.find(part, false)
		if to == "" {
			to = part
		}
		out.WriteString(to)
		if rest = rest[n:]; rest != "" {
			out.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	return out.String()
}

// find returns the copy of the named file, "" if there is none. A name without a dot and a slash is an ordinary word,
// unless a reader runs it.
func (c *Copies) find(name string, runs bool) string {
	if name == "" || !runs && !strings.ContainsAny(name, "./") {
		return ""
	}
	for _, base := range c.bases {
		for _, path := range c.finder.paths(base, name) {
			if to, ok := c.of[path]; ok {
				return to
			}
		}
	}
	return ""
}

// checkUncopied returns an error if words still name a file that was copied, because the unchecked file would run.
func (c *Copies) checkUncopied(words []string) error {
	var files []string
	for _, name := range FilesNamed(c.finder.dir, words...) {
		if _, copied := c.of[filepath.Join(c.finder.dir, name)]; copied && strings.ContainsAny(name, "./") {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return fmt.Errorf("%s can't run from a copy of the files that you trusted: in its command, write the path of %s as a separate word", c.part, texts.Some(files))
}
