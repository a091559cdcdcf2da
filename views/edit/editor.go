// Package edit implements an editor for short texts. An [Editor] holds the text and the cursor, and executes the
// actions of keys. [Vi] adds the modes of vi. [Draw] draws an Editor.
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

// chipLines limits the lines of a paste that is shown in full; a longer paste becomes a chip.
const chipLines = 10

// Editor edits a text at a cursor, without a screen: It wraps lines, has undo and a kill ring, and shows a long paste
// as one piece. The cursor is between grapheme clusters. The cost of typing does not depend on the size of the text.
// The zero Editor is not usable; see [New].
type Editor struct {
	buf    *buffer
	cur    Place
	goal   int    // column for vertical moves
	before doing  // the kind of the previous command
	last   doing  // the kind of the present command
	gen    uint64 // counts changes of the text
	log    undoLog
	kills  killRing
}

// doing is the kind of a command. The effect of the next command may depend on it.
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

// Text returns the text with expanded pastes.
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

// SetText replaces the text, moves the cursor to its end and clears the undo log. The kill ring is kept.
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

// Replace replaces the text; this can be undone.
func (e *Editor) Replace(text string) { e.Restore(normal(text)) }

// Draft returns the text for Restore, with unexpanded pastes.
func (e *Editor) Draft() []byte { return e.buf.raw(Place{}, e.buf.end()) }

// Restore replaces the text by a Draft of this editor; this can be undone.
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

// Changes counts the changes of the text, including undone ones.
func (e *Editor) Changes() uint64 { return e.gen }

// WasTyped reports whether the last command was typing.
func (e *Editor) WasTyped() bool { return e.last == typing }

// AtStart reports whether the cursor is at the start of the text.
func AtStart(e *Editor) bool { return e.cur == Place{} }

// After reports whether the cursor follows a character in its line.
func After(e *Editor, char byte) bool { return e.cur.col > 0 && e.here()[e.cur.col-1] == char }

// FirstLine returns the first line, without a copy, and whether there are more.
func (e *Editor) FirstLine() (text []byte, more bool) {
	return e.buf.lines[0].text, len(e.buf.lines) > 1
}

// Complete replaces the text between a place and the cursor after it.
func (e *Editor) Complete(from Place, text string) {
	e.before, e.last = e.last, nothing
	e.change(from, e.cur, normal(text))
}

// Paste inserts text as one undo step. More than 10 lines become a chip, which Text expands.
func (e *Editor) Paste(text string) {
	e.before, e.last = e.last, nothing
	raw := normal(text)
	if n := pasteLines(raw); n > chipLines && len(e.buf.chips) < maxChips {
		e.buf.chips = append(e.buf.chips, string(raw))
		raw = chip(len(e.buf.chips) - 1)
	}
	e.change(e.cur, e.cur, raw)
}

// InsertPicture inserts a picture as one undo step: a chip that Text expands to name, which has no spaces or line ends.
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

// pasteLines counts lines; a newline at the end starts no line.
func pasteLines(raw []byte) int {
	return bytes.Count(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) + 1
}

// change replaces the text between two places by raw and moves the cursor to the end of raw. It can be undone.
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

// revert undoes the last edit and the others of its group, or redoes them.
func (e *Editor) revert(redo bool) {
	for more := true; more; {
		var ed edit
		var ok bool
		if ed, more, ok = e.log.pop(redo); !ok {
			return
		}
		e.buf.splice(ed.at, endOf(ed.at, ed.removed), ed.inserted)
		e.cur = ed.after
		e.gen++
	}
}

// here returns the line of the cursor.
func (e *Editor) here() []byte { return e.buf.lines[e.cur.line].text }

// IsBreak reports whether a byte ends a word: a space, or the start of a chip.
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
