package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

const (
	popupRows = 6  // minimal number of rows
	mostRows  = 16 // on a high screen
	restRows  = 14 // rows of the screen that a popup of more than popupRows leaves free
)

// Popup lists commands that start with the typed text, arguments of a command, or files that match the text after an @.
// It belongs to a prompt, which handles its keys; while it is open it is drawn last, above the prompt.
type Popup struct {
	draw.Frame
	commands  []draw.CommandHelp
	matches   []draw.CommandHelp
	at        int
	typed     string
	moved     bool // a person moved the selection
	dismissed bool // closed until another command is typed
	first     int  // first match displayed at the last draw
	clicked   int  // index of the last clicked match, plus one
	accept    func()
}

func newCommandPopup(theme *themes.Theme, keys *keymap.Map) *Popup {
	return &Popup{Frame: draw.NewFrame(theme, keys)}
}

// Open reports whether the list is open.
func (c *Popup) Open() bool { return len(c.matches) > 0 && !c.dismissed }

// Size returns the size of the list on a screen with the given number of rows, border included; 0, 0 while it is
// closed.
func (c *Popup) Size(rows int) (w, h int) {
	if !c.Open() {
		return 0, 0
	}
	for _, m := range c.matches {
		w = max(w, draw.TextWidth(popupText(m, true)))
	}
	return c.nameWidth() + w + 6, min(len(c.matches), max(popupRows, min(rows-restRows, mostRows))) + 2
}

func (c *Popup) nameWidth() int {
	w := 0
	for _, m := range c.matches {
		w = max(w, draw.TextWidth(m.Name))
	}
	return w
}

// leastMeant is the minimum number of typed letters for which a command is also offered because of a word in its Means.
const leastMeant = 3

// match offers the commands that start with the typed text, an exact match first, then commands for which Means has a
// word with that start. It offers none if the text is empty.
func (c *Popup) match(typed string) {
	if typed == "" {
		c.dismissed = false
	}
	if typed != c.typed {
		c.at, c.moved = 0, false
	}
	c.typed, c.matches, c.clicked = typed, nil, 0
	if typed == "" {
		return
	}
	for _, cmd := range c.commands {
		switch {
		case strings.EqualFold(cmd.Name, typed):
			c.matches = slices.Insert(c.matches, 0, cmd)
		case len(cmd.Name) > len(typed) && strings.EqualFold(cmd.Name[:len(typed)], typed):
			c.matches = append(c.matches, cmd)
		}
	}
	for _, cmd := range c.commands {
		if n := len(typed) - 1; n >= leastMeant && slices.ContainsFunc(cmd.Means, func(w string) bool { return len(w) >= n && strings.EqualFold(w[:n], typed[1:]) }) &&
			!slices.ContainsFunc(c.matches, func(m draw.CommandHelp) bool { return m.Name == cmd.Name }) {
			c.matches = append(c.matches, cmd)
		}
	}
	c.at = min(c.at, max(0, len(c.matches)-1))
}

// offer offers words, best first.
func (c *Popup) offer(words []draw.CommandHelp) {
	c.matches, c.at, c.moved, c.clicked = words, 0, false, 0
}

// narrow removes the offered words that do not start with a text.
func (c *Popup) narrow(prefix string) {
	c.offer(slices.DeleteFunc(slices.Clone(c.matches), func(m draw.CommandHelp) bool { return !strings.HasPrefix(m.Name, prefix) }))
}

// known returns the length of the command at the start of text, 0 if there is none.
func (c *Popup) known(text []byte) int {
	if len(text) == 0 || text[0] != '/' {
		return 0
	}
	n := 0
	for n < len(text) && !edit.IsBreak(text[n]) {
		n++
	}
	for _, cmd := range c.commands {
		if strings.EqualFold(cmd.Name, string(text[:n])) {
			return n
		}
	}
	return 0
}

func (c *Popup) selected() string { return c.matches[c.at].Name }

func (c *Popup) move(by int) {
	c.at = (c.at + by + len(c.matches)) % len(c.matches)
	c.moved = true
}

// MouseHandler selects a row, accepts it with a second click, and moves with the wheel.
func (c *Popup) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return c.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		_, top, _, h := c.GetRect()
		_, y := ev.Position()
		i := c.first + y - top - 1
		switch {
		case !c.Open() || !c.InRect(ev.Position()):
			return false, nil
		case action == tview.MouseScrollUp:
			c.at, c.moved = max(0, c.at-1), true
		case action == tview.MouseScrollDown:
			c.at, c.moved = min(len(c.matches)-1, c.at+1), true
		case action != tview.MouseLeftClick && action != tview.MouseLeftDoubleClick:
		case y <= top || y >= top+h-1 || i >= len(c.matches):
		case c.clicked == i+1 && c.at == i:
			c.accept()
		default:
			c.at, c.moved, c.clicked = i, true, i+1
		}
		return true, nil
	})
}

func (c *Popup) dismiss() { c.dismissed = true }

// Reopen opens a dismissed list again, and reports whether there was one.
func (c *Popup) Reopen() bool {
	was := c.dismissed && len(c.matches) > 0
	c.dismissed = c.dismissed && !was
	return was
}

// Draw draws the list with the selection in view.
func (c *Popup) Draw(screen tcell.Screen) {
	if !c.Open() {
		return
	}
	_, _, _, h := c.GetRect()
	h -= 2 // borders
	first := max(0, min(c.at-h/2, len(c.matches)-h))
	c.first = first
	var more []draw.Span
	if n := len(c.matches) - first - h; n > 0 {
		more = []draw.Span{draw.Text(themes.Muted, fmt.Sprintf("%d more ↓", n))}
	}
	in := c.Bordered(screen, draw.Titles{Right: more}).Cleared()
	names := c.nameWidth()
	for i := 0; i < in.H && first+i < len(c.matches); i++ {
		m, row := c.matches[first+i], in.Down(i)
		name, help, glyph := themes.Key, themes.Muted, " "
		if first+i == c.at {
			name, help, glyph = themes.Selection, themes.Selection, "▸"
			row.Fill(0, row.W, c.Palette[themes.Selection])
		}
		pad := strings.Repeat(" ", names-draw.TextWidth(m.Name)+2)
		row.Spans(0, draw.Clip([]draw.Span{draw.Text(name, glyph+m.Name+pad), draw.Text(help, popupText(m, first+i == c.at))}, row.W)...)
	}
}

// popupText describes a command and, if it is marked, its arguments.
func popupText(m draw.CommandHelp, marked bool) string {
	if !marked || m.Args == "" {
		return m.Help
	}
	if m.Help == "" {
		return m.Args
	}
	return m.Help + " · usage: " + m.Name + " " + m.Args
}
