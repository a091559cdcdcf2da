package views

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
)

// Help lists the commands, the keys of what has the focus, and then all other keys. It
// is made from the key map and the list of commands.
type Help struct {
	frame
	scope    keymap.Scope
	commands []CommandHelp
	body     body

	OnClose func()
	OnCopy  func(text string) // what the mouse selected
}

// NewHelp returns the help for the prompt.
func NewHelp(theme *themes.Theme, keys *keymap.Map) *Help {
	return &Help{frame: newFrame(theme, keys), scope: keymap.Prompt}
}

// SetCommands gives the commands that are listed.
func (h *Help) SetCommands(commands []CommandHelp) { h.commands, h.body = commands, body{} }

// SetScope says whose keys come first, and goes to the top.
func (h *Help) SetScope(s keymap.Scope) { h.scope, h.body = s, body{} }

// Scope says where keys go.
func (h *Help) Scope() keymap.Scope { return keymap.Help }

// InputHandler scrolls and closes.
func (h *Help) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return h.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		a, _ := h.keys.Lookup(keymap.Help, ev)
		switch a {
		case keymap.CloseHelp, keymap.Back:
			if h.OnClose != nil {
				h.OnClose()
			}
		default:
			h.body.move(a)
		}
	})
}

// MouseHandler scrolls, and selects text.
func (h *Help) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return h.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		h.body.onCopy = h.OnCopy
		return h.mouse(&h.body, action, ev), nil
	})
}

// CopySelection gives what is selected to OnCopy and reports whether there was something.
func (h *Help) CopySelection() bool { return h.body.CopySelection() }

const helpWidth = 90

// Size returns the cells that the help wants on a screen, border included.
func (h *Help) Size(maxW, maxH int) (w, rows int) {
	w = min(maxW, helpWidth)
	h.lay(w - 4)
	return w, min(maxH, len(h.body.rows)+2)
}

// Draw draws the rows that are scrolled to.
func (h *Help) Draw(screen tcell.Screen) {
	in := h.bordered(screen, titles{left: []span{own(themes.Strong, "Help")}, right: h.closing()}).cleared().inset()
	if in.w <= 0 || in.h <= 0 {
		return
	}
	h.lay(in.w)
	h.body.draw(in)
	h.drawMore(screen, h.body.window, len(h.body.rows))
}

// lay makes the rows for a width.
func (h *Help) lay(w int) {
	if h.body.width == w {
		return
	}
	h.body.relay(w)
	h.body.rows = asLines(h.rows(w))
}

// closing names the key that closes the help.
func (h *Help) closing() []span {
	return h.named(keymap.Back, " closes")
}

// rows are all rows at a width.
func (h *Help) rows(w int) [][]span {
	var rows [][]span
	if len(h.commands) > 0 {
		rows = h.head(rows, "Commands")
		for _, c := range h.commands {
			rows = h.entry(rows, c.Name, c.Help, w)
		}
	}
	rows = h.section(rows, h.scope, w)
	if h.scope != keymap.Global {
		rows = h.section(rows, keymap.Global, w)
	}
	for _, s := range keymap.Scopes() {
		if s != h.scope && s != keymap.Global {
			rows = h.section(rows, s, w)
		}
	}
	return rows
}

func (h *Help) head(rows [][]span, title string) [][]span {
	if len(rows) > 0 {
		rows = append(rows, nil)
	}
	return append(rows, []span{own(themes.Heading, title)})
}

func (h *Help) section(rows [][]span, s keymap.Scope, w int) [][]span {
	rows = h.head(rows, s.Title())
	for _, e := range h.keys.In(s) {
		names := make([]string, len(e.Keys))
		for i, k := range e.Keys {
			names[i] = k.String()
		}
		rows = h.entry(rows, strings.Join(names, " "), e.Help, w)
	}
	return rows
}

const keyColumn = 30

// entry is keys at the left and what they do beside them, or below them where it is narrow.
func (h *Help) entry(rows [][]span, keys, text string, w int) [][]span {
	indent := keyColumn
	if w < 2*keyColumn {
		indent = 4
	}
	row := []span{own(themes.Key, keys)}
	n := textWidth(keys)
	for _, line := range wrapWords(text, w-indent) {
		if n+2 > indent {
			rows = append(rows, row)
			row, n = nil, 0
		}
		row = append(row, own(themes.Text, strings.Repeat(" ", indent-n)+line))
		rows = append(rows, row)
		row, n = nil, 0
	}
	return rows
}
