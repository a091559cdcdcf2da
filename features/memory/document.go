package memory

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"buddy/texts"
)

// Problem describes a part of a memory file that is ignored.
type Problem struct {
	File string
	Line int // 0: the whole file
	Why  string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + " " + p.Why
	}
	return fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Why)
}

// document is a parsed memory file. All lines keep their bytes.
type document struct {
	lines []line
}

// line is one line of a file, with its line end. entry is nil for a line that is ignored.
type line struct {
	raw   string
	entry *Entry
	kind  Kind // the kind of its section, "" for none
}

var heading = texts.Regexp(`^#{1,6}[ \t]+(.*?)[ \t#]*$`)

// bulleted returns the text of a list item, and whether the line is one.
func bulleted(text string) (content string, ok bool) {
	rest := strings.TrimLeft(text, " ")
	if len(text)-len(rest) > 3 || len(rest) < 2 || !strings.ContainsRune("-*+", rune(rest[0])) || rest[1] != ' ' && rest[1] != '\t' {
		return "", false
	}
	return rest[2:], true
}

// noted splits a text from the comment at its end.
func noted(text string) (content string, note Note) {
	before, rest, ok := strings.Cut(text, "<!--")
	inside, end := strings.CutSuffix(strings.TrimRight(rest, " \t"), "-->")
	if !ok || !end {
		return text, nil
	}
	return before, parseNote(inside)
}

// parse reads a memory file. Lines that are not entries stay as text.
func parse(data []byte) (document, []Problem) {
	p := parser{}
	for raw := range bytes.Lines(data) {
		p.line(string(raw))
	}
	if p.marked > 0 {
		p.report(p.marked, "has merge conflict markers, so both sides count")
	}
	p.dropDoubles()
	return p.doc, p.problems
}

// bytes returns the content of the file.
func (d document) bytes() []byte {
	var b bytes.Buffer
	for _, l := range d.lines {
		b.WriteString(l.raw)
	}
	return b.Bytes()
}

// entries returns all entries in file order.
func (d document) entries() []Entry {
	all := make([]Entry, 0, len(d.lines))
	for _, l := range d.lines {
		if l.entry != nil {
			all = append(all, *l.entry)
		}
	}
	return all
}

// parser reads a file line by line.
type parser struct {
	doc      document
	problems []Problem
	kind     Kind
	fence    string // the mark that ends the code block
	comment  bool   // inside a comment of several lines
	base     bool   // in the common ancestor part of a merge conflict, which neither side uses
	conflict bool
	marked   int // the first line with a conflict mark
}

func (p *parser) report(line int, why string) {
	p.problems = append(p.problems, Problem{Line: line, Why: why})
}

func (p *parser) line(raw string) {
	text := strings.TrimRight(raw, "\r\n")
	if len(p.doc.lines) == 0 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	p.doc.lines = append(p.doc.lines, line{raw: raw, kind: p.kind})
	at := &p.doc.lines[len(p.doc.lines)-1]
	switch {
	case p.block(text), p.mark(text), p.base:
	case heading().MatchString(text):
		p.kind = kindOf(heading().FindStringSubmatch(text)[1])
		at.kind = p.kind
	case p.kind != "":
		p.entry(at, text)
	}
}

// kindOf returns the kind for a heading, "" for an unknown heading.
func kindOf(title string) Kind {
	for _, s := range sections {
		if strings.EqualFold(strings.TrimSpace(title), s.heading) {
			return s.kind
		}
	}
	return ""
}

// block reports whether a line belongs to a code block or a comment of several lines.
func (p *parser) block(text string) bool {
	trimmed := strings.TrimSpace(text)
	switch {
	case p.fence != "":
		if strings.HasPrefix(trimmed, p.fence) {
			p.fence = ""
		}
		return true
	case p.comment:
		p.comment = !strings.Contains(text, "-->")
		return true
	case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
		p.fence = trimmed[:3]
		return true
	}
	if i := strings.LastIndex(text, "<!--"); i >= 0 && !strings.Contains(text[i:], "-->") {
		p.comment = true
		if _, ok := bulleted(text); ok {
			p.report(len(p.doc.lines), "has a comment without an end")
		}
		return true
	}
	return false
}

// mark reports whether a line belongs to the marks of a merge conflict.
func (p *parser) mark(text string) bool {
	switch {
	case strings.HasPrefix(text, "<<<<<<< "):
		p.conflict, p.base = true, false
		if p.marked == 0 {
			p.marked = len(p.doc.lines)
		}
		return true
	case p.conflict && strings.HasPrefix(text, "|||||||"):
		p.base = true
		return true
	case p.conflict && text == "=======":
		p.base = false
		return true
	case p.conflict && strings.HasPrefix(text, ">>>>>>> "):
		p.conflict, p.base = false, false
		return true
	}
	return false
}

// entry parses a line in a section of entries.
func (p *parser) entry(at *line, text string) {
	content, ok := bulleted(text)
	if !ok {
		return
	}
	content, note := noted(content)
	content = strings.TrimSpace(content)
	number := len(p.doc.lines)
	switch {
	case content == "":
		return
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		p.report(number, "was skipped: it has bytes that are not text")
	case utf8.RuneCountInString(content) > MaxText:
		p.report(number, fmt.Sprintf("was skipped: it has more than %d characters", MaxText))
	default:
		at.entry = &Entry{ID: note.id(), Kind: p.kind, Text: content, Note: note, Line: number}
	}
}

// dropDoubles keeps one entry of each id: the newest, or the last one of the same day. Entries without an id get one
// derived from their text.
func (p *parser) dropDoubles() {
	known := make(map[string]*line)
	for i := range p.doc.lines {
		l := &p.doc.lines[i]
		if l.entry == nil || l.entry.ID == "" {
			continue
		}
		before := known[l.entry.ID]
		if before == nil {
			known[l.entry.ID] = l
			continue
		}
		older := before
		if l.entry.Note.confirmed().Before(before.entry.Note.confirmed()) {
			older = l
		} else {
			known[l.entry.ID] = l
		}
		p.report(older.entry.Line, fmt.Sprintf("was skipped: a newer %s is in line %d", older.entry.ID, known[older.entry.ID].entry.Line))
		older.entry = nil
	}
	for i := range p.doc.lines {
		e := p.doc.lines[i].entry
		if e == nil || e.ID != "" {
			continue
		}
		e.ID = newID(letterOf(e.Kind), 4, func(id string) bool { return known[id] != nil }, e.Text)
		known[e.ID] = &p.doc.lines[i]
	}
}

// eol returns the line end of the file.
func (d document) eol() string {
	for _, l := range d.lines {
		if strings.HasSuffix(l.raw, "\r\n") {
			return "\r\n"
		}
		if strings.HasSuffix(l.raw, "\n") {
			return "\n"
		}
	}
	return "\n"
}

// find returns the index of an entry's line, or -1.
func (d document) find(id string) int {
	return slices.IndexFunc(d.lines, func(l line) bool { return l.entry != nil && l.entry.ID == id })
}

// format returns an entry as a line.
func format(e Entry, eol string) string {
	text := "- " + e.Text
	if len(e.Note) > 0 {
		text += " <!-- " + e.Note.String() + " -->"
	}
	return text + eol
}

// add appends an entry to its section, and makes the section if there is none.
func (d *document) add(e Entry) {
	at := -1
	for i, l := range d.lines {
		if l.kind == e.Kind && strings.TrimSpace(l.raw) != "" {
			at = i
		}
	}
	eol := d.eol()
	if at < 0 {
		title := ""
		for _, s := range sections {
			if s.kind == e.Kind {
				title = "## " + s.heading + eol
			}
		}
		d.endLast(eol)
		if n := len(d.lines); n > 0 && strings.TrimSpace(d.lines[n-1].raw) != "" {
			d.lines = append(d.lines, line{raw: eol})
		}
		d.lines = append(d.lines, line{raw: title, kind: e.Kind})
		at = len(d.lines) - 1
	}
	if at == len(d.lines)-1 {
		d.endLast(eol)
	}
	d.lines = slices.Insert(d.lines, at+1, line{raw: format(e, eol), entry: &e, kind: e.Kind})
}

// endLast adds a missing line end to the last line.
func (d *document) endLast(eol string) {
	if n := len(d.lines); n > 0 && !strings.HasSuffix(d.lines[n-1].raw, "\n") {
		d.lines[n-1].raw += eol
	}
}

// replace rewrites the line of an entry.
func (d *document) replace(i int, e Entry) {
	eol := d.lines[i].raw[len(strings.TrimRight(d.lines[i].raw, "\r\n")):]
	d.lines[i].raw, d.lines[i].entry = format(e, eol), &e
}

func (d *document) remove(i int) { d.lines = slices.Delete(d.lines, i, i+1) }

// complete adds an id and a date to entries that people wrote without them.
func (d *document) complete(today string) {
	for i, l := range d.lines {
		if l.entry == nil || l.entry.Note.id() != "" {
			continue
		}
		e := *l.entry
		head := Note{e.ID}
		if e.Note.Date().IsZero() {
			head = append(head, today)
		}
		e.Note = slices.Concat(head, e.Note)
		d.replace(i, e)
	}
}
