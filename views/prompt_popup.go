package views

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
)

const popupRows = 6

// CommandPopup lists the commands that begin with what is typed (I06), or the files that
// fit what is typed after an @. It belongs to a prompt, which gives it its keys; whoever draws the screen draws it last, above the
// prompt, while it is open.
type CommandPopup struct {
	frame
	commands  []CommandHelp
	matches   []CommandHelp
	at        int
	typed     string
	moved     bool // the selection was chosen, not only offered
	dismissed bool // until another command is begun
	first     int  // of matches that showed when it was drawn last
	clicked   int  // the match that was clicked last, plus one
	take      func()
}

func newCommandPopup(theme *themes.Theme, keys *keymap.Map) *CommandPopup {
	return &CommandPopup{frame: newFrame(theme, keys)}
}

// Open says that there is something to choose from.
func (c *CommandPopup) Open() bool { return len(c.matches) > 0 && !c.dismissed }

// Size returns the cells that the list wants, border included; 0, 0 while it is closed.
func (c *CommandPopup) Size() (w, h int) {
	if !c.Open() {
		return 0, 0
	}
	for _, m := range c.matches {
		w = max(w, textWidth(m.Help))
	}
	return c.nameWidth() + w + 6, min(len(c.matches), popupRows) + 2
}

func (c *CommandPopup) nameWidth() int {
	w := 0
	for _, m := range c.matches {
		w = max(w, textWidth(m.Name))
	}
	return w
}

// match offers the commands that begin with typed; none if it is empty.
func (c *CommandPopup) match(typed string) {
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
		if len(cmd.Name) >= len(typed) && strings.EqualFold(cmd.Name[:len(typed)], typed) {
			c.matches = append(c.matches, cmd)
		}
	}
	c.at = min(c.at, max(0, len(c.matches)-1))
}

// offer offers paths after an @, best first.
func (c *CommandPopup) offer(paths []string) {
	c.matches, c.at, c.moved, c.clicked = nil, 0, false, 0
	for _, path := range paths {
		c.matches = append(c.matches, CommandHelp{Name: "@" + path})
	}
}

// known returns the length of the command at the start of text, 0 if it is none.
func (c *CommandPopup) known(text []byte) int {
	if len(text) > 1 && text[0] == '!' {
		return 1 // the rest is a shell command
	}
	if len(text) == 0 || text[0] != '/' {
		return 0
	}
	n := 0
	for n < len(text) && !isBreak(text[n]) {
		n++
	}
	for _, cmd := range c.commands {
		if strings.EqualFold(cmd.Name, string(text[:n])) {
			return n
		}
	}
	return 0
}

func (c *CommandPopup) selected() string { return c.matches[c.at].Name }

func (c *CommandPopup) move(by int) {
	c.at = (c.at + by + len(c.matches)) % len(c.matches)
	c.moved = true
}

// MouseHandler selects a row, takes it with a second click, and moves with the wheel.
func (c *CommandPopup) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
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
			c.take()
		default:
			c.at, c.moved, c.clicked = i, true, i+1
		}
		return true, nil
	})
}

func (c *CommandPopup) dismiss() { c.dismissed = true }

// Draw draws the list with the selection in view.
func (c *CommandPopup) Draw(screen tcell.Screen) {
	if !c.Open() {
		return
	}
	in := c.bordered(screen, titles{}).cleared()
	first := max(0, min(c.at-in.h/2, len(c.matches)-in.h))
	c.first = first
	names := c.nameWidth()
	for i := 0; i < in.h && first+i < len(c.matches); i++ {
		m, row := c.matches[first+i], in.down(i)
		name, help, glyph := themes.Key, themes.Muted, " "
		if first+i == c.at {
			name, help, glyph = themes.Selection, themes.Selection, "▸"
			row.fill(0, row.w, c.palette[themes.Selection])
		}
		pad := strings.Repeat(" ", names-textWidth(m.Name)+2)
		row.spans(0, clip([]span{own(name, glyph+m.Name+pad), own(help, m.Help)}, row.w)...)
	}
}
