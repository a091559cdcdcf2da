package dialog

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// Help lists actions and their keys: first the cheat sheet, then keys that apply everywhere and to the focus, then
// commands and all other keys. Typing searches.
type Help struct {
	draw.Frame
	scope    keymap.Scope
	commands []draw.CommandHelp
	query    string
	listed   map[keymap.Action]bool // actions already listed, while rows are made
	body     body

	OnClose func()
	OnCopy  func(text string) // selected by the mouse
}

// NewHelp returns the help for the prompt.
func NewHelp(theme *themes.Theme, keys *keymap.Map) *Help {
	return &Help{Frame: draw.NewFrame(theme, keys), scope: keymap.Prompt}
}

// SetCommands sets the listed commands.
func (h *Help) SetCommands(commands []draw.CommandHelp) { h.commands, h.body = commands, body{} }

// SetScope sets the scope whose keys come early, and goes to the top of the whole list.
func (h *Help) SetScope(s keymap.Scope) { h.scope, h.query, h.body = s, "", body{} }

// Scope returns the key scope of the dialog.
func (h *Help) Scope() keymap.Scope { return keymap.Help }

// Press searches, scrolls and closes.
func (h *Help) Press(p keymap.Press) {
	switch {
	case p.Types():
		h.look(h.query + p.Text)
	case p.Action == keymap.PickErase:
		h.look(edit.DropLast(h.query))
	case p.Action == keymap.PickClear:
		h.look("")
	case p.Action == keymap.Back && h.OnClose != nil:
		h.OnClose()
	default:
		h.body.Move(moves[p.Action])
	}
}

// moves maps actions that move in a list to actions that scroll a text.
var moves = map[keymap.Action]keymap.Action{
	keymap.PickUp: keymap.ScrollUp, keymap.PickDown: keymap.ScrollDown, keymap.PickPageUp: keymap.PageUp,
	keymap.PickPageDown: keymap.PageDown, keymap.PickFirst: keymap.ScrollTop, keymap.PickLast: keymap.ScrollBottom,
}

// look searches for a text.
func (h *Help) look(query string) {
	if len(query) <= maxFilter {
		h.query, h.body = query, body{}
	}
}

// MouseHandler scrolls, and selects text.
func (h *Help) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return h.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		h.body.onCopy = h.OnCopy
		return mouseIn(&h.Frame, &h.body, action, ev), nil
	})
}

// CopySelection passes the selected text to OnCopy and reports whether there was any.
func (h *Help) CopySelection() bool { return h.body.CopySelection() }

const helpWidth = 90

// Size returns the size of the help, border included.
func (h *Help) Size(maxW, maxH int) (w, rows int) {
	w = min(maxW, helpWidth)
	h.lay(w - 4)
	if h.query != "" {
		return w, maxH // the search line keeps its place
	}
	return w, min(maxH, len(h.body.rows)+3)
}

// Draw draws the visible rows.
func (h *Help) Draw(screen tcell.Screen) {
	in := h.Bordered(screen, draw.Titles{Left: []draw.Span{draw.Text(themes.Strong, "Help")}, Right: h.closing()}).Cleared().Inset()
	if in.W <= 0 || in.H <= 0 {
		return
	}
	h.lay(in.W)
	h.drawSearch(in.Canvas)
	h.body.draw(in.Below(1))
	h.DrawMore(screen, h.body.Viewport, len(h.body.rows))
}

// lay makes the rows for a width.
func (h *Help) lay(w int) {
	if h.body.width == w {
		return
	}
	h.body.relay(w)
	h.body.rows = asLines(h.rows(w))
}

// closing returns the key that closes the help.
func (h *Help) closing() []draw.Span {
	return h.Named(keymap.Back, " closes")
}

// drawSearch draws the search line.
func (h *Help) drawSearch(row draw.Canvas) {
	col := row.Say(0, "> ", themes.Accent)
	if h.query == "" {
		row.Say(col, "Type what you want to do, for example: stop", themes.Muted)
	}
	col = row.Spans(col, draw.Clip(draw.Untrusted(themes.Text, h.query), row.W-col-1)...)
	if h.HasFocus() {
		row.Screen.ShowCursor(row.X+min(col, row.W-1), row.Y)
	}
}

// rows returns all rows at a width.
func (h *Help) rows(w int) [][]draw.Span {
	var rows [][]draw.Span
	if h.query == "" {
		rows = basicRows(h.Keys, w)
	}
	h.listed = map[keymap.Action]bool{}
	rows = h.basics(rows, w)
	rows = h.section(rows, keymap.Global, w)
	if h.scope != keymap.Global {
		rows = h.section(rows, h.scope, w)
	}
	var commands [][]draw.Span
	for _, c := range h.commands {
		commands = h.entry(commands, c.Name, c.Help, w, c.Means...)
	}
	rows = h.head(rows, "Commands", commands)
	for _, s := range keymap.Scopes() {
		if s != h.scope && s != keymap.Global {
			rows = h.section(rows, s, w)
		}
	}
	rows = h.head(rows, "Ask the agent", h.entry(nil, "Rename Tax to Duty", "The agent renames a symbol in all files with a language server (LSP); also: go to definition, find references", w))
	if len(rows) == 0 {
		rows = [][]draw.Span{{draw.Text(themes.Muted, "Nothing found. /help shows every command.")}}
	}
	return rows
}

// head appends the title and rows of a section, if there are any.
func (h *Help) head(rows [][]draw.Span, title string, section [][]draw.Span) [][]draw.Span {
	if len(section) == 0 {
		return rows
	}
	if len(rows) > 0 {
		rows = append(rows, nil)
	}
	return append(append(rows, []draw.Span{draw.Text(themes.Heading, title)}), section...)
}

// wanted reports whether an entry has all words of the query.
func (h *Help) wanted(entry string) bool {
	entry = strings.ToLower(entry)
	for word := range strings.FieldsSeq(strings.ToLower(h.query)) {
		if !strings.Contains(entry, word) {
			return false
		}
	}
	return true
}

// basics appends the most important keys.
func (h *Help) basics(rows [][]draw.Span, w int) [][]draw.Span {
	var entries [][]draw.Span
	for _, b := range basics {
		for _, s := range []keymap.Scope{keymap.Prompt, keymap.Global} {
			for e := range h.Keys.In(s) {
				if e.Action == b.action {
					entries = h.action(entries, e, w)
				}
			}
		}
	}
	return h.head(rows, "What everybody needs", entries)
}

// section appends the actions of a scope that are not listed above.
func (h *Help) section(rows [][]draw.Span, s keymap.Scope, w int) [][]draw.Span {
	var entries [][]draw.Span
	for e := range h.Keys.In(s) {
		entries = h.action(entries, e, w)
	}
	return h.head(rows, s.Title(), entries)
}

// action appends an action with its keys, unless the action is listed already.
func (h *Help) action(entries [][]draw.Span, e keymap.Entry, w int) [][]draw.Span {
	if h.listed[e.Action] {
		return entries
	}
	h.listed[e.Action] = true
	names := make([]string, len(e.Keys))
	for i, k := range e.Keys {
		names[i] = k.String()
	}
	return h.entry(entries, strings.Join(names, " "), e.Help, w)
}

const keyColumn = 22

// entry appends keys and their description if the query matches them or the hidden words. The description is next to
// the keys or, if w is small, below them.
func (h *Help) entry(rows [][]draw.Span, keys, text string, w int, hidden ...string) [][]draw.Span {
	if !h.wanted(keys + " " + text + " " + strings.Join(hidden, " ")) {
		return rows
	}
	indent := keyColumn
	if w < 2*keyColumn {
		indent = 4
	}
	row := []draw.Span{draw.Text(themes.Key, keys)}
	n := draw.TextWidth(keys)
	for _, line := range draw.WrapWords(text, w-indent) {
		if n+2 > indent {
			rows = append(rows, row)
			row, n = nil, 0
		}
		row = append(row, draw.Text(themes.Text, strings.Repeat(" ", indent-n)+line))
		rows = append(rows, row)
		row, n = nil, 0
	}
	return rows
}
