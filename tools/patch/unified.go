package patch

import (
	"io/fs"
	"strconv"
	"strings"

	"buddy/texts"
)

// unified parses the files of a unified diff.
func (p *parser) unified() ([]File, error) {
	var files []File
	for p.more() {
		l := p.peek(0)
		var f File
		var err error
		switch {
		case strings.HasPrefix(l, "diff --git "):
			f, err = p.gitFile()
		case p.atNames():
			f = File{Line: p.next + 1}
			err = p.namesAndHunks(&f)
		case len(files) == 0 && !strings.HasPrefix(l, "@@") || between(l):
			p.next++
			continue
		default:
			return nil, p.fail("expected the header of a file, got %s", quote(l))
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// between reports whether a line between files can be ignored.
func between(l string) bool {
	return strings.TrimSpace(l) == "" || strings.HasPrefix(l, "```") || strings.HasPrefix(l, "Index: ") ||
		strings.HasPrefix(l, "====") || strings.HasPrefix(l, "diff ") || l == "--" || strings.HasPrefix(l, "-- ") || versionOf().MatchString(l)
}

// versionOf matches the last line of git format-patch: git's version.
var versionOf = texts.Regexp(`^\d+\.\d+[\d.]*\r?$`)

// atNames reports whether the next two lines are the names of a file.
func (p *parser) atNames() bool {
	return strings.HasPrefix(p.peek(0), "--- ") && strings.HasPrefix(p.peek(1), "+++ ")
}

// gitFile parses one file that begins with "diff --git".
func (p *parser) gitFile() (File, error) {
	f := File{Line: p.next + 1}
	f.Old, f.New = gitNames(strings.TrimPrefix(p.peek(0), "diff --git "))
	p.next++
	var added, deleted bool
	for ; p.more(); p.next++ {
		key, value := header(p.peek(0))
		switch key {
		case "new file mode ":
			added = true
			fallthrough
		case "new mode ":
			mode, err := strconv.ParseUint(value, 8, 32)
			if err != nil || mode>>12 != 0o10 {
				return f, p.fail("only regular files can be made, the mode is %s", quote(value))
			}
			f.Mode = fs.FileMode(mode) & fs.ModePerm
		case "deleted file mode ":
			deleted = true
		case "rename from ":
			f.Old = unquote(value)
		case "rename to ":
			f.New = unquote(value)
		case "copy from ", "copy to ", "GIT binary patch", "Binary files ":
			return f, p.fail("%s is not supported", quote(strings.TrimSpace(key)))
		case "":
			return p.gitRest(f, added, deleted)
		}
	}
	return p.gitRest(f, added, deleted)
}

// gitRest parses the lines after git's headers.
func (p *parser) gitRest(f File, added, deleted bool) (File, error) {
	if p.atNames() && p.belong(f) {
		renamed := f
		if err := p.namesAndHunks(&f); err != nil {
			return f, err
		}
		if f.Old != "" && f.New != "" && renamed.Old != renamed.New {
			f.Old, f.New = renamed.Old, renamed.New // these have no prefix
		}
	} else if f.Old == "" || f.New == "" {
		p.next--
		return f, p.fail("the names of the file are not clear")
	}
	if added {
		f.Old = ""
	}
	if deleted {
		f.New = ""
	}
	return f, nil
}

// belong reports whether the names in the next two lines are those of f. They may not be: after a rename without
// changes, a model's patch may continue with another file.
func (p *parser) belong(f File) bool {
	before, after := stripPair(name(p.peek(0)), name(p.peek(1)))
	return f.Old == "" || f.New == "" || (before == devNull || before == f.Old) && (after == devNull || after == f.New)
}

var headers = []string{
	"new file mode ", "new mode ", "deleted file mode ", "rename from ", "rename to ", "copy from ", "copy to ",
	"GIT binary patch", "Binary files ", "old mode ", "index ", "similarity index ", "dissimilarity index ",
}

// header splits a header line of git. key is "" for other lines.
func header(l string) (key, value string) {
	for _, h := range headers {
		if rest, ok := strings.CutPrefix(l, h); ok {
			return h, strings.TrimSuffix(rest, "\r")
		}
	}
	return "", ""
}

// gitNames returns the two names of a "diff --git" line. They are equal except for the prefix; a rename or copy has its
// names in other headers.
func gitNames(l string) (before, after string) {
	l = strings.TrimSuffix(l, "\r")
	if strings.HasPrefix(l, `"`) {
		if end := strings.Index(l, `" "`); end > 0 {
			return stripPair(unquote(l[:end+1]), unquote(l[end+2:]))
		}
		return "", ""
	}
	if len(l)%2 == 0 || l == "" || l[len(l)/2] != ' ' {
		return "", ""
	}
	before, after = stripPair(l[:len(l)/2], l[len(l)/2+1:])
	if before != after {
		return "", ""
	}
	return before, after
}

// namesAndHunks parses the line "--- " and everything to the end of the file's hunks.
func (p *parser) namesAndHunks(f *File) error {
	before, after := name(p.peek(0)), name(p.peek(1))
	if before == devNull && after == devNull {
		return p.fail("both names are %s", devNull)
	}
	f.Old, f.New = stripPair(before, after)
	if f.Old == devNull {
		f.Old = ""
	}
	if f.New == devNull {
		f.New = ""
	}
	p.next += 2
	for strings.HasPrefix(p.peek(0), "@@") {
		h, err := p.hunk()
		if err != nil {
			return err
		}
		f.Hunks = append(f.Hunks, h)
	}
	if len(f.Hunks) == 0 {
		return p.fail("expected a hunk that begins with @@, got %s", quote(p.peek(0)))
	}
	return nil
}

const devNull = "/dev/null"

// name returns the path in a line "--- PATH" or "+++ PATH", without the time after it.
func name(l string) string {
	l, _, _ = strings.Cut(l[len("--- "):], "\t")
	return unquote(strings.TrimRight(l, " \r"))
}

// unquote decodes git's quoting of unusual names.
func unquote(s string) string {
	if s, err := strconv.Unquote(s); err == nil {
		return s
	}
	return s
}

// stripPair removes the prefixes a/ and b/ if both names have them.
func stripPair(before, after string) (string, string) {
	a, okA := strings.CutPrefix(before, "a/")
	b, okB := strings.CutPrefix(after, "b/")
	if (okA || before == devNull) && (okB || after == devNull) {
		return a, b
	}
	return before, after
}

var hunkHeader = texts.Regexp(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)

func (p *parser) hunk() (Hunk, error) {
	l := bare(p.peek(0))
	h := Hunk{Line: p.next + 1, Start: -1}
	if strings.HasPrefix(l, "@@@") {
		return h, p.fail("a diff of a merge is not supported")
	}
	m := hunkHeader().FindStringSubmatch(l)
	p.next++
	if m == nil { // the header has no line numbers: its text is a line of the file
		anchor := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(l, "@@"), "@@"), " ")
		if strings.Trim(anchor, ".…-+,0123456789 ") != "" {
			h.Anchors = []string{anchor}
		}
		return h, p.looseBody(&h)
	}
	h.Start = count(m[1])
	at := p.next
	if !p.countedBody(&h, count(m[2]), count(m[4])) {
		p.next, h.lines = at, nil
		return h, p.looseBody(&h)
	}
	return h, nil
}

// count returns the number in a hunk's header; 1 when omitted.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s) // at most 9 digits
	return n
}

// countedBody reads as many lines as the header announces. It reports whether there are so many and the hunk ends after
// them.
func (p *parser) countedBody(h *Hunk, before, after int) bool {
	for before > 0 || after > 0 {
		if !p.more() || !p.readLine(h) {
			return false
		}
		if l := h.lines[len(h.lines)-1]; !strings.HasPrefix(p.lines[p.next-1], `\`) {
			if l.op != '+' {
				before--
			}
			if l.op != '-' {
				after--
			}
		}
	}
	if strings.HasPrefix(p.peek(0), `\`) {
		p.readLine(h)
	}
	return before == 0 && after == 0 && p.hunkEnds()
}

// hunkEnds reports whether the next line can't belong to a hunk.
func (p *parser) hunkEnds() bool {
	l := p.peek(0)
	return !p.more() || between(l) || p.atNames() || !strings.ContainsAny(l[:1], "+- ")
}

// looseBody reads a hunk up to the next header, whatever number of lines its own header announces.
func (p *parser) looseBody(h *Hunk) error {
	for p.more() && !p.atNames() && p.readLine(h) {
	}
	h.dropBlankEnd()
	if len(h.lines) == 0 {
		return p.fail("the hunk at line %d is empty", h.Line)
	}
	return nil
}

// readLine reads one line of a hunk and reports whether the line belongs to the hunk.
func (p *parser) readLine(h *Hunk) bool {
	l := p.peek(0)
	switch {
	case l == "" || l == "\r": // an editor or a model removed the space
		h.lines = append(h.lines, line{op: ' ', text: l})
	case l[0] == ' ' || l[0] == '+' || l[0] == '-':
		h.lines = append(h.lines, line{op: l[0], text: l[1:]})
	case l[0] == '\\' && len(h.lines) > 0:
		h.lines[len(h.lines)-1].open = true
	default:
		return false
	}
	p.next++
	return true
}

// dropBlankEnd removes blank lines at the end of a hunk.
func (h *Hunk) dropBlankEnd() {
	for n := len(h.lines); n > 0 && h.lines[n-1].op == ' ' && bare(h.lines[n-1].text) == ""; n-- {
		h.lines = h.lines[:n-1]
	}
}
