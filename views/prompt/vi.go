package prompt

import "buddy/app/keymap"

// SetVi turns the keys of vi on or off. It begins in insert mode.
func (p *Prompt) SetVi(on bool) { p.vi.Set(p.editor, on) }

// Mode names the mode of vi; "" without its keys.
func (p *Prompt) Mode() string { return p.vi.Mode() }

// EndInsert goes from insert and visual mode to normal mode, or drops what was typed of a
// command, and reports whether it did.
func (p *Prompt) EndInsert() bool {
	switch {
	case !p.vi.On || p.search != nil:
		return false
	case p.vi.Normal:
		return p.vi.Escape(p.editor)
	}
	p.popup.dismiss()
	p.edit(func() { p.vi.Escape(p.editor) })
	return true
}

// BeginTyping prepares for what is typed from another place: a search ends, and with the keys of
// vi it is inserted.
func (p *Prompt) BeginTyping() {
	p.search = nil
	if p.vi.Normal {
		p.vi.Restart(p.editor)
	}
}

// viKey takes a key in normal mode and reports whether that was all. From the first and the last
// row, up and down go through the history, as they do without vi.
func (p *Prompt) viKey(press keymap.Press) (done bool) {
	if press.Scope != keymap.Vi {
		press.Action = "" // of the prompt
	}
	p.edit(func() { done = p.vi.Press(p.editor, press, p.action) })
	return done
}
