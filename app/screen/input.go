package screen

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/text/encoding"
)

const (
	// MaxPaste limits the bytes of one paste that are kept.
	MaxPaste = 8 << 20

	// maxReply limits an answer of the terminal (a clipboard, in base64), in bytes.
	maxReply = 1 << 20

	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	ctrlC      = 0x03
	esc        = 0x1b
)

// Paste holds what a person pasted, as text: line ends are \n, control characters
// other than a tab are gone.
type Paste struct {
	Text string

	// Dropped counts the bytes that did not fit into [MaxPaste] and are lost.
	Dropped int
}

// escapeLimit is longer than tcell waits for what follows an ESC before it reports the
// key.
const escapeLimit = 100 * time.Millisecond

type inputState uint8

const (
	inText inputState = iota
	inEscape
	inSequence
	inPaste
	inReply
	inReplyEscape
)

// input stands between the keyboard's bytes and tcell's parser. It takes out pastes
// and answers of the terminal, which that parser would tear into keys, and rewrites
// Alt with ] X ^ _ N and \, which would make it wait for the end of a string that
// never comes, swallowing all that is typed. Of letters it passes only whole ones on.
//
// The two markers of a paste still reach tcell, so that the paste keeps its place
// between the keys.
type input struct {
	state   inputState
	params  []byte // of the sequence being read
	text    []byte // of the paste or answer being read
	matched int    // bytes of pasteEnd
	dropped int
	escaped time.Time // when ESC came, while the state is inEscape
	burst   burst

	// awaited counts the questions that the terminal has not answered. Only then is
	// ESC ] the begin of an answer, else it is Alt+].
	awaited atomic.Int32

	// linux is the Linux console, whose Shift+Tab is ESC and a tab. In other terminals that is Esc and
	// then Tab, which tcell would take for Shift+Tab: that widens what is permitted.
	linux bool

	letter []byte // begun, its last bytes have not come yet
	out    []byte // for tcell
	pasted func(Paste)
	reply  func(string)
}

// feed takes what one read returned.
func (in *input) feed(p []byte) {
	if in.state == inPaste && len(p) == 1 && p[0] == ctrlC {
		in.endPaste() // the end got lost: the keyboard must not stay dead
		return
	}
	if in.state == inEscape {
		p = in.afterEscape(p)
	}
	for len(p) > 0 {
		switch {
		case in.state == inPaste:
			p = in.paste(p)
			continue
		case in.state != inText:
			in.step(p[0])
		case twice(p):
			in.give(escKey...)
		default:
			if n := in.burst.length(p); n > 0 && len(in.letter) == 0 {
				in.out = append(in.out, pasteBegin...)
				in.text, in.dropped = nil, 0
				in.keep(p[:n])
				in.endPaste()
				p = p[n:]
				continue
			}
			in.step(p[0])
			if bytes.HasPrefix(p, crlf) {
				p = p[1:] // one Enter, of a terminal in newline mode
			}
		}
		p = p[1:]
	}
}

// afterEscape begins a read after one that ended with ESC, and returns the rest of it.
func (in *input) afterEscape(p []byte) []byte {
	switch {
	case time.Since(in.escaped) > escapeLimit:
		in.state = inText // ESC was a key of its own, and tcell knows
	case len(p) > 0 && p[0] == esc && (len(p) == 1 || p[1] == esc): // Esc pressed twice
		in.give(escKey...) // with Alt, if tcell still waits: the inbox takes that for both
		in.state = inText
		return p[1:]
	}
	return p
}

var (
	// escKey is Esc in a form that cannot be the begin of something else.
	escKey = []byte("\x1b[27u")

	// unreadable is U+FFFD in a form that tcell does not take apart into bytes.
	unreadable = []byte("\x1b[65533u")
)

// twice says that p begins with Esc pressed twice, which tcell would take for Alt with
// whatever is typed next. With Alt, some terminals send ESC before a sequence.
func twice(p []byte) bool {
	return len(p) > 1 && p[0] == esc && p[1] == esc && (len(p) == 2 || p[2] != '[' && p[2] != 'O')
}

func (in *input) step(b byte) {
	switch in.state {
	case inText:
		in.pass(b)
	case inEscape:
		in.escape(b)
	case inSequence:
		in.sequence(b)
	case inReply, inReplyEscape:
		in.answer(b)
	}
}

// pass hands b to tcell.
func (in *input) pass(b byte) {
	in.give(b)
	in.state = inText
	if b == esc {
		in.state, in.escaped = inEscape, time.Now()
	}
}

// give appends bytes to out, letter by letter: after one that is not whole, tcell never reads on. What is no UTF-8
// becomes U+FFFD, as in a paste.
func (in *input) give(p ...byte) {
	in.letter = append(in.letter, p...)
	for utf8.FullRune(in.letter) {
		r, n := utf8.DecodeRune(in.letter)
		if r == utf8.RuneError {
			in.out = append(in.out, unreadable...)
		} else {
			in.out = append(in.out, in.letter[:n]...)
		}
		in.letter = append(in.letter[:0], in.letter[n:]...)
	}
}

func (in *input) escape(b byte) {
	switch b {
	case '[':
		in.out = append(in.out, b)
		in.params, in.state = in.params[:0], inSequence
	case ']':
		if in.awaited.Load() == 0 {
			in.alt(b)
			return
		}
		in.out = append(in.out, '\\') // ends the escape that tcell has seen
		in.text, in.state = in.text[:0], inReply
	case 'X', '^', '_', 'N', '\\':
		in.alt(b)
	case '\t':
		if !in.linux {
			in.out = append(in.out, '\\') // ends the escape that tcell has seen
			in.out = append(in.out, escKey...)
		}
		in.pass(b)
	default:
		in.pass(b)
	}
}

// alt hands Alt+b to tcell in a form that it cannot take for the begin of a string.
// The backslash makes it forget the escape before.
func (in *input) alt(b byte) {
	in.out = fmt.Appendf(append(in.out, '\\'), "\x1b[%d;3u", b)
	in.state = inText
}

func (in *input) sequence(b byte) {
	switch {
	case b >= 0x20 && b <= 0x3f:
		in.out = append(in.out, b)
		if len(in.params) < 8 { // long enough to know 200
			in.params = append(in.params, b)
		}
	case b == '~' && string(in.params) == "200":
		in.out = append(in.out, b)
		in.text, in.matched, in.dropped, in.state = nil, 0, 0, inPaste
	default:
		in.pass(b)
	}
}

// paste keeps the pasted bytes of p and returns what follows the end of the paste.
func (in *input) paste(p []byte) []byte {
	for len(p) > 0 {
		if in.matched == 0 {
			run := bytes.IndexByte(p, esc)
			if run < 0 {
				run = len(p)
			}
			in.keep(p[:run])
			p = p[run:]
			if len(p) == 0 {
				return nil
			}
		}
		if p[0] != pasteEnd[in.matched] {
			in.keep([]byte(pasteEnd[:in.matched]))
			in.matched = 0
			continue
		}
		p = p[1:]
		if in.matched++; in.matched == len(pasteEnd) {
			in.endPaste()
			return p
		}
	}
	return nil
}

func (in *input) keep(p []byte) {
	n := min(len(p), MaxPaste-len(in.text))
	in.text = append(in.text, p[:n]...)
	in.dropped += len(p) - n
}

func (in *input) endPaste() {
	in.pasted(Paste{Text: pastedText(in.text), Dropped: in.dropped})
	in.out = append(in.out, pasteEnd...)
	in.text, in.state = nil, inText
}

// answer reads "number;data" up to BEL or ESC \. Anything else was typed.
func (in *input) answer(b byte) {
	switch {
	case in.state == inReplyEscape && b == '\\', in.state == inReply && b == '\a':
		in.awaited.Add(-1)
		in.state = inText
		in.reply(string(in.text))
		in.text = nil
	case in.state == inReply && b == esc:
		in.state = inReplyEscape
	case in.state == inReplyEscape:
		in.typed()
		in.pass(esc)
		in.step(b)
	case b < ' ', b >= 0x7f, len(in.text) == 0 && (b < '0' || b > '9'), len(in.text) == maxReply:
		in.typed()
		in.pass(b)
	default:
		in.text = append(in.text, b)
	}
}

// typed gives back to tcell what was taken for an answer.
func (in *input) typed() {
	in.out = fmt.Appendf(in.out, "\x1b[%d;3u", ']')
	in.out = append(in.out, in.text...)
	in.text, in.state = nil, inText
}

// asciiTerminal is US-ASCII for what is drawn, and UTF-8 for what is typed: terminals send that in every locale.
type asciiTerminal struct{ encoding.Encoding }

// NewDecoder implements [encoding.Encoding].
func (asciiTerminal) NewDecoder() *encoding.Decoder { return tcell.GetEncoding("UTF-8").NewDecoder() }

func init() { tcell.RegisterEncoding("US-ASCII", asciiTerminal{tcell.GetEncoding("US-ASCII")}) }
