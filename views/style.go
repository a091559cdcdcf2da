// Package views draws the state: one file a pane or dialog. A pane is a
// tview.Primitive with an Update that looks at what changed; it keeps only facts about
// the view itself (scroll, fold) and reports intents through callbacks. It never calls
// the runtime and reads no clock: the time comes from app.
//
//	c := views.NewConversation(theme, keymap.Default())
//	c.Update(&s, state.Conversation)
package views
