package ui

import (
	"slices"

	"buddy/app/show"
	"buddy/views/dialog"
)

// shownDocument is a document that a command answered with, while its dialog is open.
type shownDocument struct {
	u     *UI
	words []string // the last command that read a document
	view  *dialog.Tabbed
}

// openDocument shows the document that a command answered with.
func openDocument(u *UI, words []string, d show.Document) {
	s := &shownDocument{u: u, words: words}
	s.view = dialog.NewTabbed(u.deps.Theme, u.deps.Keys, dialog.TabbedOptions{
		OnTab: func(d show.Deed) { s.read(d.Run, "") }, OnChoose: s.choose, OnClose: u.overlays.closeSheet,
	})
	s.view.Show(d)
	u.overlays.sheet = s.view
}

// read runs a command whose answer is a document, shows the document in the dialog, and then the message did. The
// answer is ignored if the user has asked for another document in the meantime.
func (s *shownDocument) read(words []string, did string) {
	s.words = words
	s.run(words, func(a show.Answer, err error) {
		if !slices.Equal(s.words, words) {
			return
		}
		if a.Document != nil {
			s.view.Show(*a.Document)
		}
		if err != nil {
			did = err.Error()
		}
		s.view.Say(did)
	})
}

// run runs a command and calls then, unless the dialog was closed in the meantime.
func (s *shownDocument) run(words []string, then func(show.Answer, error)) {
	runDeed(s.u, words, func(answer show.Answer, err error) {
		if s.u.overlays.sheet == s.view {
			then(answer, err)
		}
	})
}

// choose changes a value by running its only deed, a deed that the user chooses, or a deed with a line that the user
// types.
func (s *shownDocument) choose(v show.Value) {
	switch {
	case len(v.Deeds) == 0:
		s.view.Say(v.Line)
	case len(v.Deeds) > 1:
		askShown(s.u, show.Question{Title: v.Label, Lines: []string{v.Line}, Choices: v.Deeds}, func(d show.Deed) { s.do(d.Run) })
	case v.Deeds[0].Typed:
		s.view.AskText(v.Label+":", v.Deeds[0].Edit, func(text string) { s.do(append(slices.Clone(v.Deeds[0].Run), text)) })
	default:
		s.do(v.Deeds[0].Run)
	}
}

// do runs a command that changes something, and reads the document again.
func (s *shownDocument) do(words []string) {
	s.run(words, func(a show.Answer, err error) {
		switch {
		case err != nil:
			s.view.Say(err.Error())
		case a.Text != nil:
			s.read(s.words, a.Text.Body)
		default:
			s.read(s.words, "")
		}
	})
}
