// Package prompt implements the input for prompts: an editor with a searchable history, and completion of commands
// and files.
//
//	p := prompt.New(theme, keys)
//	p.OnSubmit = func(text string) { send(event.Submit{Text: text}) }
package prompt

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// Prompt is a multi-line editor with history, history search and completion of commands and files. It draws no border.
// All callbacks are optional and run on the UI goroutine.
type Prompt struct {
	draw.Frame
	promptState
	draft
	history history
	search  *historySearch // nil without a search
	popup   *Popup
	word    openWord
	band    *draw.Palette // for text on the tinted background; nil: the theme has no tint

	To         string             // the subagent that reads the prompt, untrusted; "": the main agent
	OnSubmit   func(text string)  // called after the prompt was emptied
	OnEmpty    func()             // Enter on an empty prompt without another effect
	Private    func(string) bool  // whether a text must stay out of the history
	OnChange   func()             // the text changed; calling Text each time would be slow
	OnEOF      func()             // end of input on an empty prompt
	OnEdit     func()             // opens an editor; see Replace
	OnPicture  func()             // requests the picture in the clipboard; see InsertPicture
	OnUnqueue  func(id int)       // a queued prompt was moved into the editor
	OnContinue func()             // Enter on an empty prompt after an interruption
	OnRetry    func()             // Enter on an empty prompt while a request waits for a retry
	OnFiles    func(query string) // the text after an @ changed; must not block, see SetFiles

	// OnArguments requests completions of the last word of a command line; must not block, see SetArguments.
	OnArguments func(line string)
}

// draft is the text being written.
type draft struct {
	editor *edit.Editor
	vi     edit.Vi
	top    edit.Row // the first visible row
}

// promptState is the part of the state that the prompt needs.
type promptState struct {
	queued      []event.PromptSubmitted
	interrupted bool
	retries     bool   // a request waits for a retry
	target      string // "" for this machine
}

// New returns an empty prompt.
func New(theme *themes.Theme, keys *keymap.Map) *Prompt {
	p := &Prompt{Frame: draw.NewFrame(theme, keys), draft: draft{editor: edit.New()}, popup: newCommandPopup(theme, keys)}
	p.popup.accept = func() { p.popupAction(keymap.PopupAccept) }
	tint(p)
	return p
}

// SetTheme changes the colours from the next draw on.
func (p *Prompt) SetTheme(theme *themes.Theme) {
	p.Frame.SetTheme(theme)
	p.popup.SetTheme(theme)
	tint(p)
}

// tint computes the colours of the prompt.
func tint(p *Prompt) {
	if p.band = p.Palette.On(themes.Prompt); p.band == p.Palette {
		p.band = nil
	}
}

// fewColours is the number of colours of terminals that can't distinguish a tint from their background.
const fewColours = 88

// Ruled reports whether the prompt needs rules because a tint is not visible on this screen.
func (p *Prompt) Ruled(s tcell.Screen) bool { return p.band == nil || s.Colors() <= fewColours }

// Update processes changes of the state.
func (p *Prompt) Update(s *state.State, ch state.Changed) {
	if ch&(state.Queue|state.Header|state.Tasks) == 0 {
		return
	}
	p.queued = slices.Clone(s.Queued)
	p.interrupted = s.Info.Interrupted
	p.retries = s.Retries.Retry != nil
	if p.target = s.Info.Event.Target; p.target == "local" {
		p.target = ""
	}
}

// SetHistory sets the earlier prompts, oldest first. Sent prompts are added.
func (p *Prompt) SetHistory(entries []string) { p.history.set(entries) }

// SetCommands sets the commands offered after a slash.
func (p *Prompt) SetCommands(commands []draw.CommandHelp) {
	p.popup.commands = commands
	p.popup.match(p.commandPrefix())
}

// Text returns the text with expanded pastes.
func (p *Prompt) Text() string { return p.editor.Text() }

// SetText replaces the text, for example by a saved draft.
func (p *Prompt) SetText(text string) {
	p.search = nil
	p.history.leave()
	p.editor.SetText(text)
	p.changed()
}

// Replace replaces the text; this can be undone.
func (p *Prompt) Replace(text string) {
	p.edit(func() { p.editor.Replace(text) })
}

// Discard empties the prompt and adds its text to the history.
func (p *Prompt) Discard() {
	p.history.add(p.editor.Text())
	p.SetText("")
}

// Empty reports whether there is no text.
func (p *Prompt) Empty() bool { return p.editor.Empty() }

// Retries reports whether Enter retries a waiting request: one is waiting, and the prompt has no text.
func (p *Prompt) Retries() bool {
	return p.retries && p.OnRetry != nil && strings.TrimSpace(p.editor.Text()) == ""
}

// Scope returns the key scope of the prompt, or of the search or popup that is open over it.
func (p *Prompt) Scope() keymap.Scope {
	switch {
	case p.search != nil:
		return keymap.Search
	case p.vi.Normal:
		return keymap.Vi
	case p.popup.Open():
		return keymap.Popup
	}
	return keymap.Prompt
}

// Popup returns the list of completions, which is drawn above the prompt while it is open.
func (p *Prompt) Popup() *Popup { return p.popup }

// Paste inserts text as one undo step. Pasted text never becomes a shell command, because nobody has typed the "!".
func (p *Prompt) Paste(text string) {
	if p.search != nil {
		p.search.look(p.search.query + texts.OneLine(text))
		return
	}
	if edit.AtStart(p.editor) && strings.HasPrefix(text, "!") {
		text = " " + text // a prompt with a leading space is sent, not run
	}
	p.edit(func() { p.vi.Paste(p.editor, text) })
}

// InsertPicture inserts a picture at the cursor, shown as a chip and sent as @PATH.
func (p *Prompt) InsertPicture(path string) {
	p.search = nil
	p.edit(func() { p.editor.InsertPicture("@" + path) })
}

// PasteHandler calls Paste for tview.
func (p *Prompt) PasteHandler() func(string, func(tview.Primitive)) {
	return p.WrapPasteHandler(func(text string, _ func(tview.Primitive)) { p.Paste(text) })
}

// Press handles a key in the prompt, or in the search or popup that is open over it, and types text.
func (p *Prompt) Press(press keymap.Press) {
	switch {
	case p.search != nil && p.searchKey(press):
	case p.vi.Normal && p.viKey(press):
	case press.Scope == keymap.Popup:
		p.popupAction(press.Action)
	case press.Bound():
		p.edit(func() {
			if !p.vi.TypeAction(p.editor, press.Action) {
				p.action(press.Action)
			}
		})
	case press.Types():
		p.edit(func() { p.vi.TypeText(p.editor, press.Text) })
	}
}

// edit runs f and then processes a change of the text.
func (p *Prompt) edit(f func()) {
	before := p.editor.Changes()
	f()
	if p.editor.Changes() != before {
		p.changed()
	} else if p.word.on { // the cursor may have left the word
		p.offer()
	}
}

func (p *Prompt) changed() {
	p.vi.Changed(p.editor)
	p.offer()
	call(p.OnChange)
}

// call calls f unless it is nil.
func call(f func()) {
	if f != nil {
		f()
	}
}

func (p *Prompt) action(a keymap.Action) {
	switch a {
	case keymap.Send:
		if !continued(p) {
			p.send()
		}
	case keymap.LineUp:
		if !p.editor.Up() && !p.unqueue() {
			p.history.older(p.editor)
		}
	case keymap.LineDown:
		if !p.editor.Down() {
			p.history.newer(p.editor)
		}
	case keymap.SearchHistory:
		p.search = newHistorySearch(&p.history)
	case keymap.EditPrompt:
		call(p.OnEdit)
	case keymap.PasteImage:
		call(p.OnPicture)
	case keymap.EndOfInput:
		if p.editor.Empty() {
			call(p.OnEOF)
		}
	default:
		p.editor.Do(a)
	}
}

// continued inserts a newline if a backslash precedes the cursor, and reports whether it did. The newline replaces the
// backslash, except in a shell command, because the shell needs the backslash.
func continued(p *Prompt) bool {
	if !edit.After(p.editor, '\\') {
		return false
	}
	if !shell(p) {
		p.editor.Do(keymap.DeleteLeft)
	}
	p.editor.Do(keymap.Newline)
	return true
}

// shell reports whether the text is a shell command.
func shell(p *Prompt) bool {
	text, _ := p.editor.FirstLine()
	return len(text) > 0 && text[0] == '!'
}

func (p *Prompt) send() {
	text := p.editor.Text()
	if strings.TrimSpace(text) == "" {
		switch {
		case p.Retries():
			p.OnRetry()
		case p.interrupted && p.OnContinue != nil:
			p.OnContinue()
		case p.OnEmpty != nil:
			p.OnEmpty()
		}
		return
	}
	if p.Private == nil || !p.Private(text) {
		p.history.add(text)
	}
	p.editor.SetText("")
	p.vi.Restart(p.editor)
	if p.OnSubmit != nil {
		p.OnSubmit(text)
	}
}

// unqueue moves the newest queued prompt into the editor. The previous text becomes the draft.
func (p *Prompt) unqueue() bool {
	n := len(p.queued) - 1
	if n < 0 || p.OnUnqueue == nil {
		return false
	}
	q := p.queued[n]
	p.queued = p.queued[:n]
	p.history.aside(p.editor)
	p.editor.Replace(q.Text)
	p.OnUnqueue(q.ID)
	return true
}

// commandPrefix returns the text if it is the start of a command, else "".
func (p *Prompt) commandPrefix() string {
	text, more := p.editor.FirstLine()
	if more || len(text) == 0 || text[0] != '/' || len(text) > 64 || slices.ContainsFunc(text, edit.IsBreak) {
		return ""
	}
	return string(text)
}

func (p *Prompt) popupAction(a keymap.Action) {
	switch a {
	case keymap.PopupUp:
		p.popup.move(-1)
	case keymap.PopupDown:
		p.popup.move(1)
	case keymap.PopupClose:
		p.popup.dismiss()
	case keymap.PopupRun:
		if complete(p) {
			p.edit(p.send)
			return
		}
		if p.word.on {
			acceptWord(p)
			return
		}
		typed := p.commandPrefix()
		if strings.EqualFold(typed, p.popup.selected()) || typed == "/" && !p.popup.moved {
			p.edit(p.send)
			return
		}
		fallthrough
	case keymap.PopupAccept:
		if p.word.on {
			acceptWord(p)
			return
		}
		p.edit(func() {
			p.editor.Replace(p.popup.selected() + " ")
			p.vi.Afresh(p.editor)
		})
		offerArguments(p)
	}
}

// MouseHandler sets the cursor.
func (p *Prompt) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return p.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		if action != tview.MouseLeftDown || !p.InRect(x, y) {
			return false, nil
		}
		setFocus(p)
		if p.search == nil {
			left, top, w, _ := p.GetRect()
			left, w = left+margin(w), w-2*margin(w)
			p.edit(func() { p.editor.Click(p.editor.RowsOn(p.top, y-top), x-left-draw.Width(p.prefix(w))) })
			if p.vi.Normal {
				p.vi.Settle(p.editor)
			}
		}
		return true, nil
	})
}
