package dialog

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// Ask is a dialog in which a person types one line.
type Ask struct {
	draw.Frame
	title, label string
	accept       func(text string) error
	editor       *edit.Editor // nil if nothing is asked
	wrong        string       // the error about the line
	place        draw.Canvas  // place of the line at the last draw
	row          edit.Row     // the visible part of the line
}

// NewAsk returns a closed dialog.
func NewAsk(theme *themes.Theme, keys *keymap.Map) *Ask {
	return &Ask{Frame: draw.NewFrame(theme, keys)}
}

// Show asks for a line. The title may be untrusted, the label must not be. accept gets the line; its error is shown and
// keeps the dialog open.
func (a *Ask) Show(title, label string, accept func(text string) error) {
	a.title, a.label, a.accept, a.editor, a.wrong = title, label, accept, edit.New(), ""
}

// Open reports whether a line is being asked for.
func (a *Ask) Open() bool { return a.editor != nil }

// Scope returns the key scope of the dialog.
func (a *Ask) Scope() keymap.Scope { return keymap.Asking }

// Press edits the line, passes it to accept, or closes the dialog.
func (a *Ask) Press(p keymap.Press) {
	switch p.Action {
	case keymap.AskSend:
		a.send()
	case keymap.AskClose:
		a.editor = nil
	default:
		a.wrong = ""
		a.editor.Press(p)
	}
}

func (a *Ask) send() {
	text := strings.TrimSpace(a.editor.Text())
	if err := a.accept(text); err != nil {
		a.wrong = err.Error()
		return
	}
	a.editor = nil
}

// PasteHandler pastes text as one line.
func (a *Ask) PasteHandler() func(string, func(tview.Primitive)) {
	return a.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if a.editor != nil {
			a.editor.Insert(texts.OneLine(text))
		}
	})
}

// MouseHandler sets the cursor.
func (a *Ask) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return a.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		on := action == tview.MouseLeftDown && a.editor != nil && y == a.place.Y && x >= a.place.X && x < a.place.X+a.place.W
		if on {
			a.editor.Click(a.row, x-a.place.X)
		}
		return on, nil
	})
}

// Size returns the size of the dialog, border included.
func (a *Ask) Size(maxW, maxH int) (w, rows int) {
	w = min(maxW, confirmWidth)
	above, _ := a.labels(w - 4)
	return w, min(maxH, len(above)+3+len(a.below(w-4)))
}

// labels returns the label as text before the line or, if that would leave too little room, as rows above the line.
func (a *Ask) labels(w int) (above [][]draw.Span, before []draw.Span) {
	before = []draw.Span{draw.Text(themes.Accent, a.label+" ")}
	if draw.Width(before) > w/2 {
		return draw.WrapSentence([]draw.Span{draw.Text(themes.Accent, a.label)}, w), []draw.Span{draw.Text(themes.Accent, "> ")}
	}
	return nil, before
}

// below returns the error, or the keys.
func (a *Ask) below(w int) [][]draw.Span {
	if a.wrong != "" {
		return draw.AtMost(draw.WrapSentence(draw.Untrusted(themes.Warning, a.wrong), w), rowsOfNotice, w)
	}
	return [][]draw.Span{draw.HintRow(draw.HintsOf(a.Keys, keymap.Asking), w)}
}

// Draw draws the line, and below it the error or the keys.
func (a *Ask) Draw(screen tcell.Screen) {
	in := a.Bordered(screen, draw.Titles{Left: draw.Untrusted(themes.Strong, a.title)}).Cleared().Inset()
	if in.W <= 0 || in.H <= 0 || a.editor == nil {
		return
	}
	above, before := a.labels(in.W)
	in = in.Below(in.Rows(above[:min(len(above), in.H-1)]))
	a.editor.SetWidth(edit.Room(in.W, before))
	line := draw.Area{Canvas: in.At(in.Spans(0, before...)), H: 1}
	a.place = line.Canvas
	a.row, _ = a.editor.CursorRow()
	in = in.Below(edit.Draw(line, a.editor, a.HasFocus()))
	below := a.below(in.W)
	in.Rows(below[:min(len(below), in.H)])
}
