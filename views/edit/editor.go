// Package edit changes a text by what a person types. The [Editor] takes actions of the key
// map; [Vi] gives it the modes of vi. [Draw] shows it.
//
//	e := edit.New()
//	e.Press(keys.Lookup(ev, keymap.Asking))
//	rows := edit.Draw(area, e, true)
package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	chipLines = 10      // a paste of more lines is shown as one chip
	maxUndo   = 1000    // edits
	undoBytes = 8 << 20 // of text that undo keeps
)

// Editor is a text with a cursor, without a screen: lines wrapped at a width, undo, a
// kill ring, and long pastes that are shown as one piece. The cursor stands between
// grapheme clusters. Typing costs the same in the middle of a megabyte as in an empty
// text. The zero Editor is not usable; see [NewEditor].
type Editor struct {
	lines  []*line // at least one
	cur    Place
	width  int    // of a row in cells
	goal   int    // the column that vertical moves aim at
	before doing  // what the command before this one did
	last   doing  // what this one does
	gen    uint64 // counts changes of the text
	group  int    // changes of one group are undone together; 0 = each alone
	groups int    // that were begun

	undos, redos []edit
	undoSize     int
	kills        killRing
	pastes       []string // what chips stand for, by number
}

// Place is a position in the text: a line and a byte in it.
type Place struct{ line, col int }

func (p Place) less(q Place) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// doing is what a command did, as far as the next one cares.
type doing uint8

const (
	nothing doing = iota
	typing
	killing
	yanking
	climbing // moving vertically
)

// edit is one change that can be undone.
type edit struct {
	at                Place
	removed, inserted []byte
	before, after     Place // the cursor
	typed             bool  // more typing may join it
	group             int
}

// New returns an empty text.
func New() *Editor {
	return &Editor{lines: []*line{{}}, width: 1 << 20}
}

// Text returns the text with pastes in full.
func (e *Editor) Text() string {
	var b strings.Builder
	for i, l := range e.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		e.expand(&b, l.text)
	}
	return b.String()
}

// Empty reports whether there is no text.
func (e *Editor) Empty() bool { return len(e.lines) == 1 && len(e.lines[0].text) == 0 }

// SetText replaces the text, puts the cursor at its end and forgets what could be undone.
// The kill ring stays.
func (e *Editor) SetText(text string) {
	for i, k := range e.kills.entries {
		var b strings.Builder
		e.expand(&b, k)
		e.kills.entries[i] = []byte(b.String())
	}
	e.lines, e.cur = []*line{{}}, Place{}
	e.undos, e.redos, e.undoSize, e.pastes = nil, nil, 0, nil
	e.before, e.last = nothing, nothing
	e.cur = e.splice(Place{}, Place{}, normal(text))
	e.gen++
}

// Replace is SetText that can be undone.
func (e *Editor) Replace(text string) { e.Restore(normal(text)) }

// Draft returns the text for Restore: long pastes are kept as they are.
func (e *Editor) Draft() []byte { return e.raw(Place{}, e.end()) }

// Restore replaces the text by a Draft of this editor, which can be undone.
func (e *Editor) Restore(raw []byte) {
	e.before, e.last = e.last, nothing
	e.change(Place{}, e.end(), raw)
	e.cur = e.end()
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

// FirstLine returns the first line, a view of it, and whether there are more.
func (e *Editor) FirstLine() (text []byte, more bool) { return e.lines[0].text, len(e.lines) > 1 }

// Complete puts text in place of what is between a place before the cursor and it.
func (e *Editor) Complete(from Place, text string) {
	e.before, e.last = e.last, nothing
	e.change(from, e.cur, normal(text))
}

// Paste inserts text as one step. More than 10 lines become a chip, which Text expands.
func (e *Editor) Paste(text string) {
	e.before, e.last = e.last, nothing
	raw := normal(text)
	if n := pasteLines(raw); n > chipLines && len(e.pastes) < maxChips {
		e.pastes = append(e.pastes, string(raw))
		raw = chip(len(e.pastes) - 1)
	}
	e.change(e.cur, e.cur, raw)
}

// pasteLines counts lines as a person does: a newline at the end begins no line.
func pasteLines(raw []byte) int {
	return bytes.Count(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) + 1
}

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

// A chip is chipMark, which is never part of UTF-8, and a number in three bytes.
const (
	chipMark = 0xff
	chipSize = 4
	maxChips = 1 << 18
)

func chip(n int) []byte {
	return []byte{chipMark, 0x80 | byte(n>>12&0x3f), 0x80 | byte(n>>6&0x3f), 0x80 | byte(n&0x3f)}
}

// pasted returns what the chip at the start of raw stands for.
func (e *Editor) pasted(raw []byte) string {
	return e.pastes[int(raw[1]&0x3f)<<12|int(raw[2]&0x3f)<<6|int(raw[3]&0x3f)]
}

// label is how the chip at the start of raw is shown.
func (e *Editor) label(raw []byte) string {
	return fmt.Sprintf("[pasted %d lines]", pasteLines([]byte(e.pasted(raw))))
}

// expand writes raw with its chips in full.
func (e *Editor) expand(b *strings.Builder, raw []byte) {
	for {
		i := bytes.IndexByte(raw, chipMark)
		if i < 0 {
			b.Write(raw)
			return
		}
		b.Write(raw[:i])
		b.WriteString(e.pasted(raw[i:]))
		raw = raw[i+chipSize:]
	}
}

// end is the place after the last character.
func (e *Editor) end() Place {
	last := len(e.lines) - 1
	return Place{last, len(e.lines[last].text)}
}

// raw returns a copy of the text between two places, chips as they are.
func (e *Editor) raw(from, to Place) []byte {
	if from.line == to.line {
		return bytes.Clone(e.lines[from.line].text[from.col:to.col])
	}
	b := bytes.Clone(e.lines[from.line].text[from.col:])
	for _, l := range e.lines[from.line+1 : to.line] {
		b = append(append(b, '\n'), l.text...)
	}
	return append(append(b, '\n'), e.lines[to.line].text[:to.col]...)
}

// splice puts raw in place of what is between from and to and returns its end.
func (e *Editor) splice(from, to Place, raw []byte) Place {
	if from.line == to.line && bytes.IndexByte(raw, '\n') < 0 {
		e.lines[from.line].splice(from.col, to.col, raw, e)
		return Place{from.line, from.col + len(raw)}
	}
	parts := bytes.Split(raw, []byte("\n"))
	fresh := make([]*line, len(parts))
	for i, p := range parts {
		fresh[i] = &line{text: bytes.Clone(p)}
	}
	last := fresh[len(fresh)-1]
	end := Place{from.line + len(parts) - 1, len(last.text)}
	if len(parts) == 1 {
		end.col += from.col
	}
	last.text = append(last.text, e.lines[to.line].text[to.col:]...)
	fresh[0].text = append(bytes.Clone(e.lines[from.line].text[:from.col]), fresh[0].text...)
	e.lines = slices.Replace(e.lines, from.line, to.line+1, fresh...)
	return end
}

// change is splice that moves the cursor to the end of the new text and can be undone.
func (e *Editor) change(from, to Place, raw []byte) {
	if from == to && len(raw) == 0 {
		return
	}
	ed := edit{at: from, inserted: raw, before: e.cur, typed: e.last == typing, group: e.group}
	if from != to {
		ed.removed = e.raw(from, to)
	}
	e.cur = e.snap(e.splice(from, to, raw))
	ed.after = e.cur
	e.gen++
	e.redos = nil
	e.remember(ed)
}

// begin starts a group of changes that are undone in one step; endGroup ends it.
func (e *Editor) begin() {
	e.groups++
	e.group = e.groups
}

func (e *Editor) endGroup() { e.group = 0 }

// remember records an edit for undo; what is typed joins what was typed before it, word
// by word, or all of it in a group.
func (e *Editor) remember(ed edit) {
	if n := len(e.undos); n > 0 && e.before == typing && ed.typed {
		top := &e.undos[n-1]
		joins := len(ed.removed) == 0 && !startsWord(top.inserted, ed.inserted) || ed.group != 0
		if top.typed && top.group == ed.group && endOf(top.at, top.inserted) == ed.at && joins {
			top.inserted = append(top.inserted, ed.inserted...)
			top.removed = append(top.removed, ed.removed...)
			top.after = ed.after
			e.undoSize += len(ed.inserted) + len(ed.removed)
			return
		}
	}
	e.undos = append(e.undos, ed)
	e.undoSize += len(ed.removed) + len(ed.inserted)
	for len(e.undos) > maxUndo || e.undoSize > undoBytes && len(e.undos) > 1 {
		e.undoSize -= len(e.undos[0].removed) + len(e.undos[0].inserted)
		e.undos = slices.Delete(e.undos, 0, 1)
	}
}

// startsWord reports whether next begins a word after a space.
func startsWord(before, next []byte) bool {
	return len(before) > 0 && isSpace(before[len(before)-1]) && len(next) > 0 && !isSpace(next[0])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// endOf returns where raw ends that begins at a place.
func endOf(at Place, raw []byte) Place {
	n := bytes.Count(raw, []byte("\n"))
	if n == 0 {
		return Place{at.line, at.col + len(raw)}
	}
	return Place{at.line + n, len(raw) - bytes.LastIndexByte(raw, '\n') - 1}
}

// undo takes the last edit back, and all others of its group.
func (e *Editor) undo() {
	for e.undoOne() && inGroup(e.undos, e.redos) {
	}
}

// redo makes what undo took back.
func (e *Editor) redo() {
	for e.redoOne() && inGroup(e.redos, e.undos) {
	}
}

// inGroup reports whether the next edit is of the same group as the one that was done last.
func inGroup(next, done []edit) bool {
	n, d := len(next), len(done)
	return n > 0 && d > 0 && next[n-1].group != 0 && next[n-1].group == done[d-1].group
}

func (e *Editor) undoOne() bool {
	n := len(e.undos) - 1
	if n < 0 {
		return false
	}
	ed := e.undos[n]
	e.undos = e.undos[:n]
	e.undoSize -= len(ed.removed) + len(ed.inserted)
	e.splice(ed.at, endOf(ed.at, ed.inserted), ed.removed)
	e.cur = ed.before
	e.redos = append(e.redos, ed)
	e.gen++
	return true
}

func (e *Editor) redoOne() bool {
	n := len(e.redos) - 1
	if n < 0 {
		return false
	}
	ed := e.redos[n]
	e.redos = e.redos[:n]
	e.splice(ed.at, endOf(ed.at, ed.removed), ed.inserted)
	e.cur = ed.after
	ed.typed = false
	e.undos = append(e.undos, ed)
	e.undoSize += len(ed.removed) + len(ed.inserted)
	e.gen++
	return true
}

// IsBreak reports whether a byte ends a word: a blank, or the beginning of a chip.
func IsBreak(c byte) bool { return isSpace(c) || c == chipMark }
