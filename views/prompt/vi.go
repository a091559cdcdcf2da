package prompt

import "buddy/app/keymap"

// SetVi turns the keys of vi on, in insert mode, or off.
func (p *Prompt) SetVi(on bool) { p.vi.Set(p.editor, on) }

// Mode returns the name of the mode of vi; "" without vi.
func (p *Prompt) Mode() string { return p.vi.Mode() }

// EndInsert leaves insert or visual mode for normal mode, or drops a partial command, and reports whether it did.
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

// BeginTyping prepares for text typed elsewhere: it ends a search and enters insert mode.
func (p *Prompt) BeginTyping() {
	p.search = nil
	if p.vi.Normal {
		p.vi.Restart(p.editor)
	}
}

// viKey handles a key in normal mode and reports whether it is done. In the first and last row, up and down move
// through the history, as without vi.
func (p *Prompt) viKey(press keymap.Press) (done bool) {
	if press.Scope != keymap.Vi {
		press.Action = "" // it is the action in the prompt's scope
	}
	p.edit(func() { done = p.vi.Press(p.editor, press, p.action) })
	return done
}
