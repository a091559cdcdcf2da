package dialog

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
)

// Help lists the keys of what has the focus and those that apply everywhere, the commands, and then all other
// keys. It is made from the key map and the list of commands.
type Help struct {
	draw.Frame
	scope    keymap.Scope
	commands []draw.CommandHelp
	body     body

	OnClose func()
	OnCopy  func(text string) // what the mouse selected
}

// NewHelp returns the help for the prompt.
func NewHelp(theme *themes.Theme, keys *keymap.Map) *Help {
	return &Help{Frame: draw.NewFrame(theme, keys), scope: keymap.Prompt}
}

// SetCommands gives the commands that are listed.
func (h *Help) SetCommands(commands []draw.CommandHelp) { h.commands, h.body = commands, body{} }

// SetScope says whose keys come first, and goes to the top.
func (h *Help) SetScope(s keymap.Scope) { h.scope, h.body = s, body{} }

// Scope returns the scope in which keys are looked up.
func (h *Help) Scope() keymap.Scope { return keymap.Help }

// InputHandler scrolls and closes.
func (h *Help) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return h.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		a := h.Keys.Lookup(ev, keymap.Help).Action
		switch a {
		case keymap.CloseHelp, keymap.Back:
			if h.OnClose != nil {
				h.OnClose()
			}
		default:
			h.body.Move(a)
		}
	})
}

// MouseHandler scrolls, and selects text.
func (h *Help) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return h.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		h.body.onCopy = h.OnCopy
		return mouseIn(&h.Frame, &h.body, action, ev), nil
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
	in := h.Bordered(screen, draw.Titles{Left: []draw.Span{draw.Text(themes.Strong, "Help")}, Right: h.closing()}).Cleared().Inset()
	if in.W <= 0 || in.H <= 0 {
		return
	}
	h.lay(in.W)
	h.body.draw(in)
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

// closing names the key that closes the help.
func (h *Help) closing() []draw.Span {
	return h.Named(keymap.Back, " closes")
}

// rows are all rows at a width.
func (h *Help) rows(w int) [][]draw.Span {
	rows := h.section(nil, h.scope, w)
	if h.scope != keymap.Global {
		rows = h.section(rows, keymap.Global, w)
	}
	if len(h.commands) > 0 {
		rows = h.head(rows, "Commands")
		for _, c := range h.commands {
			rows = h.entry(rows, c.Name, c.Help, w)
		}
	}
	for _, s := range keymap.Scopes() {
		if s != h.scope && s != keymap.Global {
			rows = h.section(rows, s, w)
		}
	}
	return rows
}

func (h *Help) head(rows [][]draw.Span, title string) [][]draw.Span {
	if len(rows) > 0 {
		rows = append(rows, nil)
	}
	return append(rows, []draw.Span{draw.Text(themes.Heading, title)})
}

func (h *Help) section(rows [][]draw.Span, s keymap.Scope, w int) [][]draw.Span {
	rows = h.head(rows, s.Title())
	for e := range h.Keys.In(s) {
		names := make([]string, len(e.Keys))
		for i, k := range e.Keys {
			names[i] = k.String()
		}
		rows = h.entry(rows, strings.Join(names, " "), e.Help, w)
	}
	return rows
}

const keyColumn = 22

// entry is keys at the left and what they do beside them, or below them where it is narrow.
func (h *Help) entry(rows [][]draw.Span, keys, text string, w int) [][]draw.Span {
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
