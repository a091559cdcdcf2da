package dialog

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
)

// Confirm asks a person to choose among the actions of a scope before something happens
// that can't be taken back. Back chooses nothing.
type Confirm struct {
	draw.Frame
	asked Question
	open  bool
	body  body

	OnCopy func(text string) // what the mouse selected
}

// Question holds what a Confirm asks. Its texts may be anybody's.
type Question struct {
	Title  string
	Lines  []string
	Scope  keymap.Scope
	Answer func(keymap.Action) // gets an action of Scope, after the question is closed
}

// NewConfirm returns a dialog that asks nothing.
func NewConfirm(theme *themes.Theme, keys *keymap.Map) *Confirm {
	return &Confirm{Frame: draw.NewFrame(theme, keys)}
}

// Ask opens the dialog.
func (c *Confirm) Ask(q Question) { c.asked, c.open, c.body = q, true, body{} }

// Close closes the dialog without an answer.
func (c *Confirm) Close() { c.asked, c.open = Question{}, false }

// Open reports whether a question waits.
func (c *Confirm) Open() bool { return c.open }

// Scope returns the scope in which keys are looked up.
func (c *Confirm) Scope() keymap.Scope { return c.asked.Scope }

// InputHandler answers or scrolls.
func (c *Confirm) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return c.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		p := c.Keys.Lookup(ev, c.asked.Scope)
		switch p.Action {
		case keymap.ScrollUp, keymap.ScrollDown, keymap.PageUp, keymap.PageDown, keymap.ScrollTop, keymap.ScrollBottom:
			c.body.Move(p.Action)
			return
		}
		if !p.Bound() {
			return
		}
		answer := c.asked.Answer
		if c.Close(); p.Action != keymap.Back && answer != nil {
			answer(p.Action)
		}
	})
}

// MouseHandler scrolls the question and selects text of it.
func (c *Confirm) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return c.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		c.body.onCopy = c.OnCopy
		return mouseIn(&c.Frame, &c.body, action, ev), nil
	})
}

// CopySelection gives what is selected to OnCopy and reports whether there was something.
func (c *Confirm) CopySelection() bool { return c.body.CopySelection() }

// confirmWidth is as wide as the dialog gets.
const confirmWidth = 76

// Size returns the cells that the dialog wants on a screen, border included.
func (c *Confirm) Size(maxW, maxH int) (w, rows int) {
	w = min(maxW, confirmWidth)
	c.lay(w - 4)
	return w, min(maxH, len(c.body.rows)+len(c.choices(w-4))+3)
}

// Draw draws the question, of which the end scrolls, and the answers.
func (c *Confirm) Draw(screen tcell.Screen) {
	in := c.Bordered(screen, draw.Titles{Left: draw.Untrusted(themes.Strong, c.asked.Title)}).Cleared().Inset()
	if in.W <= 0 || in.H <= 0 {
		return
	}
	choices := c.choices(in.W)
	c.lay(in.W)
	room := max(in.H-len(choices), 0)
	if len(c.body.rows) < room {
		room-- // a blank row
	}
	c.body.draw(draw.Area{Canvas: in.Canvas, H: room})
	in.Below(max(in.H-len(choices), 0)).Rows(choices)
	c.DrawMore(screen, c.body.Viewport, len(c.body.rows))
}

// lay makes the rows for a width.
func (c *Confirm) lay(w int) {
	if c.body.width == w {
		return
	}
	c.body.relay(w)
	for _, l := range c.asked.Lines {
		c.body.addWords(0, draw.Untrusted(themes.Text, l), w)
	}
}

// choices are the keys that answer, as many rows as they need.
func (c *Confirm) choices(w int) [][]draw.Span {
	var choices []draw.Hint
	for _, e := range c.Keys.In(c.asked.Scope) {
		label := e.Label
		if e.Action == keymap.Back {
			label = "back"
		}
		if label != "" && len(e.Keys) > 0 {
			choices = append(choices, draw.Hint{Key: e.Keys[0], Label: label})
		}
	}
	return draw.Choices(choices, w)
}
