package dialog

import (
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// Secret asks for a key. What is typed or pasted is shown as dots, goes to nothing but the
// function that Ask got, and is forgotten when the dialog closes.
type Secret struct {
	draw.Frame
	title, text string
	keep        func(secret string)
	typed       *edit.Editor // nil while nothing is asked
}

// NewSecret returns a dialog that asks for nothing.
func NewSecret(theme *themes.Theme, keys *keymap.Map) *Secret {
	return &Secret{Frame: draw.NewFrame(theme, keys)}
}

// Ask opens the dialog. keep gets what was typed, without blanks around it, unless the
// person cancels or types nothing.
func (s *Secret) Ask(title, text string, keep func(secret string)) {
	s.title, s.text, s.keep, s.typed = title, text, keep, edit.New()
}

// Asking reports whether the dialog is open.
func (s *Secret) Asking() bool { return s.typed != nil }

// Scope returns the scope in which keys are looked up.
func (s *Secret) Scope() keymap.Scope { return keymap.Secret }

// Press edits what is typed, and closes.
func (s *Secret) Press(p keymap.Press) {
	switch {
	case s.typed == nil:
	case p.Action == keymap.SecretCancel:
		s.typed = nil
	case p.Action == keymap.SecretKeep:
		secret := strings.TrimSpace(s.typed.Text())
		if s.typed = nil; secret != "" {
			s.keep(secret)
		}
	default:
		s.typed.Press(p)
	}
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
	return w, min(maxH, len(s.rows(w-4))+5)
}

// rows are the text, which may name a file: no letter of that is lost.
func (s *Secret) rows(w int) [][]draw.Span {
	return draw.WrapSentence(draw.Untrusted(themes.Text, s.text), w)
}

// Draw draws the text, a dot for each character, the last ones where there are many, and the
// keys. Short of rows the text gives way.
func (s *Secret) Draw(screen tcell.Screen) {
	in := s.Bordered(screen, draw.Titles{Left: draw.Untrusted(themes.Strong, s.title)}).Cleared().Inset()
	if in.W <= 0 || in.H <= 0 || s.typed == nil {
		return
	}
	rows := draw.AtMost(s.rows(in.W), max(0, in.H-2), in.W)
	if len(rows)+3 <= in.H {
		rows = append(rows, nil)
	}
	n := min(utf8.RuneCountInString(s.typed.Text()), in.W-1)
	rows = append(rows, []draw.Span{draw.Text(themes.Accent, strings.Repeat("•", max(n, 0))+"▏")})
	if len(rows) < in.H {
		rows = append(rows, draw.HintRow(draw.HintsOf(s.Keys, keymap.Secret), in.W))
	}
	in.Rows(rows)
}
