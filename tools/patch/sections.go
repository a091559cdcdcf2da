package patch

import "strings"

// The marker lines of the format that begins with "*** Begin Patch".
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	endOfFile  = "*** End of File"
	addFile    = "*** Add File:"
	updateFile = "*** Update File:"
	deleteFile = "*** Delete File:"
	moveTo     = "*** Move to:"
)

// fileHeader returns the kind of section header that l is, or "".
func fileHeader(l string) string {
	for _, h := range []string{addFile, updateFile, deleteFile} {
		if strings.HasPrefix(l, h) {
			return h
		}
	}
	return ""
}

// sections parses a patch in the format with sections.
func (p *parser) sections() ([]File, error) {
	var files []File
	for p.more() && fileHeader(p.peek(0)) == "" {
		p.next++
	}
	for p.more() {
		l := p.peek(0)
		if strings.HasPrefix(l, endPatch) {
			break
		}
		kind := fileHeader(l)
		if kind == "" {
			if strings.TrimSpace(l) == "" {
				p.next++
				continue
			}
			return nil, p.fail("expected %q, %q, %q or %q, got %s", addFile, updateFile, deleteFile, endPatch, quote(l))
		}
		f, err := p.section(kind, strings.TrimSpace(strings.TrimPrefix(l, kind)))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (p *parser) section(kind, path string) (File, error) {
	f := File{Line: p.next + 1}
	if path == "" {
		return f, p.fail("the path is missing")
	}
	p.next++
	switch kind {
	case deleteFile:
		f.Old = path
		return f, nil
	case addFile:
		f.New = path
		h := Hunk{Line: p.next + 1, Start: -1}
		for p.more() && strings.HasPrefix(p.peek(0), "+") {
			p.readLine(&h)
		}
		if len(h.lines) > 0 {
			f.Hunks = []Hunk{h}
		}
		if l := p.peek(0); l != "" && !strings.HasPrefix(l, "*** ") {
			return f, p.fail("each line of a new file begins with +, got %s", quote(l))
		}
		return f, nil
	}
	f.Old, f.New = path, path
	if to, ok := strings.CutPrefix(p.peek(0), moveTo); ok {
		f.New = strings.TrimSpace(to)
		p.next++
		if f.New == "" {
			p.next--
			return f, p.fail("the path is missing")
		}
	}
	return f, p.update(&f)
}

func (p *parser) update(f *File) error {
	for p.more() && (!strings.HasPrefix(p.peek(0), "*** ") || strings.HasPrefix(p.peek(0), endOfFile)) {
		h, err := p.sectionHunk()
		if err != nil {
			return err
		}
		if len(h.lines) > 0 {
			f.Hunks = append(f.Hunks, h)
		} else if len(h.Anchors) > 0 || h.AtEnd {
			return p.fail("the hunk at line %d is empty", h.Line)
		}
	}
	if len(f.Hunks) == 0 && f.Old == f.New {
		return p.fail("no hunk for %s", quote(f.Old))
	}
	return nil
}

// sectionHunk parses the lines that begin with @@, if any, and the hunk after them.
func (p *parser) sectionHunk() (Hunk, error) {
	h := Hunk{Line: p.next + 1, Start: -1}
	for strings.HasPrefix(p.peek(0), "@@") {
		if anchor := strings.Trim(strings.TrimSuffix(bare(p.peek(0))[2:], "@@"), " "); anchor != "" {
			h.Anchors = append(h.Anchors, anchor)
		}
		p.next++
	}
	for p.more() && p.readLine(&h) {
	}
	h.dropBlankEnd()
	switch l := p.peek(0); {
	case strings.HasPrefix(l, endOfFile):
		h.AtEnd = true
		p.next++
	case p.more() && !strings.HasPrefix(l, "@@") && !strings.HasPrefix(l, "*** "):
		return h, p.fail("expected a line that begins with a space, + or -, got %s", quote(l))
	}
	return h, nil
}
