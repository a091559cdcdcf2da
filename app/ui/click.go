package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/layout"
)

// pressed is a key that is named on the screen and that the mouse button is held on.
type pressed struct {
	view  tview.Primitive // that takes the keys
	key   keymap.Key
	asked string // the approval that shows
}

// click does what a key means when its name on the screen is clicked, and reports whether
// the action was about that. The button has to go down and up on the same key of the same
// dialog, so that one that opens under the pointer is not answered.
func (u *UI) click(action tview.MouseAction, ev *tcell.EventMouse) bool {
	switch action {
	case tview.MouseLeftDown:
		u.pressed = u.keyAt(ev.Position())
		return u.pressed != pressed{}
	case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
		was := u.pressed
		if u.pressed = (pressed{}); was == (pressed{}) || was != u.keyAt(ev.Position()) {
			return false
		}
		u.key(was.key.Event())
		return true
	}
	return false
}

// keyAt returns the key that is named at a place: in the dialog, or in the footer, which
// never answers an approval.
func (u *UI) keyAt(x, y int) pressed {
	_, view := u.target()
	asked := ""
	if u.asking() {
		asked = u.v.approval.Asked()
	}
	if v, ok := view.(interface {
		KeyAt(x, y int) (keymap.Key, bool)
	}); ok && u.covered() {
		if key, ok := v.KeyAt(x, y); ok {
			return pressed{view, key, asked}
		}
	}
	d := u.lay.Dialog
	under := u.covered() && x >= d.X && x < d.X+d.W && y >= d.Y && y < d.Y+d.H
	if key, ok := u.v.footer.KeyAt(x, y); ok && asked == "" && !under {
		return pressed{view, key, ""}
	}
	return pressed{}
}

// choose takes a click on a line of a question: the number of the choice there is put into
// the prompt, unless something else is typed there. Enter sends it.
func (u *UI) choose(question string, line int) {
	if len(u.state.Questions) == 0 || u.state.Questions[0].ID != question {
		return
	}
	q := u.state.Questions[0]
	typed := strings.TrimSpace(u.v.prompt.Text())
	if n, err := strconv.Atoi(typed); typed != "" && (err != nil || n < 1 || n > len(q.Choices)) {
		return
	}
	line -= strings.Count(q.Text, "\n") + 1
	for i, c := range q.Choices {
		lines := strings.Count(c, "\n") + 1
		if line >= 0 && line < lines {
			u.setFocus(layout.Prompt)
			u.v.prompt.SetText(strconv.Itoa(i + 1))
			u.hint("", fmt.Sprintf("%s answers: %s", u.keyName(keymap.Send), strings.Join(strings.Fields(c), " ")))
			return
		}
		line -= lines
	}
}
