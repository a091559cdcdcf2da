package markup

import (
	"cmp"
	"iter"
	"path"
	"strconv"
	"strings"
)

// fileDiff holds what a diff says of one file. What stands above the first of its hunks and is not about a
// file is in notes; a diff that names no file has no name.
type fileDiff struct {
	notes          []string
	verb           string // edit, new, delete or rename
	name, was      string // was is the name before a rename
	facts          []string
	added, deleted int
	last           int  // the greatest number of a line
	git            bool // git says more of it before its names
	marked         bool // FileMark named it
	counted        bool // and counted its lines
	hunks          []hunk
}

// hunk is a stretch of a diff.
type hunk struct {
	section string // what git says that it is in
	lines   []diffLine
}

// diffLine is a line of a hunk.
type diffLine struct {
	sign   byte // blank, + or -; \ says something of the end of the file
	number int  // in the new file, of a deleted line in the old one; 0 where it is not known
	text   string
}

func (l diffLine) changed() bool { return l.sign == '+' || l.sign == '-' }

// diffReader reads a diff line by line. All it keeps are parts of the diff's own text.
type diffReader struct {
	files    []fileDiff
	was, now stretch // where the open hunk's next lines are in the two files
	open     bool    // a hunk has lines that did not come yet, or ended just now
	loose    bool    // the last hunk is of lines outside of any
}

// stretch locates lines of a file that have not been read yet.
type stretch struct{ line, count int }

// readDiff reads the diffs of any number of files, as git, diff and the tools for files write them. A hunk has as
// many lines as its header says, so that no line of a file is taken for a header; a line that is none of a
// diff is a note, and a line with a sign outside of hunks one without a number.
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
			r.begin(fileDiff{verb: "edit", name: gitName(line), git: true})
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

// begin begins a file, which takes over notes that stand above it.
func (r *diffReader) begin(f fileDiff) {
	if n := len(r.files) - 1; n >= 0 && r.files[n].name == "" && r.files[n].hunks == nil {
		f.notes = r.files[n].notes
		r.files = r.files[:n]
	}
	r.files, r.loose = append(r.files, f), false
}

// file returns the file that lines are about now.
func (r *diffReader) file() *fileDiff {
	if len(r.files) == 0 {
		r.files = append(r.files, fileDiff{})
	}
	return &r.files[len(r.files)-1]
}

// nothing stands in diffs for a file that is not there.
const nothing = "/dev/null"

// named takes the two lines that name a file. Git, or the line that FileMark begins, says more of it before them.
func (r *diffReader) named(was, now string) {
	f := r.file()
	if f.hunks != nil || !f.git && !f.marks(was) && !f.marks(now) {
		r.begin(fileDiff{})
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
	if !f.marked || strings.HasPrefix(f.name, "/") { // the diff names it from the folder that people know
		f.name = name
	}
}

// marks reports whether the line that FileMark begins is about a file that a diff names, maybe with its whole path.
func (f *fileDiff) marks(name string) bool {
	return f.marked && name != nothing && (f.name == name || strings.HasSuffix(f.name, "/"+name) || strings.HasSuffix(f.name, ":"+name))
}

// nameOf returns the name in a line that names a file, without the time that diff puts behind a tab.
func nameOf(line string) string {
	name, _, _ := strings.Cut(line[len("--- "):], "\t")
	return unquoted(name)
}

// gitName returns the name in the first line that git says of a file: the half of it after " b/".
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

// unquoted returns a name without the quotes that git puts around one with unusual characters.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}

// header takes the header of a hunk: @@ -3,4 +3,5 @@ func Tax.
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

// inHunk takes a line of the open hunk and reports whether it is one.
func (r *diffReader) inHunk(line string) bool {
	l := diffLine{sign: ' ', number: r.now.line}
	if line != "" { // editors and models cut the blank of an empty line off
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

// gitLines are lines that git writes between the name of a file and its hunks, and what of them shows.
var gitLines = []struct {
	begin string
	take  func(f *fileDiff, rest string)
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

// ofGit takes a line in which git says more of a file.
func (r *diffReader) ofGit(line string) bool {
	f := r.file()
	if f.name == "" || f.hunks != nil {
		return false
	}
	for _, g := range gitLines {
		if rest, ok := strings.CutPrefix(line, g.begin); ok {
			g.take(f, rest)
			return true
		}
	}
	return false
}

// other takes a line outside of hunks: one with a sign is one of a diff without numbers.
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
	case f.hunks != nil: // it belongs to what follows
		r.begin(fileDiff{notes: []string{line}})
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

// count counts lines.
func (f *fileDiff) count(added, deleted int) {
	if !f.counted {
		f.added, f.deleted = f.added+added, f.deleted+deleted
	}
}

// language returns what the lexers know the language of a file by.
func (f *fileDiff) language() string {
	name := path.Base(f.name)
	if f.name == "" || len(name) <= maxLanguage {
		return strings.TrimPrefix(name, ".")
	}
	return strings.TrimPrefix(path.Ext(name), ".")
}

const diffContext = 2 // lines around a change that show

// shown yields the numbers of the lines of a hunk that are near to a change, and -1 where lines between them are left
// out: never one alone. A hunk without a change shows whole.
func (h hunk) shown(context int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, end := 0, 0; i < len(h.lines); i = end {
			for end < len(h.lines) && !h.lines[end].changed() {
				end++
			}
			from, to := h.leftOut(i, end, context)
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

// leftOut returns which of some lines between two changes do not show.
func (h hunk) leftOut(i, end, context int) (from, to int) {
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
