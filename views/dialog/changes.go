package dialog

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Changes is a dialog with a diff to scroll.
type Changes struct {
	draw.Frame
	title string
	text  string
	body  body

	OnCopy  func(text string)
	OnEdit  func(text string) // opens the diff in an editor
	OnClose func()
}

// NewChanges returns a dialog with a diff, which is untrusted.
func NewChanges(theme *themes.Theme, keys *keymap.Map, title, diff string) *Changes {
	return &Changes{Frame: draw.NewFrame(theme, keys), title: title, text: diff}
}

// SetHighlighter sets the highlighter of the diff's code. By default code is plain.
func (c *Changes) SetHighlighter(h *markup.Highlighter) { c.body.code = h }

// Scope returns the key scope of the dialog.
func (c *Changes) Scope() keymap.Scope { return keymap.Changes }

// Press scrolls, copies and closes.
func (c *Changes) Press(p keymap.Press) {
	switch a := p.Action; {
	case (a == keymap.CloseChanges || a == keymap.Back) && c.OnClose != nil:
		c.OnClose()
	case a == keymap.CopyChanges && c.OnCopy != nil:
		c.OnCopy(c.text)
	case a == keymap.EditChanges && c.OnEdit != nil:
		c.OnEdit(c.text)
	default:
		c.body.Move(a)
	}
}

// MouseHandler scrolls, and selects text.
func (c *Changes) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return c.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		c.body.onCopy = c.OnCopy
		return mouseIn(&c.Frame, &c.body, action, ev), nil
	})
}

// CopySelection passes the selected text to OnCopy and reports whether there was any.
func (c *Changes) CopySelection() bool { return c.body.CopySelection() }

// Draw draws the visible rows.
func (c *Changes) Draw(screen tcell.Screen) {
	in := c.Bordered(screen, draw.Titles{Left: append([]draw.Span{draw.Text(themes.Strong, "Changes ")}, draw.Untrusted(themes.Muted, c.title)...)}).Cleared().Inset()
	if in.W <= 0 || in.H < 2 {
		return
	}
	if c.body.width != in.W {
		c.body.relay(in.W)
		c.body.addDiff(0, markup.NewDiff(c.text, markup.DiffView{}), in.W)
	}
	c.body.draw(draw.Area{Canvas: in.Canvas, H: in.H - 1})
	in.Down(in.H-1).Spans(0, draw.HintRow(draw.HintsOf(c.Keys, keymap.Changes), in.W)...)
	c.DrawMore(screen, c.body.Viewport, len(c.body.rows))
}

// Size returns maxW and maxH.
func (c *Changes) Size(maxW, maxH int) (w, h int) { return maxW, maxH }
