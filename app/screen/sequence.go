package screen

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/texts/ansi"
)

const (
	// keyTime is the time that an ESC byte waits for more bytes before it is reported as a key.
	keyTime = 50 * time.Millisecond

	// answerTime is the longest pause within a terminal's reply.
	answerTime = time.Second

	// maxSequence limits the bytes between ESC [ and the final byte, of a key or a report.
	maxSequence = 64

	// maxAnswer limits the kept bytes of a reply; further bytes are dropped.
	maxAnswer = 4 << 10

	// mouseBytes is the number of bytes after ESC [ M: the button and the position, in the encoding of every terminal
	// with a mouse. invisible-island.net/xterm/ctlseqs/ctlseqs.html, "Normal tracking mode".
	mouseBytes = 3
)

// escKey is Esc in a form that can't be the first byte of another sequence.
const escKey = "\x1b[27u"

// afterPause decides about the bytes that were held when p arrives after a pause: p continues them, or they are
// dropped.
func (in *input) afterPause(p []byte, pause time.Duration) {
	switch {
	case in.state == inPaste:
	case in.state == inText && pause < answerTime && in.late(p):
		in.state = inEscape
		if len(in.held) > 1 {
			in.state = inIntroducer
		}
	case in.state == inText || pause > answerTime:
		in.state, in.held, in.text = inText, nil, nil
	}
}

// late reports whether p is the rest of a reply whose first bytes were already reported as a key, because the rest came
// too late. Nobody types that many bytes at once.
func (in *input) late(p []byte) bool {
	q := append(bytes.Clone(in.held), p...)
	return len(in.held) > 0 && len(p) > 2 && (ansi.IsAnswer(q[1], q[2]) || q[1] == '[' && q[2] >= '0' && q[2] <= '?')
}

// pending reports whether the held bytes have to be reported as a key if no more bytes follow.
func (in *input) pending() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.state == inEscape || in.state == inIntroducer
}

// expire reports ESC, and ESC with the first byte of a sequence, as keys, because nothing followed for [keyTime]. A
// timer calls it.
func (in *input) expire() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if time.Since(in.came) < keyTime {
		return // more came in the meantime
	}
	rest := in.held
	switch in.state {
	case inEscape:
		for range rest {
			in.key(tcell.NewEventKey(tcell.KeyEsc, 0, tcell.ModNone))
		}
		in.held = rest[:1]
	case inIntroducer:
		in.key(tcell.NewEventKey(tcell.KeyRune, rune(rest[1]), tcell.ModAlt))
	default:
		return
	}
	in.state = inText
}

// step handles a byte outside of a paste.
func (in *input) step(b byte) {
	switch in.state {
	case inEscape:
		in.escape(b)
	case inSequence:
		in.sequence(b)
	case inMouse:
		in.mouse(b)
	case inFunction:
		in.function(b)
	case inIntroducer:
		in.introducer(b)
	case inAnswer, inAnswerEscape:
		in.answer(b)
	default:
		if b != esc {
			in.give(b)
			return
		}
		in.cutLetter()
		in.state, in.held = inEscape, []byte{esc}
	}
}

// pass ends the sequence being read, and passes p to tcell.
func (in *input) pass(p ...byte) {
	in.out = append(in.out, p...)
	in.state, in.held, in.text = inText, nil, nil
}

// escape handles the byte after ESC or ESC ESC. Some terminals send Alt as an ESC before the sequence of a key;
// otherwise the first ESC was a key.
func (in *input) escape(b byte) {
	if b == esc && len(in.held) == 1 {
		in.held = append(in.held, esc)
		return
	}
	if b != '[' {
		in.escBefore()
	}
	in.held = append(in.held, b)
	switch {
	case b == esc:
		// the first of three ESC bytes was a key
	case b == '[':
		in.state = inSequence
	case b == 'O':
		in.state = inFunction
	case ansi.IsIntroducer(b):
		in.state = inIntroducer
	case b == '\t' && !in.linux:
		in.pass([]byte(escKey + "\t")...)
	case b == 'N' || b == '\\': // tcell would wait for more, or drop it
		in.alt(b)
	case b < 0x80:
		in.pass(in.held...)
	default:
		in.pass()
		in.step(b)
	}
}

// escBefore reports the first of two ESC bytes as a key.
func (in *input) escBefore() {
	if len(in.held) > 1 && in.held[1] == esc {
		in.out = append(in.out, escKey...)
		in.held = in.held[1:]
	}
}

// alt reports Alt+b in a form that can't be the start of another sequence.
func (in *input) alt(b byte) { in.pass(fmt.Appendf(nil, "\x1b[%d;3u", b)...) }

// sequence handles the bytes after ESC [.
func (in *input) sequence(b byte) {
	params := in.held[bytes.IndexByte(in.held, '[')+1:]
	switch {
	case b >= 0x20 && b <= 0x3f, b == '[' && len(params) == 0: // ESC [ [ A is F1 of the Linux console
		if len(params) <= maxSequence {
			in.held = append(in.held, b)
		}
	case b < 0x20 || b >= 0x7f:
		in.escBefore()
		in.pass() // it was cut off
		in.step(b)
	case b == 'M' && len(params) == 0:
		in.escBefore()
		in.held, in.state = nil, inMouse
	case b == '~' && string(params) == "200":
		in.escBefore()
		in.pass([]byte(pasteBegin)...)
		in.matched, in.dropped, in.state = 0, 0, inPaste
	case !isKey(string(params), b):
		in.escBefore()
		in.pass()
	default:
		if strings.IndexByte("IOMm", b) >= 0 {
			in.escBefore() // mouse and focus reports have no Alt
		}
		in.pass(append(in.held, b)...)
	}
}

// isKey reports whether a sequence is for tcell: a key, the mouse or the focus. All others are replies, some of which
// tcell would report as keys: ESC [ ? 62 c, the answer to a query of the device attributes, as Shift+Right.
func isKey(params string, final byte) bool {
	switch {
	case params == "[": // of the Linux console
		return true
	case len(params) > maxSequence, strings.ContainsAny(params, " !\"#$%&'()*+,-./=>?"):
		return false
	case final == 'M' || final == 'm':
		return params != "" && params[0] == '<'
	case final == 'c' || final == 'I' || final == 'O':
		return params == ""
	case final == 'R': // F3 with modifiers, or a cursor report; there are 16 combinations of modifiers
		row, column, _ := strings.Cut(params, ";")
		n, err := strconv.Atoi(column)
		return row == "1" && err == nil && n > 1 && n <= 16
	}
	return strings.IndexByte("ABCDFHLPQSZabdqz~^@u_", final) >= 0 && !strings.Contains(params, "<")
}

// mouse drops a report in the old encoding.
func (in *input) mouse(b byte) {
	if b < 0x20 {
		in.pass()
		in.step(b)
		return
	}
	if in.held = append(in.held, b); len(in.held) == mouseBytes {
		in.pass()
	}
}

// function handles the byte after ESC O.
func (in *input) function(b byte) {
	if b < 0x20 || b >= 0x7f {
		in.alt('O')
		in.step(b)
		return
	}
	in.pass(append(in.held, b)...)
}

// introducer handles the byte after ESC and the start of a string: OSC, DCS, APC, PM or SOS of ECMA-48.
func (in *input) introducer(b byte) {
	if !ansi.IsAnswer(in.held[1], b) {
		in.alt(in.held[1])
		in.step(b)
		return
	}
	in.text, in.state = append(in.text[:0], b), inAnswer
}

// answer reads a string up to BEL or ESC \. A control byte in the string was typed: it is handled as a key, and the
// string is dropped.
func (in *input) answer(b byte) {
	switch {
	case in.state == inAnswerEscape && b == '\\', in.state == inAnswer && b == '\a':
		if in.held[1] == ']' {
			in.reply(string(in.text))
		}
		in.pass()
	case in.state == inAnswerEscape:
		in.pass()
		in.step(esc)
		in.step(b)
	case b == esc:
		in.state = inAnswerEscape
	case b < 0x20 || b == 0x7f:
		in.pass()
		in.step(b)
	case len(in.text) < maxAnswer:
		in.text = append(in.text, b)
	}
}
