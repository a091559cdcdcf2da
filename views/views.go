// Package views draws the parts of the screen around the panes: header, status line, footer and task list. Larger views
// have their own packages in subfolders. A view is a tview.Primitive with an Update that processes changes of the
// state. It stores only facts about itself (scroll, fold), reports intents through callbacks, never calls the runtime
// and reads no clock: app provides the time.
//
//	h := views.NewHeader(theme, keys, home, time.Local)
//	h.Update(&s, state.Header)
package views
