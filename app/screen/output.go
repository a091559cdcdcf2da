package screen

import (
	"bytes"

	"buddy/texts/ansi"
)

const (
	esc = 0x1b

	// smallFrame is a frame, in bytes, that a terminal shows at once anyway: neither
	// synchronized output nor hiding the cursor would be seen. It is what a line of text
	// takes; a terminal reads some thousand bytes before it paints.
	smallFrame = 160

	syncBegin  = "\x1b[?2026h"
	syncEnd    = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	linkEnd    = "\x1b]8;;\x1b\\"
)

// output shortens what tcell writes. tcell starts every frame as if it knew nothing
// of the terminal: it hides and shows the cursor, repeats blink, shape and colours, and
// addresses the cursor even where it stands already. output remembers these and
// passes on only what changes something: 61–94 bytes for a key become 10–40.
type output struct {
	body  []byte // of the frame being written
	cols  int    // width of the terminal
	sync  bool   // tcell asked for synchronized output
	known map[string]string

	sgr, wantSGR []byte // colours and attributes that the terminal has, and should have: ";1;32"
	at           place  // where the terminal's cursor is
	want         place  // where it should be; not known if nothing moved it
	shown        cursorState
	wantShown    cursorState
	link         bool // a hyperlink is open
	drawn        bool // the cell before the cursor was written last, as colours are now

	// gap returns the text of n cells from x, y on if it may be written again in the style
	// of the cell before them; nil if it may not. It may itself be nil.
	gap func(x, y, n int) []byte
}

// place is a cursor position counted from 0.
type place struct {
	x, y  int
	known bool
}

type cursorState uint8

const (
	cursorUnknown cursorState = iota
	cursorHidden
	cursorShown
)

// reset forgets what the terminal is known to show.
func (o *output) reset(cols int) {
	*o = output{body: o.body[:0], cols: cols, known: map[string]string{}, sgr: []byte("unknown"), gap: o.gap}
}

// write takes in whole sequences of tcell.
func (o *output) write(p []byte) {
	for len(p) > 0 {
		n := token(p)
		o.token(p[:n])
		p = p[n:]
	}
}

// finish ends a frame and returns its bytes, valid until the next write.
func (o *output) finish() []byte {
	o.move()
	if o.link { // tcell would leave it open for the next frame
		o.link = false
		o.body = append(o.body, linkEnd...)
	}
	long := len(o.body) > smallFrame
	var head, tail string
	if long && o.sync {
		head, tail = syncBegin, syncEnd
	}
	if long && o.shown == cursorShown {
		head += hideCursor
		o.shown = cursorHidden
	}
	if o.wantShown != cursorUnknown && o.wantShown != o.shown {
		o.shown = o.wantShown
		if o.shown == cursorShown {
			tail = showCursor + tail
		} else {
			tail = hideCursor + tail
		}
	}
	if head != "" {
		o.body = append(o.body, head...) // room for the head, then in front of the rest
		copy(o.body[len(head):], o.body[:len(o.body)-len(head)])
		copy(o.body, head)
	}
	frame := append(o.body, tail...)
	o.body = frame[:0]
	o.sync, o.at.known, o.want.known, o.drawn = false, false, false, false
	return frame
}

// token returns the length of the first control sequence, control or run of text.
func token(p []byte) int {
	switch {
	case p[0] == esc && len(p) > 1:
		return ansi.Len(p)
	case p[0] < ' ' || p[0] == 0x7f:
		return 1
	}
	for i, b := range p {
		if b < ' ' || b == 0x7f {
			return i
		}
	}
	return len(p)
}

func (o *output) token(t []byte) {
	switch {
	case t[0] >= ' ' && t[0] != 0x7f:
		o.text(t)
	case t[0] == 0x0e || t[0] == 0x0f: // shift out and in: one of them is on
		o.once("shift", t)
	case t[0] != esc || len(t) < 2:
		o.pass(t)
	case t[1] == '[':
		o.csi(t, string(t[2:len(t)-1]), t[len(t)-1])
	case t[1] == ']':
		o.osc(t)
	case t[1] == '(':
		o.once("(", t)
	default:
		o.pass(t)
	}
}

func (o *output) csi(t []byte, params string, final byte) {
	switch final {
	case 'm':
		switch {
		case params == "" || params == "0":
			o.wantSGR = o.wantSGR[:0]
		case params[0] == '>': // that is about the keyboard
			o.pass(t)
		default:
			o.wantSGR = append(append(o.wantSGR, ';'), params...)
		}
	case 'H':
		if x, y, ok := position(params); ok {
			o.want = place{x, y, true}
			return
		}
		o.pass(t)
	case 'h', 'l':
		o.mode(t, params, final)
	case 'q', 'c': // shape of the cursor; of the console's cursor
		o.once(string(final), t)
	default:
		o.pass(t)
	}
}

func (o *output) mode(t []byte, params string, final byte) {
	on := final == 'h'
	switch params {
	case "?25":
		o.wantShown = cursorHidden
		if on {
			o.wantShown = cursorShown
		}
	case "?2026":
		o.sync = o.sync || on
	case "?12", "34":
		o.once(params, t)
	default:
		o.pass(t)
	}
}

func (o *output) osc(t []byte) {
	switch {
	case bytes.HasPrefix(t, []byte("\x1b]8;")):
		open := !bytes.HasPrefix(t, []byte("\x1b]8;;\x1b")) && !bytes.HasPrefix(t, []byte("\x1b]8;;\a"))
		if open || o.link {
			o.body = append(o.body, t...)
		}
		o.link = open
	case bytes.HasPrefix(t, []byte("\x1b]12;")), bytes.HasPrefix(t, []byte("\x1b]112")):
		o.once("cursor colour", t)
	default:
		o.pass(t)
	}
}

// once passes t on unless it repeats what was last sent under that key.
func (o *output) once(key string, t []byte) {
	if o.known[key] != string(t) {
		o.known[key] = string(t)
		o.body = append(o.body, t...)
	}
}

// pass sends t as it is. It may depend on colours and place, and change the latter.
func (o *output) pass(t []byte) {
	o.move()
	o.style()
	o.body = append(o.body, t...)
	o.at.known, o.drawn = false, false
}

func (o *output) text(t []byte) {
	o.move()
	o.style()
	o.body = append(o.body, t...)
	o.at.x += len(t)
	o.drawn = true
	for _, b := range t {
		if b >= 0x80 { // as wide as the terminal thinks
			o.at.known = false
			return
		}
	}
	if o.at.x >= o.cols { // at the edge, where terminals differ
		o.at.known = false
	}
}

// move sends the cursor where the next text goes. The first move of a frame is
// always sent, so that a stray byte of another program does no lasting harm.
func (o *output) move() {
	if !o.want.known {
		return
	}
	switch {
	case o.at == o.want:
	case o.at.known && o.at.y == o.want.y && o.at.x < o.want.x: // to the right: half the bytes
		if text := o.between(); text != nil {
			o.body = append(o.body, text...)
			break
		}
		o.drawn = false
		o.body = append(o.body, '\x1b', '[')
		if n := o.want.x - o.at.x; n > 1 {
			o.body = appendInt(o.body, n)
		}
		o.body = append(o.body, 'C')
	default:
		o.drawn = false
		o.body = append(o.body, '\x1b', '[')
		o.body = appendInt(o.body, o.want.y+1)
		o.body = append(o.body, ';')
		o.body = appendInt(o.body, o.want.x+1)
		o.body = append(o.body, 'H')
	}
	o.at, o.want.known = o.want, false
}

// shortGap is how many cells are written again rather than stepped over: a step takes
// three or four bytes.
const shortGap = 3

// between returns what the cells show that are between two words which are written, if to
// write them again is the shorter way.
func (o *output) between() []byte {
	n := o.want.x - o.at.x
	if n > shortGap || !o.drawn || o.gap == nil || o.link {
		return nil
	}
	return o.gap(o.at.x, o.at.y, n)
}

func (o *output) style() {
	if !bytes.Equal(o.sgr, o.wantSGR) {
		o.body = append(o.body, "\x1b["...) // what follows begins with a ; and so with a reset
		o.body = append(o.body, o.wantSGR...)
		o.body = append(o.body, 'm')
		o.sgr = append(o.sgr[:0], o.wantSGR...)
	}
}

// position reads the parameters of a cursor address.
func position(params string) (x, y int, ok bool) {
	n := [2]int{1, 1}
	if params == "" {
		return 0, 0, true
	}
	field, v := 0, 0
	for i := 0; i <= len(params); i++ {
		switch {
		case i == len(params) || params[i] == ';':
			if field > 1 {
				return 0, 0, false
			}
			n[field] = max(v, 1)
			field, v = field+1, 0
		case params[i] >= '0' && params[i] <= '9' && v < 1<<16:
			v = v*10 + int(params[i]-'0')
		default:
			return 0, 0, false
		}
	}
	return n[1] - 1, n[0] - 1, true
}

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}
