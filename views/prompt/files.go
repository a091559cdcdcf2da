package prompt

import (
	"slices"
	"strings"

	"buddy/texts"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/markup"
)

// openWord is the word at the cursor that may have completions: a path after an @, or an argument of a command.
type openWord struct {
	on    bool
	at    edit.Place // place of the @
	query string     // the path without the @, or the argument
	line  string     // the command line before the argument; "" for a path
}

// maxArguments limits a command line whose arguments are completed, in bytes.
const maxArguments = 4096

// SetFiles answers OnFiles with paths, best first. It ignores an answer to an outdated query, and paths with invisible
// characters. A path with spaces is offered in quotes.
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

// SetArguments answers OnArguments with words and their meanings, in order. It ignores an answer to an outdated query,
// and words with invisible characters.
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

// offer offers completions: files after an @, arguments of a command, or commands. Only typing a path or an argument
// opens a list; moving the cursor to it does not.
func (p *Prompt) offer() {
	word := wordAt(p)
	continues := word.on && p.word.on && word.at == p.word.at && word.line == p.word.line
	switch {
	case !word.on, !continues && !p.editor.WasTyped():
		p.word = openWord{}
		p.popup.match(p.commandPrefix())
	case !continues:
		p.popup.match("")
		fallthrough
	case word != p.word:
		ask(p, word)
	}
}

// ask requests completions of a word.
func ask(p *Prompt, word openWord) {
	if p.word = word; word.line == "" {
		p.OnFiles(word.query)
		return
	}
	p.popup.narrow(word.query) // Enter may come before the answer
	p.OnArguments(word.line + word.query)
}

// wordAt returns the word at the cursor that may have completions.
func wordAt(p *Prompt) (word openWord) {
	if p.OnFiles != nil {
		if word.at, word.query, word.on = p.editor.MarkedWord('@'); word.on {
			word.query = strings.TrimPrefix(word.query, `"`) // of a quoted name
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
	name, _, found := strings.Cut(before, " ")
	if !found || len(before)+len(argument) < len(text) || !p.popup.completes(name) {
		return openWord{}
	}
	return openWord{on: true, query: argument, line: before}
}

// completes reports whether the arguments of a command are completed.
func (c *Popup) completes(name string) bool {
	return slices.ContainsFunc(c.commands, func(cmd draw.CommandHelp) bool { return cmd.Completes && strings.EqualFold(cmd.Name, name) })
}

// complete reports whether the typed argument is complete and no other completion was chosen. Then Enter sends the
// line.
func complete(p *Prompt) bool {
	return p.word.line != "" && !p.popup.moved && (p.word.query == "" || p.word.query == p.popup.selected())
}

// acceptWord replaces the typed path or argument by the selected completion, and offers the next argument.
func acceptWord(p *Prompt) {
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

// offerArguments offers arguments after an accepted completion.
func offerArguments(p *Prompt) {
	if word := wordAt(p); word.line != "" {
		p.popup.match("")
		ask(p, word)
	}
}
