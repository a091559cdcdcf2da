package views

import (
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
)

// Secret asks for a key. What is typed or pasted is shown as dots, goes to nothing but the
// function that Ask got, and is forgotten when the dialog closes.
type Secret struct {
	frame
	title, text string
	keep        func(secret string)
	typed       *Editor // nil while nothing is asked
}

// NewSecret returns a dialog that asks for nothing.
func NewSecret(theme *themes.Theme, keys *keymap.Map) *Secret {
	return &Secret{frame: newFrame(theme, keys)}
}

// Ask opens the dialog. keep gets what was typed, without blanks around it, unless the
// person cancels or types nothing.
func (s *Secret) Ask(title, text string, keep func(secret string)) {
	s.title, s.text, s.keep, s.typed = title, text, keep, NewEditor()
}

// Asking reports whether the dialog is open.
func (s *Secret) Asking() bool { return s.typed != nil }

// Scope says where keys go.
func (s *Secret) Scope() keymap.Scope { return keymap.Secret }

// InputHandler edits what is typed, and closes.
func (s *Secret) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return s.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		if s.typed == nil {
			return
		}
		act, _ := s.keys.Lookup(keymap.Secret, ev)
		switch act {
		case keymap.SecretCancel:
			s.typed = nil
		case keymap.SecretKeep:
			secret := strings.TrimSpace(s.typed.Text())
			if s.typed = nil; secret != "" {
				s.keep(secret)
			}
		default:
			if text, typed := keymap.Text(ev); typed {
				s.typed.Insert(text)
				return
			}
			s.typed.Do(act)
		}
	})
}

// PasteHandler takes a paste as one line.
func (s *Secret) PasteHandler() func(string, func(tview.Primitive)) {
	return s.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if s.typed != nil {
			s.typed.Insert(strings.TrimSpace(text))
		}
	})
}

// Size returns the cells that the dialog wants on a screen, border included.
func (s *Secret) Size(maxW, maxH int) (w, rows int) {
	w = min(maxW, 72)
	return w, min(maxH, len(wrapWords(s.text, w-4))+4)
}

// Draw draws the text and a dot for each character, the last ones where there are many.
func (s *Secret) Draw(screen tcell.Screen) {
	in := s.bordered(screen, titles{left: []span{own(themes.Strong, s.title)}, right: s.closing()}).cleared().inset()
	if in.w <= 0 || in.h <= 0 || s.typed == nil {
		return
	}
	var rows [][]span
	for _, line := range wrapWords(s.text, in.w) {
		rows = append(rows, []span{own(themes.Text, line)})
	}
	n := min(utf8.RuneCountInString(s.typed.Text()), in.w-1)
	rows = append(rows, nil, []span{own(themes.Accent, strings.Repeat("•", max(n, 0))+"▏")})
	in.rows(rows)
}

func (s *Secret) closing() []span {
	keeps := append(s.named(keymap.SecretKeep, " keeps it"), own(themes.Muted, " · "))
	return append(keeps, s.named(keymap.SecretCancel, " cancels")...)
}
