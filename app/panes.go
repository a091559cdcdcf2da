package app

import (
	"slices"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/views"
)

// paneIntents says what becomes of what a person wants of terminal panes.
func (u *ui) paneIntents() views.PaneIntents {
	send := u.deps.send
	return views.PaneIntents{
		OnZoom:    u.toggleZoom,
		OnType:    func(id string, p []byte) { send(event.PaneInput{Pane: id, Bytes: p}) },
		OnPaste:   func(id, text string) { send(event.PanePaste{Pane: id, Text: text}) },
		OnFit:     func(id string, w, h int) { send(event.FitPane{Pane: id, W: w, H: h}) },
		OnHistory: func(id string) { send(event.ReadPane{Pane: id}) },
	}
}

// typing says that keys go to a terminal pane.
func (u *ui) typing() bool {
	return u.focus == layout.Panes && u.v.panes.Scope() == keymap.Typing
}

// watch asks for pictures of the panes that are on the screen, and of no others.
func (u *ui) watch() {
	if u.lay.Panes[layout.Panes].Empty() {
		u.v.panes.Hide()
	}
	if visible := u.v.panes.Visible(); !slices.Equal(visible, u.watched) {
		u.watched = visible
		u.deps.send(event.WatchPanes{IDs: visible})
	}
}
