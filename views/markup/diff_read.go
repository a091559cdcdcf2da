package markup

import (
	"cmp"
	"iter"
	"path"
	"strconv"
	"strings"
)

// fileDiff is the part of a diff about one file. notes holds unrelated lines above its first hunk. name is "" if the
// diff names no file.
type fileDiff struct {
	notes          []string
	verb           string // edit, new, delete or rename
	name, was      string // was is the name before a rename
	facts          []string
	added, deleted int
	last           int  // the greatest line number
	git            bool // git's extended header came before the names
	marked         bool // FileMark named it
	counted        bool // the line of FileMark counted its lines
	hunks          []hunk
}

type hunk struct {
	section string // git's description of its context
	lines   []diffLine
}

type diffLine struct {
	sign   byte // space, + or -; \ for a note about the end of the file
	number int  // in the new file, or in the old file for a deleted line; 0: unknown
	text   string
}

func (l diffLine) changed() bool { return l.sign == '+' || l.sign == '-' }

// diffReader parses a diff line by line. It keeps slices of the diff's text.
type diffReader struct {
	files    []fileDiff
	was, now stretch // the next lines of the open hunk in the two files
	open     bool    // the last hunk may continue
	loose    bool    // the last hunk has lines without a header
}

// stretch holds the next line number of a side of a hunk, and the number of its lines that have not been read.
type stretch struct{ line, count int }

// readDiff parses the diffs of any number of files in the formats of git, diff and the file tools. A hunk has as many
// lines as its header announces, so that content is never mistaken for a header. Outside of hunks, lines with a sign
// are changes without line numbers, and all others are notes.
func readDiff(src string) []fileDiff {
	r := diffReader{}
	for src != "" {
		line, rest, _ := strings.Cut(src, "\n")
		next, _, _ := strings.Cut(rest, "\n")
		src = rest
		if r.open && r.inHunk(line) {
			continue
		}
		r.open = false
		line, next = strings.TrimSuffix(line, "\r"), strings.TrimSuffix(next, "\r")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			r.addFile(fileDiff{verb: "edit", name: gitName(line), git: true})
		case strings.HasPrefix(line, "--- ") && strings.HasPrefix(next, "+++ "):
			r.named(nameOf(line), nameOf(next))
			_, src, _ = strings.Cut(rest, "\n")
		case r.header(line), r.ofGit(line), r.marked(line):
		default:
			r.other(line)
		}
	}
	return r.files
}

// addFile starts a file, with the notes above it.
func (r *diffReader) addFile(f fileDiff) {
	if n := len(r.files) - 1; n >= 0 && r.files[n].name == "" && r.files[n].hunks == nil {
		f.notes = r.files[n].notes
		r.files = r.files[:n]
	}
	r.files, r.loose = append(r.files, f), false
}

// file returns the current file.
func (r *diffReader) file() *fileDiff {
	if len(r.files) == 0 {
		r.files = append(r.files, fileDiff{})
	}
	return &r.files[len(r.files)-1]
}

// nothing is the name of a missing file in diffs.
const nothing = "/dev/null"

// named handles the --- and +++ lines, which name a file that git's extended header or FileMark may have named already.
func (r *diffReader) named(was, now string) {
	f := r.file()
	if f.hunks != nil || !f.git && !f.marks(was) && !f.marks(now) {
		r.addFile(fileDiff{})
		f = r.file()
	}
	if a, b := strings.TrimPrefix(was, "a/"), strings.TrimPrefix(now, "b/"); f.git || a == b {
		was, now = a, b
	}
	name := now
	switch {
	case was == nothing:
		f.verb = "new"
	case now == nothing:
		f.verb, name = "delete", was
	default:
		f.verb = cmp.Or(f.verb, "edit")
	}
	if !f.marked || strings.HasPrefix(f.name, "/") { // the path in the diff is relative to a folder that people know
		f.name = name
	}
}

// marks reports whether FileMark named the file that a diff names, perhaps with its whole path.
func (f *fileDiff) marks(name string) bool {
	return f.marked && name != nothing && (f.name == name || strings.HasSuffix(f.name, "/"+name) || strings.HasSuffix(f.name, ":"+name))
}

// nameOf returns the name in a line that names a file, without the time after a tab.
func nameOf(line string) string {
	name, _, _ := strings.Cut(line[len("--- "):], "\t")
	return unquoted(name)
}

// gitName returns the name in the "diff --git" line of a file: the half after " b/".
func gitName(line string) string {
	names := strings.TrimPrefix(line, "diff --git ")
	if half := len(names) / 2; len(names)%2 == 1 && strings.TrimPrefix(names[:half], "a/") == strings.TrimPrefix(names[half+1:], "b/") {
		return strings.TrimPrefix(names[half+1:], "b/")
	}
	if i := strings.LastIndex(names, " b/"); i >= 0 {
		return names[i+len(" b/"):]
	}
	return unquoted(names)
}

// unquoted removes git's quotes around a name with unusual characters.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}

// header parses the header of a hunk: @@ -3,4 +3,5 @@ func Tax.
func (r *diffReader) header(line string) bool {
	f := strings.SplitN(line, " ", 5)
	if len(f) < 4 || f[0] != "@@" || f[3] != "@@" {
		return false
	}
	was, ok := readStretch(f[1], "-")
	now, signed := readStretch(f[2], "+")
	if !ok || !signed {
		return false
	}
	h := hunk{}
	if len(f) == 5 {
		h.section = f[4]
	}
	r.was, r.now, r.open, r.loose = was, now, true, false
	file := r.file()
	file.hunks = append(file.hunks, h)
	return true
}

func readStretch(text, sign string) (s stretch, ok bool) {
	text, signed := strings.CutPrefix(text, sign)
	first, count, counted := strings.Cut(text, ",")
	line, err := strconv.Atoi(first)
	s = stretch{line, 1}
	if counted && err == nil {
		s.count, err = strconv.Atoi(count)
	}
	return s, signed && err == nil && s.line >= 0 && s.count >= 0
}

// inHunk adds a line to the open hunk and reports whether it belongs there.
func (r *diffReader) inHunk(line string) bool {
	l := diffLine{sign: ' ', number: r.now.line}
	if line != "" { // editors and models strip the space of an empty line
		l.sign, l.text = line[0], line[1:]
	}
	file := r.file()
	switch {
	case l.sign == '\\':
	case l.sign == '-' && r.was.count > 0:
		l.number = r.was.line
		r.was.line, r.was.count = r.was.line+1, r.was.count-1
		file.count(0, 1)
	case l.sign == '+' && r.now.count > 0:
		r.now.line, r.now.count = r.now.line+1, r.now.count-1
		file.count(1, 0)
	case l.sign == ' ' && r.was.count > 0 && r.now.count > 0:
		r.was.line, r.was.count = r.was.line+1, r.was.count-1
		r.now.line, r.now.count = r.now.line+1, r.now.count-1
	default:
		return false
	}
	h := &file.hunks[len(file.hunks)-1]
	h.lines, file.last = append(h.lines, l), max(file.last, l.number)
	return true
}

// gitLines lists the lines of git's extended header and their effects.
var gitLines = []struct {
	addFile string
	apply   func(f *fileDiff, rest string)
}{
	{"index ", func(*fileDiff, string) {}},
	{"similarity index ", func(*fileDiff, string) {}},
	{"dissimilarity index ", func(*fileDiff, string) {}},
	{"new file mode ", func(f *fileDiff, mode string) {
		f.verb = "new"
		if mode != "100644" {
			f.facts = append(f.facts, "mode "+mode)
		}
	}},
	{"deleted file mode ", func(f *fileDiff, _ string) { f.verb = "delete" }},
	{"old mode ", func(f *fileDiff, mode string) { f.facts = append(f.facts, "mode "+mode) }},
	{"new mode ", func(f *fileDiff, mode string) { f.facts = append(f.facts, "→ "+mode) }},
	{"rename from ", func(f *fileDiff, name string) { f.verb, f.was = "rename", unquoted(name) }},
	{"rename to ", func(f *fileDiff, name string) { f.name = unquoted(name) }},
	{"Binary files ", func(f *fileDiff, _ string) { f.facts = append(f.facts, "not text") }},
}

// ofGit handles a line of git's extended header.
func (r *diffReader) ofGit(line string) bool {
	f := r.file()
	if f.name == "" || f.hunks != nil {
		return false
	}
	for _, g := range gitLines {
		if rest, ok := strings.CutPrefix(line, g.addFile); ok {
			g.apply(f, rest)
			return true
		}
	}
	return false
}

// other handles a line outside of hunks. A line with a sign belongs to a diff without line numbers.
func (r *diffReader) other(line string) {
	f := r.file()
	sign := byte(' ')
	if line != "" {
		sign = line[0]
	}
	l := diffLine{sign: sign}
	switch {
	case l.changed() && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++"):
		l.text = line[1:]
	case r.loose && line != "" && sign == ' ':
		l.text = line[1:]
	case f.hunks != nil: // the note belongs to the text below
		r.addFile(fileDiff{notes: []string{line}})
		return
	default:
		f.notes = append(f.notes, line)
		return
	}
	if !r.loose {
		f.hunks, r.loose = append(f.hunks, hunk{}), true
	}
	switch l.sign {
	case '+':
		f.count(1, 0)
	case '-':
		f.count(0, 1)
	}
	h := &f.hunks[len(f.hunks)-1]
	h.lines = append(h.lines, l)
}

// count adds line counts unless FileMark gave them.
func (f *fileDiff) count(added, deleted int) {
	if !f.counted {
		f.added, f.deleted = f.added+added, f.deleted+deleted
	}
}

// language returns the name by which lexers know the language of the file.
func (f *fileDiff) language() string {
	name := path.Base(f.name)
	if f.name == "" || len(name) <= maxLanguage {
		return strings.TrimPrefix(name, ".")
	}
	return strings.TrimPrefix(path.Ext(name), ".")
}

const diffContext = 2 // context lines around a change

// shown yields the indexes of the lines near a change, and -1 for two or more omitted lines between them. A hunk
// without changes is shown in full.
func (h hunk) shown(context int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, end := 0, 0; i < len(h.lines); i = end {
			for end < len(h.lines) && !h.lines[end].changed() {
				end++
			}
			from, to := h.omitted(i, end, context)
			for k := i; k < end; k++ {
				if k == from && to > from {
					if k = to; from > 0 && to < len(h.lines) && !yield(-1) {
						return
					}
				}
				if k < end && !yield(k) {
					return
				}
			}
			for end < len(h.lines) && h.lines[end].changed() {
				if !yield(end) {
					return
				}
				end++
			}
		}
	}
}

// omitted returns the lines between two changes that are not shown.
func (h hunk) omitted(i, end, context int) (from, to int) {
	before, after := i > 0, end < len(h.lines)
	from, to = i, end
	if before {
		from = min(i+context, end)
	}
	if after {
		to = max(end-context, from)
	}
	if !before && !after || before && after && to-from == 1 {
		return end, end
	}
	return from, to
}

// Change is a hunk of a diff: the lines before and after the change, with the unchanged lines around it.
type Change struct {
	File     string // "" if the diff names none
	New      bool   // the file is new
	Old, Now string
}

// Changes returns the hunks of a diff.
func Changes(src string) (all []Change) {
	for _, f := range readDiff(src) {
		for _, h := range f.hunks {
			var old, now strings.Builder
			for _, l := range h.lines {
				if l.sign == ' ' || l.sign == '-' {
					old.WriteString(l.text + "\n")
				}
				if l.sign == ' ' || l.sign == '+' {
					now.WriteString(l.text + "\n")
				}
			}
			all = append(all, Change{f.name, f.verb == "new", old.String(), now.String()})
		}
	}
	return all
}
