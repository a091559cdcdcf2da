package edit

import (
	"bytes"
	"slices"

	"buddy/app/keymap"
)

// command holds the effect of an action in an editor.
type command struct {
	do     func(*Editor)
	typing bool // in vi's insert mode the action is part of the insertion; other actions start a new one
}

// commands holds the actions of an editor. Vertical moves are missing, because they return whether there was a row
// to move to.
var commands = map[keymap.Action]command{
	keymap.Newline:         {typing: true, do: func(e *Editor) { e.change(e.cur, e.cur, []byte("\n")) }},
	keymap.CharLeft:        {do: func(e *Editor) { e.cur = e.buf.left(e.cur) }},
	keymap.CharRight:       {do: func(e *Editor) { e.cur = e.buf.right(e.cur) }},
	keymap.WordLeft:        {do: func(e *Editor) { e.cur = e.buf.wordLeft(e.cur) }},
	keymap.WordRight:       {do: func(e *Editor) { e.cur = e.buf.wordRight(e.cur) }},
	keymap.LineStart:       {do: func(e *Editor) { e.cur.col = 0 }},
	keymap.LineEnd:         {do: func(e *Editor) { e.cur.col = len(e.here()) }},
	keymap.DeleteLeft:      {typing: true, do: func(e *Editor) { e.change(e.buf.left(e.cur), e.cur, nil) }},
	keymap.DeleteRight:     {typing: true, do: func(e *Editor) { e.change(e.cur, e.buf.right(e.cur), nil) }},
	keymap.KillToEnd:       {typing: true, do: (*Editor).killToEnd},
	keymap.KillToStart:     {typing: true, do: (*Editor).killToStart},
	keymap.KillWord:        {typing: true, do: func(e *Editor) { e.kill(e.cur, e.buf.wordRight(e.cur), false) }},
	keymap.KillWordLeft:    {typing: true, do: func(e *Editor) { e.kill(e.buf.wordLeft(e.cur), e.cur, true) }},
	keymap.KillToSpaceLeft: {typing: true, do: func(e *Editor) { e.kill(e.buf.spaceLeft(e.cur), e.cur, true) }},
	keymap.Yank:            {typing: true, do: (*Editor).yank},
	keymap.YankNext:        {do: (*Editor).yankNext},
	keymap.Transpose:       {typing: true, do: (*Editor).transpose},
	keymap.Undo:            {do: func(e *Editor) { e.revert(false) }},
	keymap.Redo:            {do: func(e *Editor) { e.revert(true) }},
}

// Do executes an action and reports whether editors support it.
func (e *Editor) Do(a keymap.Action) bool {
	command, ok := commands[a]
	if !ok {
		return false
	}
	e.before, e.last = e.last, nothing
	command.do(e)
	return true
}

// Press types the text of an unbound key, or executes its action. It ignores actions that editors do not support.
func (e *Editor) Press(p keymap.Press) {
	if p.Types() {
		e.Insert(p.Text)
		return
	}
	e.Do(p.Action)
}

func (e *Editor) killToEnd() {
	end := Place{e.cur.line, len(e.here())}
	if e.cur == end {
		end = e.buf.right(end) // the line end itself
	}
	e.kill(e.cur, end, false)
}

func (e *Editor) killToStart() {
	start := Place{e.cur.line, 0}
	if e.cur == start {
		start = e.buf.left(start)
	}
	e.kill(start, e.cur, true)
}

// kill moves the text between two places to the kill ring. Consecutive kills make one entry.
func (e *Editor) kill(from, to Place, leftward bool) {
	e.last = killing
	if from == to {
		return
	}
	e.kills.add(e.buf.raw(from, to), e.before == killing, leftward)
	e.change(from, to, nil)
}

func (e *Editor) yank() {
	if len(e.kills.entries) == 0 {
		return
	}
	e.kills.at = len(e.kills.entries) - 1
	e.insertKill(e.cur, e.cur)
}

// yankNext replaces the text of the last yank with the next older kill.
func (e *Editor) yankNext() {
	if e.before != yanking {
		return
	}
	n := len(e.kills.entries)
	e.kills.at = (e.kills.at + n - 1) % n
	e.insertKill(e.kills.from, e.kills.to)
}

func (e *Editor) insertKill(from, to Place) {
	e.last = yanking
	raw := bytes.Clone(e.kills.entries[e.kills.at]) // a copy, because undo keeps it and the ring may change
	e.kills.from, e.kills.to = from, endOf(from, raw)
	e.change(from, to, raw)
}

// transpose swaps the clusters around the cursor, or the two before it at the end of a line.
func (e *Editor) transpose() {
	p := e.cur
	if p.col == len(e.here()) {
		p = e.buf.left(p)
	}
	if p.line != e.cur.line || p.col == 0 || p.col == len(e.here()) {
		return
	}
	from, to := e.buf.left(p), e.buf.right(p)
	e.change(from, to, append(e.buf.raw(p, to), e.buf.raw(from, p)...))
}

const maxKills = 32

// killRing holds killed texts, the newest last.
type killRing struct {
	entries [][]byte
	at      int // index of the inserted entry
	from    Place
	to      Place // end of the inserted text, at or before the cursor
}

// add adds text as a new entry, or joins it to the newest entry: before it if the text was killed leftwards, else after
// it.
func (k *killRing) add(text []byte, join, leftward bool) {
	n := len(k.entries)
	switch {
	case join && n > 0 && leftward:
		k.entries[n-1] = append(text, k.entries[n-1]...)
	case join && n > 0:
		k.entries[n-1] = append(k.entries[n-1], text...)
	case n == maxKills:
		k.entries = append(slices.Delete(k.entries, 0, 1), text)
	default:
		k.entries = append(k.entries, text)
	}
}
