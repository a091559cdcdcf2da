// Package views draws the parts of the screen around the panes: header, status line, footer and task list. Larger views
// have their own packages in subfolders. A view is a tview.Primitive with an Update that processes changes of the
// state. It stores only facts about itself (scroll position, folding), reports intents through callbacks, and never
// calls the runtime. It reads no clock, because app provides the time.
//
//	h := views.NewHeader(theme, keys, home, time.Local)
//	h.Update(&s, state.Header)
package views
