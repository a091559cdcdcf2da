package prompt

import (
	"slices"
	"strings"

	"buddy/texts"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/markup"
)

// openWord holds the word at the cursor for which there may be a list: a path that is being typed after
// an @, or an argument of a command.
type openWord struct {
	on    bool
	at    edit.Place // of the @
	query string     // of a path, without the @, or the argument
	line  string     // the command's line before the argument; "" for a path
}

// maxArguments limits the line of a command whose arguments are completed, in bytes.
const maxArguments = 4096

// SetFiles answers OnFiles with paths, best first. An answer to what is no longer typed is
// dropped, and so are paths with characters that do not show. A path with blanks is offered in quotes.
func (p *Prompt) SetFiles(query string, paths []string) {
	if !p.word.on || p.word.line != "" || p.word.query != query {
		return
	}
	var offered []draw.CommandHelp
	for _, path := range paths {
		if markup.Inline(path) == path {
			offered = append(offered, draw.CommandHelp{Name: texts.Mention{Name: path}.String()})
		}
	}
	p.popup.offer(offered)
}

// SetArguments answers OnArguments with words and what they mean, in their order. An answer to what is
// no longer typed is dropped, and so are words with characters that do not show.
func (p *Prompt) SetArguments(line string, words []draw.CommandHelp) {
	if !p.word.on || p.word.line == "" || p.word.line+p.word.query != line {
		return
	}
	var offered []draw.CommandHelp
	for _, w := range words {
		if markup.Inline(w.Name) == w.Name {
			w.Help = markup.Inline(w.Help)
			offered = append(offered, w)
		}
	}
	p.popup.offer(offered)
}

// offer offers what may follow what is typed: files after an @, arguments of a command, or commands. Only
// typing begins a path or an argument; the cursor may be moved to one without a list that opens.
func (p *Prompt) offer() {
	word := wordAt(p)
	goesOn := word.on && p.word.on && word.at == p.word.at && word.line == p.word.line
	switch {
	case !word.on, !goesOn && !p.editor.WasTyped():
		p.word = openWord{}
		p.popup.match(p.commandPrefix())
	case !goesOn:
		p.popup.match("")
		fallthrough
	case word != p.word:
		ask(p, word)
	}
}

// ask asks what a word may become.
func ask(p *Prompt, word openWord) {
	if p.word = word; word.line == "" {
		p.OnFiles(word.query)
		return
	}
	p.popup.narrow(word.query) // Enter may come before the answer
	p.OnArguments(word.line + word.query)
}

// wordAt returns the word at the cursor for which there may be a list.
func wordAt(p *Prompt) (word openWord) {
	if p.OnFiles != nil {
		if word.at, word.query, word.on = p.editor.MarkedWord('@'); word.on {
			word.query = strings.TrimPrefix(word.query, `"`) // of a name in quotes
			return word
		}
	}
	if p.OnArguments == nil {
		return openWord{}
	}
	text, more := p.editor.FirstLine()
	if more || len(text) == 0 || text[0] != '/' || len(text) > maxArguments {
		return openWord{}
	}
	argument, before := p.editor.Word()
	name, _, begun := strings.Cut(before, " ")
	if !begun || len(before)+len(argument) < len(text) || !p.popup.completes(name) {
		return openWord{}
	}
	return openWord{on: true, query: argument, line: before}
}

// completes reports whether what follows a command is completed.
func (c *Popup) completes(name string) bool {
	return slices.ContainsFunc(c.commands, func(cmd draw.CommandHelp) bool { return cmd.Completes && strings.EqualFold(cmd.Name, name) })
}

// said reports whether the argument that is typed is whole as far as anybody has chosen: Enter sends the
// line then.
func said(p *Prompt) bool {
	return p.word.line != "" && !p.popup.moved && (p.word.query == "" || p.word.query == p.popup.selected())
}

// takeWord completes the path or the argument to the one that is selected. What may follow an argument
// is offered at once.
func takeWord(p *Prompt) {
	text, word := p.popup.selected(), p.word
	if !p.editor.BeforeBlank() && !strings.HasSuffix(text, "=") {
		text += " "
	}
	p.edit(func() {
		if word.line == "" {
			p.editor.Complete(word.at, text)
		} else {
			p.editor.CompleteWord(text)
		}
		p.vi.Afresh(p.editor)
	})
	offerArguments(p)
}

// offerArguments offers what may follow what a choice has completed.
func offerArguments(p *Prompt) {
	if word := wordAt(p); word.line != "" {
		p.popup.match("")
		ask(p, word)
	}
}
