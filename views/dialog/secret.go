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

// Secret asks for a secret. The typed or pasted text is shown as dots, passed only to the function given to Ask, and
// forgotten when the dialog closes.
type Secret struct {
	draw.Frame
	title, text string
	keep        func(secret string)
	typed       *edit.Editor // nil while nothing is asked
}

// NewSecret returns a closed dialog.
func NewSecret(theme *themes.Theme, keys *keymap.Map) *Secret {
	return &Secret{Frame: draw.NewFrame(theme, keys)}
}

// Ask opens the dialog. keep gets the typed text, trimmed, unless the person cancels or types nothing.
func (s *Secret) Ask(title, text string, keep func(secret string)) {
	s.title, s.text, s.keep, s.typed = title, text, keep, edit.New()
}

// Asking reports whether the dialog is open.
func (s *Secret) Asking() bool { return s.typed != nil }

// Scope returns the key scope of the dialog.
func (s *Secret) Scope() keymap.Scope { return keymap.Secret }

// Press edits the text, and closes.
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

// PasteHandler pastes trimmed text.
func (s *Secret) PasteHandler() func(string, func(tview.Primitive)) {
	return s.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if s.typed != nil {
			s.typed.Insert(strings.TrimSpace(text))
		}
	})
}

// Size returns the size of the dialog, border included.
func (s *Secret) Size(maxW, maxH int) (w, rows int) {
	w = min(maxW, 72)
	return w, min(maxH, len(s.rows(w-4))+5)
}

// rows returns the wrapped text, with all characters, because it may name a file.
func (s *Secret) rows(w int) [][]draw.Span {
	return draw.WrapSentence(draw.Untrusted(themes.Text, s.text), w)
}

// Draw draws the text, a dot for each typed character, or for the last ones that fit, and the keys. If there are too
// few rows, the text is cut.
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
