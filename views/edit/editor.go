// Package edit changes a text by what a person types. The [Editor] takes actions of the key
// map; [Vi] gives it the modes of vi. [Draw] shows it.
//
//	e := edit.New()
//	e.Press(press)
//	rows := edit.Draw(area, e, true)
package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// chipLines is the most lines of a paste that are shown; a longer one is shown as a chip.
const chipLines = 10

// Editor edits a text at a cursor, without a screen: lines wrapped at a width, undo, a
// kill ring, and long pastes that are shown as one piece. The cursor stands between
// grapheme clusters. Typing costs the same in the middle of a megabyte as in an empty
// text. The zero Editor is not usable; see [New].
type Editor struct {
	buf    *buffer
	cur    Place
	goal   int    // the column that vertical moves aim at
	before doing  // what the command before this one did
	last   doing  // what this one does
	gen    uint64 // counts changes of the text
	log    undoLog
	kills  killRing
}

// doing tells what a command did, as far as the next one cares.
type doing uint8

const (
	nothing doing = iota
	typing
	killing
	yanking
	climbing // moving vertically
)

// New returns an empty text.
func New() *Editor {
	return &Editor{buf: &buffer{lines: []*line{{}}, width: 1 << 20}}
}

// Text returns the text with pastes in full.
func (e *Editor) Text() string {
	var b strings.Builder
	for i, l := range e.buf.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		e.buf.chips.expand(&b, l.text)
	}
	return b.String()
}

// Empty reports whether there is no text.
func (e *Editor) Empty() bool { return len(e.buf.lines) == 1 && len(e.buf.lines[0].text) == 0 }

// SetText replaces the text, puts the cursor at its end and forgets what could be undone.
// The kill ring stays.
func (e *Editor) SetText(text string) {
	for i, k := range e.kills.entries {
		var b strings.Builder
		e.buf.chips.expand(&b, k)
		e.kills.entries[i] = []byte(b.String())
	}
	e.buf = &buffer{lines: []*line{{}}, width: e.buf.width}
	e.log = undoLog{group: e.log.group, groups: e.log.groups}
	e.before, e.last = nothing, nothing
	e.cur = e.buf.splice(Place{}, Place{}, normal(text))
	e.gen++
}

// Replace replaces the text, which can be undone.
func (e *Editor) Replace(text string) { e.Restore(normal(text)) }

// Draft returns the text for Restore: long pastes are kept as they are.
func (e *Editor) Draft() []byte { return e.buf.raw(Place{}, e.buf.end()) }

// Restore replaces the text by a Draft of this editor, which can be undone.
func (e *Editor) Restore(raw []byte) {
	e.before, e.last = e.last, nothing
	e.change(Place{}, e.buf.end(), raw)
	e.cur = e.buf.end()
}

// Insert types text at the cursor.
func (e *Editor) Insert(text string) {
	e.before, e.last = e.last, typing
	e.change(e.cur, e.cur, normal(text))
}

// Changes counts the changes of the text, undone ones included.
func (e *Editor) Changes() uint64 { return e.gen }

// WasTyped reports whether the last thing that was done is typing.
func (e *Editor) WasTyped() bool { return e.last == typing }

// AtStart reports whether the cursor is before all of the text.
func AtStart(e *Editor) bool { return e.cur == Place{} }

// After reports whether the cursor follows a character in its line.
func After(e *Editor, char byte) bool { return e.cur.col > 0 && e.here()[e.cur.col-1] == char }

// FirstLine returns the first line, a view of it, and whether there are more.
func (e *Editor) FirstLine() (text []byte, more bool) {
	return e.buf.lines[0].text, len(e.buf.lines) > 1
}

// Complete puts text in place of what is between a place before the cursor and it.
func (e *Editor) Complete(from Place, text string) {
	e.before, e.last = e.last, nothing
	e.change(from, e.cur, normal(text))
}

// Paste inserts text as one step. More than 10 lines become a chip, which Text expands.
func (e *Editor) Paste(text string) {
	e.before, e.last = e.last, nothing
	raw := normal(text)
	if n := pasteLines(raw); n > chipLines && len(e.buf.chips) < maxChips {
		e.buf.chips = append(e.buf.chips, string(raw))
		raw = chip(len(e.buf.chips) - 1)
	}
	e.change(e.cur, e.cur, raw)
}

// InsertPicture inserts a picture as one step: a chip that Text expands to how a prompt names its file, without
// blanks or line ends.
func (e *Editor) InsertPicture(name string) {
	e.before, e.last = e.last, nothing
	raw := []byte(name)
	if len(e.buf.chips) < maxChips {
		e.buf.chips = append(e.buf.chips, name)
		raw = chip(len(e.buf.chips) - 1)
	}
	if l := e.buf.lines[e.cur.line].text[:e.cur.col]; len(l) > 0 && !isSpace(l[len(l)-1]) {
		raw = append([]byte{' '}, raw...)
	}
	e.change(e.cur, e.cur, append(raw, ' '))
}

// pasteLines counts lines as a person does: a newline at the end begins no line.
func pasteLines(raw []byte) int {
	return bytes.Count(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) + 1
}

// change puts raw in place of a text, with the cursor at its end. It can be undone.
func (e *Editor) change(from, to Place, raw []byte) {
	if from == to && len(raw) == 0 {
		return
	}
	ed := edit{at: from, inserted: raw, before: e.cur, typed: e.last == typing, group: e.log.group}
	if from != to {
		ed.removed = e.buf.raw(from, to)
	}
	e.cur = e.buf.snap(e.buf.splice(from, to, raw))
	ed.after = e.cur
	e.gen++
	e.log.add(ed, e.before == typing)
}

// revert undoes the last edit and all others of its group, or makes what undo took back.
func (e *Editor) revert(redo bool) {
	for more := true; more; {
		var ed edit
		var ok bool
		if ed, more, ok = e.log.take(redo); !ok {
			return
		}
		e.buf.splice(ed.at, endOf(ed.at, ed.removed), ed.inserted)
		e.cur = ed.after
		e.gen++
	}
}

// here returns the line of the cursor.
func (e *Editor) here() []byte { return e.buf.lines[e.cur.line].text }

// IsBreak reports whether a byte ends a word: a blank, or the beginning of a chip.
func IsBreak(c byte) bool { return isSpace(c) || c == chipMark }

// normal makes outside text valid: UTF-8, and \n between lines.
func normal(text string) []byte {
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	return []byte(text)
}
