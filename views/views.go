// Package views draws the state in the lines around the panes: header, status line, footer,
// tabs, the list of tasks. What is larger has a room below. A view is a tview.Primitive with
// an Update that looks at what changed; it keeps only facts about itself (scroll, fold),
// reports intents through callbacks, never calls the runtime, reads no clock: the time
// comes from app.
//
//	h := views.NewHeader(theme, keys, home, time.Local)
//	h.Update(&s, state.Header)
package views
