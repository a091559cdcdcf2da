package views

import (
	"bytes"

	"buddy/views/markup"
)

// fileWord is a word at the cursor that begins with an @: a path that is being typed.
type fileWord struct {
	on    bool
	at    place // of the @
	query string
}

// maxFileQuery is how much of a word is looked at, in bytes.
const maxFileQuery = 256

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
	word := p.wordAtCursor()
	goesOn := word.on && p.file.on && word.at == p.file.at
	switch {
	case p.OnFiles == nil, !word.on, !goesOn && p.editor.last != typing:
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

// wordAtCursor returns the path that ends at the cursor, if an @ begins one.
func (p *Prompt) wordAtCursor() fileWord {
	cur := p.editor.cur
	text := p.editor.here().text[:cur.col]
	start := max(len(text)-maxFileQuery, 0)
	i := bytes.LastIndexByte(text[start:], '@')
	if i < 0 {
		return fileWord{}
	}
	i += start
	query := text[i+1:]
	if bytes.ContainsAny(query, " \t") || bytes.IndexByte(query, chipMark) >= 0 {
		return fileWord{}
	}
	if i > 0 && !isBreak(text[i-1]) && bytes.IndexByte([]byte("([{\"'`"), text[i-1]) < 0 {
		return fileWord{} // such as in ann@example.org
	}
	return fileWord{true, place{cur.line, i}, string(query)}
}

// takeFile completes the path to the one that is selected.
func (p *Prompt) takeFile() {
	text := p.popup.selected()
	if rest := p.editor.here().text[p.editor.cur.col:]; len(rest) == 0 || !isSpace(rest[0]) {
		text += " "
	}
	p.edit(func() {
		p.editor.complete(p.file.at, text)
		p.vi.afresh(p.editor)
	})
}
