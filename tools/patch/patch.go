// Package patch reads changes of several files from a text and makes them in memory.
//
//	files, err := patch.Parse(text)
//	after, err := files[0].Apply(before) // a *Mismatch tells which lines were not found
//
// It reads unified diffs, with the headers that git adds, and the form that begins with
// "*** Begin Patch". It is made for diffs that a model wrote: the numbers in them may be
// wrong and white space at the end of empty lines missing, but nothing is guessed. A
// hunk whose place is not certain is an error. It does no I/O.
//
// Unified diffs are read here: go-gitdiff (0.9.0) refuses counts that are wrong, and drops a
// hunk without numbers in silence.
package patch

import (
	"fmt"
	"io/fs"
	"strings"

	"buddy/texts"
)

const (
	// MaxFiles is how many files one patch may change.
	MaxFiles = 100
	// MaxHunks is how many hunks one file may have.
	MaxHunks = 1000
	// Fuzz is how many lines of context may differ at either end of a hunk.
	Fuzz = 2
)

// File is the change of one file.
type File struct {
	Old   string      // its path before; "" = it is made
	New   string      // its path after; "" = it is deleted
	Mode  fs.FileMode // its permissions after; 0 = as before
	Hunks []Hunk
	Line  int // where in the patch it begins, from 1
}

// Hunk is a change of neighbouring lines.
type Hunk struct {
	Line    int      // where in the patch it begins, from 1
	Start   int      // the line that it expects to begin at, from 1; -1 = not said
	Anchors []string // lines that stand before it, from the top
	AtEnd   bool     // it is at the end of the file
	lines   []line
}

// line is one line of a hunk, without its end.
type line struct {
	op   byte // ' ', '-' or '+'
	text string
	open bool // it has no line end
}

// before returns the lines that the hunk expects to find, and how many of the first and
// of the last are only context.
func (h Hunk) before() (old []string, lead, trail int) {
	first, last := -1, -1
	for i, l := range h.lines {
		if l.op != ' ' {
			if first < 0 {
				first = i
			}
			last = i
		}
		if l.op != '+' {
			old = append(old, bare(l.text))
		}
	}
	if first < 0 {
		return old, 0, 0
	}
	return old, first, len(h.lines) - 1 - last
}

// Parse reads a patch. An error names the line of the patch that it does not
// understand. The paths are as they stand there, and not checked.
func Parse(text string) ([]File, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if wholeCRLF(lines) {
		for i := range lines {
			lines[i] = bare(lines[i])
		}
	}
	p := &parser{lines: lines}
	read := p.unified
	for _, l := range lines {
		if strings.HasPrefix(l, beginPatch) || fileHeader(l) != "" {
			read = p.sections
			break
		}
		if strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "@@") {
			break
		}
	}
	files, err := read()
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, fmt.Errorf("no file header found; expected \"--- a/PATH\" and \"+++ b/PATH\", or %q", beginPatch)
	case len(files) > MaxFiles:
		return nil, fmt.Errorf("it changes %d files, at most %d are possible", len(files), MaxFiles)
	}
	for _, f := range files {
		if len(f.Hunks) > MaxHunks {
			return nil, fmt.Errorf("line %d: the file has %d hunks, at most %d are possible", f.Line, len(f.Hunks), MaxHunks)
		}
	}
	return files, nil
}

// wholeCRLF reports whether a patch itself, and not just what it changes, was stored
// with CRLF line ends: then its headers have them, too.
func wholeCRLF(lines []string) bool {
	for _, l := range lines {
		if strings.HasPrefix(l, "+++ ") || strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "*** ") {
			return strings.HasSuffix(l, "\r")
		}
	}
	return false
}

// parser reads lines; next is the index of the one to read.
type parser struct {
	lines []string
	next  int
}

// peek returns the line that is n lines ahead, "" behind the end.
func (p *parser) peek(n int) string {
	if p.next+n >= len(p.lines) {
		return ""
	}
	return p.lines[p.next+n]
}

func (p *parser) more() bool { return p.next < len(p.lines) }

// fail returns an error at the next line.
func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", p.next+1, fmt.Sprintf(format, args...))
}

// quote shows a line of the patch in an error.
func quote(s string) string {
	return fmt.Sprintf("%q", texts.ClipBytes(s, 100))
}

// bare returns a line without its end.
func bare(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}
