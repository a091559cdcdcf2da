package screen

import (
	"bytes"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/text/encoding"
)

const (
	// MaxPaste limits the kept bytes of one paste.
	MaxPaste = 8 << 20

	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	ctrlC      = 0x03
	esc        = 0x1b
)

// Paste holds pasted text: line ends are \n, and control characters other than tabs are removed.
type Paste struct {
	Text string

	// Dropped is the number of bytes beyond [MaxPaste] that were lost.
	Dropped int
}

type inputState uint8

const (
	inText inputState = iota
	inEscape
	inSequence
	inMouse
	inFunction
	inIntroducer
	inAnswer
	inAnswerEscape
	inPaste
)

// input filters the bytes between the terminal and tcell's parser. It removes pastes, and the terminal's replies to
// queries of this program, of an earlier program, or of a program in a surrounding pane. Escape sequences and
// characters reach tcell complete or not at all, so that tcell never waits for the rest of a sequence and never reports
// its first byte as Esc; [input.expire] decides which ESC is the key.
//
// The two markers of a paste still reach tcell, which keeps the paste in order with the keys.
type input struct {
	mu    sync.Mutex // guards state, held and came
	state inputState
	held  []byte    // the sequence being read, from its ESC or ESC ESC; in text: the sequence that expired
	came  time.Time // when the last read returned

	text    []byte // of the paste or reply being read
	matched int    // bytes of pasteEnd
	dropped int
	burst   burst

	// linux marks the Linux console, which sends ESC and a tab for Shift+Tab. In other terminals, ESC and a tab are Esc
	// and Tab. tcell would report them as Shift+Tab, which would loosen the approval mode.
	linux bool

	letter []byte // an incomplete character
	out    []byte // for tcell
	pasted func(Paste)
	reply  func(string)
	key    func(*tcell.EventKey) // gets the keys that [input.expire] finds
}

// feed handles the bytes of one read.
func (in *input) feed(p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	pause := time.Since(in.came)
	in.came = time.Now()
	if in.state == inPaste && len(p) == 1 && p[0] == ctrlC {
		in.endPaste() // the end marker got lost: the keyboard must not stay dead
		return
	}
	in.afterPause(p, pause)
	for len(p) > 0 {
		switch in.state {
		case inPaste:
			p = in.paste(p)
		case inText:
			p = in.typed(p)
		default:
			in.step(p[0])
			p = p[1:]
		}
	}
}

// typed handles the unmarked paste at the start of p, or else one key or byte, and returns the rest of p.
func (in *input) typed(p []byte) []byte {
	n := in.burst.length(p)
	switch {
	case n > 0 && len(in.letter) == 0:
		in.out = append(in.out, pasteBegin...)
		in.text, in.dropped = nil, 0
		in.keep(p[:n])
		in.endPaste()
		return p[n:]
	case bytes.HasPrefix(p, crlf):
		in.step('\r') // one Enter, of a terminal in newline mode
		return p[len(crlf):]
	}
	in.step(p[0])
	return p[1:]
}

// unreadable is U+FFFD in a form that tcell does not split into bytes.
var unreadable = []byte("\x1b[65533u")

// give appends the bytes of complete characters to out, because tcell stops reading at an incomplete one. Invalid UTF-8
// becomes U+FFFD, as in a paste.
func (in *input) give(b byte) {
	in.letter = append(in.letter, b)
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

// cutLetter passes on an incomplete character as U+FFFD.
func (in *input) cutLetter() {
	in.out = append(in.out, bytes.Repeat(unreadable, len(in.letter))...)
	in.letter = in.letter[:0]
}

// paste collects the pasted bytes of p and returns the bytes after the end of the paste.
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
	in.pass([]byte(pasteEnd)...)
}

// asciiTerminal encodes output as US-ASCII and decodes input as UTF-8, which terminals send in every locale.
type asciiTerminal struct{ encoding.Encoding }

// NewDecoder implements [encoding.Encoding].
func (asciiTerminal) NewDecoder() *encoding.Decoder { return tcell.GetEncoding("UTF-8").NewDecoder() }

func init() { tcell.RegisterEncoding("US-ASCII", asciiTerminal{tcell.GetEncoding("US-ASCII")}) }
