// Package views draws the state: one file a pane or dialog. A pane is a
// tview.Primitive with an Update that looks at what changed; it keeps only facts about
// the view itself (scroll, fold) and reports intents through callbacks. It never calls
// the runtime and reads no clock: the time comes from app.
//
//	c := views.NewConversation(theme, keymap.Default())
//	c.Update(&s, state.Conversation)
package views

import (
	"github.com/gdamore/tcell/v2"

	"buddy/themes"
)

// cellStyle turns a theme's style into one for cells.
func cellStyle(s themes.Style) tcell.Style {
	st := tcell.StyleDefault
	if s.FG.Set {
		st = st.Foreground(tcell.NewHexColor(int32(s.FG.RGB)))
	}
	if s.BG.Set {
		st = st.Background(tcell.NewHexColor(int32(s.BG.RGB)))
	}
	return st.Bold(s.Bold).Dim(s.Dim).Italic(s.Italic).Underline(s.Underline).Reverse(s.Reversed)
}
