package views

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
)

// SetVi gives the prompt the keys of vi, or takes them away. It begins in insert mode.
func (p *Prompt) SetVi(on bool) {
	p.vi = vi{on: on}
	if p.editor.endGroup(); on {
		p.vi.insert(p.editor)
	}
}

// Mode names the mode of vi; "" without its keys.
func (p *Prompt) Mode() string { return p.vi.mode() }

// EndInsert goes from insert and visual mode to normal mode, or drops what was typed of a
// command, and reports whether it did.
func (p *Prompt) EndInsert() bool {
	switch {
	case !p.vi.on || p.search != nil:
		return false
	case p.vi.normal:
		pending := p.vi.viPending != viPending{}
		p.vi.reset()
		return p.vi.endSelecting(p.editor) || pending
	}
	p.popup.dismiss()
	p.edit(func() { p.vi.leave(p.editor) })
	return true
}

// viKey takes a key in normal mode and says whether that was all. What opens lists begins
// to insert, on an empty prompt.
func (p *Prompt) viKey(ev *tcell.EventKey) bool {
	a, ok := p.keys.Lookup(keymap.Vi, ev)
	text, typed := keymap.Text(ev)
	switch {
	case typed && p.vi.digit(text):
	case p.vi.wait != "" && !typed:
		p.vi.reset()
	case ok || p.vi.wait != "":
		p.viAction(a, text)
	case typed && p.editor.Empty() && strings.Contains("/!@", text):
		p.vi.insert(p.editor)
		return false
	case typed:
		p.vi.reset()
	default:
		return false
	}
	return true
}

// viAction does what a key of vi means. From the first and the last row, up and down go
// through the history, as they do without vi.
func (p *Prompt) viAction(a keymap.Action, text string) {
	free := p.vi.op == "" && p.vi.wait == "" && p.vi.selects == nothingSelected
	p.edit(func() {
		switch {
		case a == keymap.ViUp && free:
			for range p.vi.n() {
				p.action(keymap.LineUp)
			}
			p.vi.settle(p.editor)
		case a == keymap.ViDown && free:
			for range p.vi.n() {
				p.action(keymap.LineDown)
			}
			p.vi.settle(p.editor)
		default:
			p.vi.do(p.editor, a, text)
		}
	})
}

// editorMark shows which part of a row is selected; a line end has a cell, too.
func (c canvas) editorMark(e *Editor, r row, from, to place) {
	l := e.wrapped(r.line, r.n+2)
	i, end := l.rows[r.n], len(l.text)
	last := r.n+1 >= len(l.rows)
	if !last {
		end = l.rows[r.n+1]
	}
	selected := func(i int) bool { p := place{r.line, i}; return !p.less(from) && p.less(to) }
	col := 0
	for i < end && col < c.w {
		g := e.glyph(l.text, i, col)
		if selected(i) {
			c.say(col, g.text, themes.Selection)
		}
		i, col = g.end, col+g.width
	}
	if last && selected(len(l.text)) && col < c.w {
		c.fill(col, col+1, c.palette[themes.Selection])
	}
}
