package prompt

import (
	"buddy/views/edit"
	"buddy/views/markup"
)

// fileWord holds a word at the cursor that begins with an @: a path that is being typed.
type fileWord struct {
	on    bool
	at    edit.Place // of the @
	query string
}

// SetFiles answers OnFiles with paths, best first. An answer to what is no longer typed is
// dropped, and so are paths with characters that do not show.
func (p *Prompt) SetFiles(query string, paths []string) {
	if !p.file.on || p.file.query != query {
		return
	}
	var offered []string
	for _, path := range paths {
		if markup.Inline(path) == path {
			offered = append(offered, path)
		}
	}
	p.popup.offer(offered)
}

// offer offers what may follow what is typed: files after an @, or commands. Only typing
// an @ begins a path; the cursor may be moved to one without a list that opens.
func (p *Prompt) offer() {
	var word fileWord
	word.at, word.query, word.on = p.editor.MarkedWord('@')
	goesOn := word.on && p.file.on && word.at == p.file.at
	switch {
	case p.OnFiles == nil, !word.on, !goesOn && !p.editor.WasTyped():
		p.file = fileWord{}
		p.popup.match(p.commandPrefix())
	case !goesOn:
		p.popup.match("")
		fallthrough
	case word != p.file:
		p.file = word
		p.OnFiles(word.query)
	}
}

// takeFile completes the path to the one that is selected.
func (p *Prompt) takeFile() {
	text := p.popup.selected()
	if !p.editor.BeforeBlank() {
		text += " "
	}
	p.edit(func() {
		p.editor.Complete(p.file.at, text)
		p.vi.Afresh(p.editor)
	})
}
