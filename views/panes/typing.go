package panes

import (
	"github.com/rivo/tview"

	"buddy/app/keymap"
)

// BeginTyping sends keys to the selected pane from now on and reports true, unless the pane is gone or has just
// replaced another pane.
func (p *Panes) BeginTyping() bool {
	q := p.list.selected()
	if q == nil || q.bare() || q.Lost != "" || !p.follow.seen(p.list.shown) {
		return false
	}
	p.EndScroll()
	p.typing = true
	return true
}

// TypeInto selects a pane and sends keys to it from now on. It reports false if the pane is gone.
func (p *Panes) TypeInto(id string) bool {
	for i := range p.list.panes {
		if q := &p.list.panes[i]; q.Pane.Pane == id && !q.bare() && q.Lost == "" {
			p.choose(id)
			p.EndScroll()
			p.typing = true
			return true
		}
	}
	return false
}

// EndTyping stops sending keys to a pane.
func (p *Panes) EndTyping() { p.typing = false }

// endKey returns the name of the key that ends typing.
func (p *Panes) endKey() string { return p.Keys.Name(keymap.PaneTypeEnd) }

func (p *Panes) typeKey(press keymap.Press) {
	if press.Action == keymap.PaneTypeEnd {
		p.EndTyping()
		return
	}
	p.EndScroll()
	q := p.list.selected()
	app := q.Screen != nil && q.Screen.AppKeys
	if seq := keymap.Bytes(press.Event, app); len(seq) > 0 && p.OnType != nil {
		p.OnType(p.list.shown, seq)
	}
}

// PasteHandler passes pasted text to the pane that receives keys.
func (p *Panes) PasteHandler() func(string, func(tview.Primitive)) {
	return p.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if p.typing && p.OnPaste != nil {
			p.EndScroll()
			p.OnPaste(p.list.shown, text)
		}
	})
}
