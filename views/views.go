// Package views draws the parts of the screen around the panes: header, status line, footer and task list. Larger
// views are in subpackages.
//
// A view is a [tview.Primitive] with a method Update, which processes changes of the session's state. It stores only
// its own state, such as the scroll position. It reports the user's actions through callbacks, never calls the
// runtime, and gets the time from its caller.
//
//	h := views.NewHeader(theme, keys, home, time.Local)
//	h.Update(&s, state.Header)
package views
