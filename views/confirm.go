package views

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
)

// Confirm asks a person to choose among the actions of a scope before something happens
// that can't be taken back. Back chooses nothing.
type Confirm struct {
	frame
	asked  Question
	open   bool
	window window
}

// Question is what a Confirm asks. Its texts may be anybody's.
type Question struct {
	Title  string
	Lines  []string
	Scope  keymap.Scope
	Answer func(keymap.Action) // gets an action of Scope, after the question is closed
}

// NewConfirm returns a dialog that asks nothing.
func NewConfirm(theme *themes.Theme, keys *keymap.Map) *Confirm {
	return &Confirm{frame: newFrame(theme, keys)}
}

// Ask opens the dialog.
func (c *Confirm) Ask(q Question) { c.asked, c.open, c.window = q, true, window{} }

// Close closes the dialog without an answer.
func (c *Confirm) Close() { c.asked, c.open = Question{}, false }

// Open says that a question waits.
func (c *Confirm) Open() bool { return c.open }

// Scope says where keys go.
func (c *Confirm) Scope() keymap.Scope { return c.asked.Scope }

// InputHandler answers or scrolls.
func (c *Confirm) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return c.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		a, ok := c.keys.Lookup(c.asked.Scope, ev)
		switch a {
		case keymap.ScrollUp, keymap.ScrollDown, keymap.PageUp, keymap.PageDown, keymap.ScrollTop, keymap.ScrollBottom:
			c.window.move(a)
			return
		}
		if !ok {
			return
		}
		answer := c.asked.Answer
		if c.Close(); a != keymap.Back && answer != nil {
			answer(a)
		}
	})
}

// confirmWidth is as wide as the dialog gets.
const confirmWidth = 76

// Size returns the cells that the dialog wants on a screen, border included.
func (c *Confirm) Size(maxW, maxH int) (w, rows int) {
	w = min(maxW, confirmWidth)
	return w, min(maxH, len(c.lines(w-4))+len(c.choices(w-4))+3)
}

// Draw draws the question, of which the end scrolls, and the answers.
func (c *Confirm) Draw(screen tcell.Screen) {
	in := c.bordered(screen, titles{left: foreign(themes.Strong, c.asked.Title)}).cleared().inset()
	if in.w <= 0 || in.h <= 0 {
		return
	}
	choices := c.choices(in.w)
	lines := c.lines(in.w)
	room := max(in.h-len(choices), 0)
	if len(lines) < room {
		room-- // a blank row
	}
	from, to := c.window.show(len(lines), room)
	in.rows(lines[from:to])
	in.below(max(in.h-len(choices), 0)).rows(choices)
	c.drawMore(screen, c.window, len(lines))
}

func (c *Confirm) lines(w int) [][]span {
	var rows [][]span
	for _, l := range c.asked.Lines {
		rows = append(rows, wrapSentence(foreign(themes.Text, l), w)...)
	}
	return rows
}

// choices are the keys that answer, as many rows as they need.
func (c *Confirm) choices(w int) [][]span {
	rows, used := [][]span{nil}, 0
	for _, e := range c.keys.In(c.asked.Scope) {
		label := e.Label
		if e.Action == keymap.Back {
			label = "back"
		}
		if label == "" || len(e.Keys) == 0 {
			continue
		}
		item := []span{own(themes.Key, "["+e.Keys[0].String()+"]"), own(themes.Text, " "+label)}
		n := spansWidth(item)
		if used > 0 && used+3+n > w {
			rows, used = append(rows, nil), 0
		}
		last := len(rows) - 1
		if used > 0 {
			rows[last] = append(rows[last], own(themes.Text, "   "))
			used += 3
		}
		rows[last] = append(rows[last], item...)
		used += n
	}
	return rows
}
