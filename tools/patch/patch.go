// Package patch applies patches to the text of files. It reads unified diffs, with or without git's headers, and the
// format that begins with "*** Begin Patch".
//
//	files, err := patch.Parse(text)
//	after, err := files[0].Apply(before) // a *Mismatch names the lines that were not found
//
// It is made for diffs that a model wrote: line numbers may be wrong, and empty lines may lack their leading space.
// But it never guesses: if the position of a hunk is not certain, Apply fails. The package does no I/O.
//
// The package does not use go-gitdiff (0.9.0), which refuses wrong line counts, and silently drops a hunk without
// numbers.
package patch

import (
	"fmt"
	"io/fs"
	"strings"

	"buddy/texts"
)

const (
	// MaxFiles is the largest number of files in one patch.
	MaxFiles = 100
	// MaxHunks is the largest number of hunks for one file.
	MaxHunks = 1000
	// Fuzz is the number of context lines that may differ at either end of a hunk.
	Fuzz = 2
)

// File is the change of one file.
type File struct {
	Old   string      // path before; "" for a new file
	New   string      // path after; "" for a deleted file
	Mode  fs.FileMode // permissions after; 0 for unchanged
	Hunks []Hunk
	Line  int // first line in the patch, from 1
}

// Hunk is a change of consecutive lines.
type Hunk struct {
	Line    int      // first line in the patch, from 1
	Start   int      // first line in the file, from 1; -1 if not given
	Anchors []string // lines of the file before the hunk, from the top
	AtEnd   bool     // the hunk ends at the end of the file
	lines   []line
}

// line is one line of a hunk, without its end.
type line struct {
	op   byte // ' ', '-' or '+'
	text string
	open bool // the line has no line end
}

// before returns the lines that the hunk expects in the file, and how many context lines are at their start and end.
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

// Parse reads a patch. An error names the first line of the patch that is not understood.
// Paths are returned as written, unchecked.
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

// wholeCRLF reports whether the patch itself was stored with CRLF line ends, so that even its headers have them.
func wholeCRLF(lines []string) bool {
	for _, l := range lines {
		if strings.HasPrefix(l, "+++ ") || strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "*** ") {
			return strings.HasSuffix(l, "\r")
		}
	}
	return false
}

// parser reads lines; next is the index of the next one.
type parser struct {
	lines []string
	next  int
}

// peek returns the line n lines ahead, "" after the end.
func (p *parser) peek(n int) string {
	if p.next+n >= len(p.lines) {
		return ""
	}
	return p.lines[p.next+n]
}

func (p *parser) more() bool { return p.next < len(p.lines) }

// fail returns an error about the next line.
func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", p.next+1, fmt.Sprintf(format, args...))
}

// quote formats a line of the patch for an error.
func quote(s string) string {
	return fmt.Sprintf("%q", texts.ClipBytes(s, 100))
}

// bare returns a line without its end.
func bare(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}
