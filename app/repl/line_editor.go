package repl

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"buddy/app/input"
	"buddy/app/keymap"
	"buddy/texts/ansi"
	"buddy/views/edit"
	"buddy/views/markup"
)

// lineEditor edits one input on a terminal, with the keys of the full screen's prompt. It uses one row, which scrolls.
type lineEditor struct {
	keys    *keymap.Map
	editor  *edit.Editor
	prompt  string
	earlier []string // inputs, oldest first
	back    int      // the position in earlier, counted from the end; 0 is the draft
	draft   string
	hidden  bool // not echoed
	// complete returns the completion of a word, and choices to show.
	complete func(word, before string) (becomes string, choices []string)
}

// errInterrupt means that Ctrl-C was pressed while a line was read, errEdit that the user wants to edit the line in an
// editor.
var (
	errInterrupt = errors.New("interrupted")
	errEdit      = errors.New("to be edited")
)

// key handles a key. done means that the input is complete or, with an error, was given up. note is a text to show
// above the line.
func (t *lineEditor) key(ev *tcell.EventKey) (done bool, note string, err error) {
	if t.keys.Lookup(ev, keymap.Global).Action == keymap.Interrupt {
		return true, "", errInterrupt
	}
	switch p := t.keys.Lookup(ev, keymap.Prompt, keymap.Popup); {
	case p.Action == keymap.PopupAccept && p.Scope == keymap.Popup:
		return false, t.extend(), nil
	case p.Scope == keymap.Prompt:
		done, err = t.do(p.Action)
	case p.Text != "":
		t.editor.Insert(p.Text)
	}
	return done, "", err
}

// do runs a key's action, which may end the line.
func (t *lineEditor) do(a keymap.Action) (done bool, err error) {
	switch {
	case a == keymap.Send:
		return true, nil
	case a == keymap.EditPrompt && !t.hidden:
		return true, errEdit
	case a == keymap.EndOfInput && t.editor.Empty():
		return true, io.EOF
	case a == keymap.LineUp:
		t.browse(1)
	case a == keymap.LineDown:
		t.browse(-1)
	default:
		t.editor.Do(a)
	}
	return false, nil
}

// browse shows an earlier or a later input.
func (t *lineEditor) browse(by int) {
	to := t.back + by
	if to < 0 || to > len(t.earlier) {
		return
	}
	if t.back == 0 {
		t.draft = t.editor.Text()
	}
	t.back = to
	text := t.draft
	if to > 0 {
		text = t.earlier[len(t.earlier)-to]
	}
	t.editor.SetText(text)
}

// extend completes the word before the cursor, or returns the choices if there are several.
func (t *lineEditor) extend() string {
	if t.complete == nil {
		return ""
	}
	word, before := t.editor.Word()
	becomes, choices := t.complete(word, before)
	if becomes != word {
		t.editor.CompleteWord(becomes)
		return ""
	}
	return strings.Join(choices, "  ")
}

// row returns the bytes that draw the line on the cursor's row of a terminal with the given number of columns.
func (t *lineEditor) row(columns int) string {
	wide := markup.Width([]byte(t.prompt))
	shown, cursor := "", 0
	if !t.hidden {
		shown, cursor = t.editor.Strip(columns - wide - 1)
	}
	text := "\r" + t.prompt + shown + "\x1b[K\r"
	if right := wide + cursor; right > 0 {
		text += "\x1b[" + strconv.Itoa(right) + "C"
	}
	return text
}

// finished returns the bytes that leave the finished input on the terminal: all its lines, if they are few.
func (t *lineEditor) finished(columns int) string {
	const most = 20 // lines
	text := t.editor.Text()
	if t.hidden || strings.Count(text, "\n") >= most || len(text) > most*200 {
		return t.row(columns) + "\r\n"
	}
	return "\r\x1b[K" + t.prompt + strings.ReplaceAll(markup.Plain(text), "\n", "\r\n"+continuation) + "\r\n"
}

// The marks of pasted text.
var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// press is a key press or pasted text.
type press struct {
	key   *tcell.EventKey // nil: pasted text, or an unknown key
	paste string
}

// decode returns the first press in a terminal's bytes, and its length; 0 if it is incomplete.
func decode(p []byte) (press, int) {
	switch {
	case len(p) == 0:
		return press{}, 0
	case bytes.HasPrefix(p, pasteBegin):
		return decodePaste(p)
	case p[0] == 0x1b:
		return decodeEscape(p)
	}
	return decodeKey(p, tcell.ModNone)
}

func decodePaste(p []byte) (press, int) {
	text := p[len(pasteBegin):]
	i := bytes.Index(text, pasteEnd)
	switch {
	case i >= 0:
		return press{paste: string(text[:i])}, len(pasteBegin) + i + len(pasteEnd)
	case len(text) > input.MaxPrompt:
		return press{paste: string(text)}, len(p) // the rest counts as typed
	}
	return press{}, 0
}

// decodeKey decodes a character, with or without Ctrl.
func decodeKey(p []byte, mod tcell.ModMask) (press, int) {
	if len(p) == 0 {
		return press{}, 0
	}
	b := p[0]
	switch {
	case b == '\r':
		return press{key: tcell.NewEventKey(tcell.KeyEnter, 0, mod)}, 1
	case b == '\t':
		return press{key: tcell.NewEventKey(tcell.KeyTab, 0, mod)}, 1
	case b == 0x7f || b == 0x08:
		return press{key: tcell.NewEventKey(tcell.KeyBackspace, 0, mod)}, 1
	case b == 0:
		return press{key: tcell.NewEventKey(tcell.KeyRune, ' ', mod|tcell.ModCtrl)}, 1
	case b == 0x1b:
		return press{key: tcell.NewEventKey(tcell.KeyEsc, 0, mod)}, 1
	case b < 0x1b:
		return press{key: tcell.NewEventKey(tcell.KeyRune, rune('a'+b-1), mod|tcell.ModCtrl)}, 1
	case b < 0x20:
		return press{key: tcell.NewEventKey(tcell.KeyRune, rune(b+0x40), mod|tcell.ModCtrl)}, 1
	case !utf8.FullRune(p):
		return press{}, 0
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError {
		return press{}, max(n, 1)
	}
	return press{key: tcell.NewEventKey(tcell.KeyRune, r, mod)}, n
}

const (
	maxSequence = 32      // bytes of an escape sequence
	maxAnswer   = 4 << 10 // bytes of a terminal's reply
)

// decodeEscape decodes an escape sequence, or a key with Alt. A single Esc byte waits for the next byte, since the Esc
// key has no meaning here.
func decodeEscape(p []byte) (press, int) {
	switch {
	case len(p) == 1:
		return press{}, 0
	case p[1] == '[':
		for i := 2; i < len(p) && i < maxSequence; i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				return press{key: sequence(string(p[2:i]), p[i])}, i + 1
			}
		}
		if len(p) >= maxSequence {
			return press{}, 2
		}
		return press{}, 0
	case p[1] == 'O' && len(p) == 2:
		return press{}, 0
	case p[1] == 'O':
		return press{key: sequence("", p[2])}, 3
	case p[1] == 0x1b:
		return press{}, 1 // the first of two Esc is dropped
	}
	return decodeAlt(p)
}

// decodeAlt decodes a key with Alt, or a reply of the terminal.
func decodeAlt(p []byte) (press, int) {
	if ansi.IsIntroducer(p[1]) && (len(p) == 2 || ansi.IsAnswer(p[1], p[2])) {
		return press{}, answerLength(p)
	}
	k, n := decodeKey(p[1:], tcell.ModAlt)
	if n == 0 {
		return press{}, 0
	}
	return k, n + 1
}

// answerLength returns the length of a terminal's reply, up to the byte that ends or interrupts it, or 0 if the reply
// is incomplete.
func answerLength(p []byte) int {
	for i, b := range p[2:min(len(p), maxAnswer)] {
		switch i += 2; {
		case b == '\a':
			return i + 1
		case b == 0x1b && i+1 == len(p):
			return 0
		case b == 0x1b && p[i+1] == '\\':
			return i + 2
		case b < 0x20 || b == 0x7f:
			return i
		}
	}
	if len(p) >= maxAnswer {
		return maxAnswer
	}
	return 0
}

// The keys by the final byte of a sequence or, before a ~, by its number.
var (
	finals = map[byte]tcell.Key{
		'A': tcell.KeyUp, 'B': tcell.KeyDown, 'C': tcell.KeyRight, 'D': tcell.KeyLeft, 'H': tcell.KeyHome, 'F': tcell.KeyEnd,
	}
	numbered = map[string]tcell.Key{
		"1": tcell.KeyHome, "7": tcell.KeyHome, "4": tcell.KeyEnd, "8": tcell.KeyEnd, "3": tcell.KeyDelete,
	}
)

// sequence returns the key of an escape sequence, nil for an unknown one.
func sequence(params string, final byte) *tcell.EventKey {
	number, mods, _ := strings.Cut(params, ";")
	key, ok := finals[final]
	if final == '~' {
		key, ok = numbered[number]
	}
	if !ok {
		return nil
	}
	mod := tcell.ModNone
	if n, err := strconv.Atoi(mods); err == nil && n > 1 {
		for i, m := range []tcell.ModMask{tcell.ModShift, tcell.ModAlt, tcell.ModCtrl} {
			if (n-1)>>i&1 == 1 {
				mod |= m
			}
		}
	}
	return tcell.NewEventKey(key, 0, mod)
}
