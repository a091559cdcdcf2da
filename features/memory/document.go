package memory

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"buddy/texts"
)

// Problem is something in a file of memory that does not count.
type Problem struct {
	File string
	Line int // 0: the file
	Why  string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + " " + p.Why
	}
	return fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Why)
}

// document is a file of memory. Its lines keep their bytes, whatever they are.
type document struct {
	lines []line
}

// line is one line of a file, with its end. entry is set for those that count.
type line struct {
	raw   string
	entry *Entry
	kind  Kind // of the section that it is in, "" for none
}

var heading = texts.Regexp(`^#{1,6}[ \t]+(.*?)[ \t#]*$`)

// bulleted returns what is said in a line of a list, and whether it is one.
func bulleted(text string) (said string, ok bool) {
	rest := strings.TrimLeft(text, " ")
	if len(text)-len(rest) > 3 || len(rest) < 2 || !strings.ContainsRune("-*+", rune(rest[0])) || rest[1] != ' ' && rest[1] != '\t' {
		return "", false
	}
	return rest[2:], true
}

// noted returns a text and the comment at its end, if there is one.
func noted(text string) (said string, note Note) {
	before, rest, ok := strings.Cut(text, "<!--")
	inside, end := strings.CutSuffix(strings.TrimRight(rest, " \t"), "-->")
	if !ok || !end {
		return text, nil
	}
	return before, parseNote(inside)
}

// parse reads a file of memory. Nothing of it gets lost: what is no entry stays as text.
func parse(data []byte) (document, []Problem) {
	p := parser{}
	for raw := range bytes.Lines(data) {
		p.line(string(raw))
	}
	if p.marked > 0 {
		p.say(p.marked, "has marks of a merge conflict: both sides count")
	}
	p.dropDoubles()
	return p.doc, p.problems
}

// bytes returns the file.
func (d document) bytes() []byte {
	var b bytes.Buffer
	for _, l := range d.lines {
		b.WriteString(l.raw)
	}
	return b.Bytes()
}

// entries returns what counts, in the order of the file.
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
	fence    string // that ends the code block
	comment  bool   // in one that goes over lines
	base     bool   // in the middle part of a conflict of three, which neither side has any more
	conflict bool
	marked   int // the first line with a conflict
}

func (p *parser) say(line int, why string) {
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

// kindOf returns the kind of the entries below a heading, "" for another one.
func kindOf(title string) Kind {
	for _, s := range sections {
		if strings.EqualFold(strings.TrimSpace(title), s.heading) {
			return s.kind
		}
	}
	return ""
}

// block reports whether a line belongs to a code block or to a comment that goes over lines.
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
			p.say(len(p.doc.lines), "has a comment without an end")
		}
		return true
	}
	return false
}

// mark reports whether a line is a mark of a merge conflict.
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

// entry reads a line below a heading of ours.
func (p *parser) entry(at *line, text string) {
	said, ok := bulleted(text)
	if !ok {
		return
	}
	said, note := noted(said)
	said = strings.TrimSpace(said)
	number := len(p.doc.lines)
	switch {
	case said == "":
		return
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		p.say(number, "is skipped: it holds bytes that are no text")
	case utf8.RuneCountInString(said) > MaxText:
		p.say(number, fmt.Sprintf("is skipped: it has more than %d characters", MaxText))
	default:
		at.entry = &Entry{ID: note.id(), Kind: p.kind, Text: said, Note: note, Line: number}
	}
}

// dropDoubles leaves one entry of each id: the newest, of two of a day the later one. Lines without an id
// get one that is made of their text.
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
		p.say(older.entry.Line, fmt.Sprintf("is skipped: %s is there again, newer, in line %d", older.entry.ID, known[older.entry.ID].entry.Line))
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

// eol returns how lines of the file end.
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

// find returns the index of the line of an entry, -1 if there is none.
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

// add puts an entry at the end of its section, which it makes if there is none.
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

// endLast ends the last line.
func (d *document) endLast(eol string) {
	if n := len(d.lines); n > 0 && !strings.HasSuffix(d.lines[n-1].raw, "\n") {
		d.lines[n-1].raw += eol
	}
}

// replace writes an entry anew in its line.
func (d *document) replace(i int, e Entry) {
	eol := d.lines[i].raw[len(strings.TrimRight(d.lines[i].raw, "\r\n")):]
	d.lines[i].raw, d.lines[i].entry = format(e, eol), &e
}

// remove takes a line out.
func (d *document) remove(i int) { d.lines = slices.Delete(d.lines, i, i+1) }

// complete gives the lines that people wrote an id and a day.
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
