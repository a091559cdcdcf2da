package screen

const (
	// smallFrame is the largest size in bytes of a frame that is written without synchronized output and without hiding
	// the cursor. It is about a line of text; a terminal reads some thousand bytes before it paints.
	smallFrame = 160

	syncBegin  = "\x1b[?2026h"
	syncEnd    = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	linkEnd    = "\x1b]8;;\x1b\\"
)

// output encodes cells for the terminal. It moves the cursor and sends colours only if they differ from the terminal's,
// so that the frame after a key takes only 10–40 bytes.
type output struct {
	body  []byte // of the frame being written
	cols  int    // width of the terminal
	frame bool   // the frame has cells, not only sequences of tcell

	sync  bool // the terminal supports synchronized output
	hides bool // the terminal can hide its cursor
	wraps bool // writing the last cell scrolls, so it stays empty

	sgr              string // the terminal's colours and attributes, as in encodedStyle
	link             string // the open hyperlink, as in encodedStyle
	at               place  // the terminal's cursor
	shown, wantShown cursorState
	drawn            bool // the cell before the cursor was just written in the current style

	// gap returns the text of the n cells from x, y on, or nil if it can't be written again in the style of the cell
	// before them. The function may be nil.
	gap func(x, y, n int) []byte
}

// place is a cursor position counted from 0.
type place struct {
	x, y  int
	known bool
	sure  bool // only ASCII was written since the cursor was addressed: terminals agree on its width
}

type cursorState uint8

const (
	cursorUnknown cursorState = iota
	cursorHidden
	cursorShown
)

// unknown is the value of sgr if the terminal's colours are not known. No encodedStyle has it.
const unknown = "unknown"

// reset marks the terminal's state as unknown.
func (o *output) reset(cols int) {
	o.body, o.cols, o.sgr, o.link, o.at, o.drawn = o.body[:0], cols, unknown, "", place{}, false
	o.shown, o.wantShown = cursorUnknown, cursorUnknown
}

// pass sends sequences of tcell unchanged. Only a bell and operating system commands, such as a title, leave colours
// and cursor as they are.
func (o *output) pass(p []byte) {
	if len(p) == 0 {
		return
	}
	o.body = append(o.body, p...)
	o.at, o.drawn = place{}, false
	if p[0] != '\a' && (len(p) < 2 || p[1] != ']') {
		o.sgr, o.shown = unknown, cursorUnknown
	}
}

// finish ends a frame and returns its bytes, valid until the next write.
func (o *output) finish() []byte {
	if o.link != "" { // a link ends with its frame
		o.link = ""
		o.body = append(o.body, linkEnd...)
	}
	long := len(o.body) > smallFrame && o.frame
	var head, tail string
	if long && o.sync {
		head, tail = syncBegin, syncEnd
	}
	if long && o.shown == cursorShown {
		head += hideCursor
		o.shown = cursorHidden
	}
	if o.wantShown != cursorUnknown && o.wantShown != o.shown && o.frame {
		o.shown = o.wantShown
		if o.shown == cursorShown {
			tail = showCursor + tail
		} else {
			tail = hideCursor + tail
		}
	}
	if head != "" {
		o.body = append(o.body, head...) // makes room for the head at the front
		copy(o.body[len(head):], o.body[:len(o.body)-len(head)])
		copy(o.body, head)
	}
	frame := append(o.body, tail...)
	o.body = frame[:0]
	o.frame, o.at, o.drawn = false, place{}, false
	return frame
}

// clear blanks the screen in the terminal's own colours.
func (o *output) clear() {
	o.body = append(o.body, "\x1b[m\x1b[H\x1b[2J"...)
	o.sgr, o.at, o.drawn = "", place{}, false
}

func (o *output) scroll(m scroll) {
	o.body = append(o.body, m.sequence()...)
	o.sgr, o.at, o.drawn = "", place{}, false
}

// cell writes a text that is width cells wide.
func (o *output) cell(x, y int, text string, width int, l *encodedStyle) {
	if x+width > o.cols {
		text, width = " ", 1 // there is no room for its right half
	}
	o.move(x, y)
	o.style(l)
	if width > 1 && x+width < o.cols {
		o.body = append(o.body, "  \b\b"...) // some terminals leave a part of the old second cell
	}
	o.body = append(o.body, text...)
	o.drawn = true
	o.at.x += width
	o.at.sure = o.at.sure && len(text) == 1 && text[0] < 0x80
	// Terminals move the cursor differently after a wide text and at the right edge.
	o.at.known = width == 1 && o.at.x < o.cols
}

// cursor sets the position of the cursor after the frame. Outside of the screen it is hidden.
func (o *output) cursor(x, y int) {
	inside := x >= 0 && y >= 0 && x < o.cols
	if inside {
		o.move(x, y)
	}
	switch {
	case !o.hides:
	case inside:
		o.wantShown = cursorShown
	default:
		o.wantShown = cursorHidden
	}
}

// move moves the cursor to x, y. The first move of a frame is always sent, so that a stray byte of another program does
// no lasting harm.
func (o *output) move(x, y int) {
	at := o.at
	o.at = place{x: x, y: y, known: true, sure: true}
	switch {
	case at.known && at.x == x && at.y == y:
		o.at.sure = at.sure
		return
	case at.known && at.sure && at.y == y && at.x < x: // relative moves take half the bytes
		if text := o.between(at, x); text != nil {
			o.body = append(o.body, text...)
			return
		}
		o.body = append(o.body, '\x1b', '[')
		if n := x - at.x; n > 1 {
			o.body = appendInt(o.body, n)
		}
		o.body = append(o.body, 'C')
	default:
		o.body = append(o.body, '\x1b', '[')
		o.body = appendInt(o.body, y+1)
		o.body = append(o.body, ';')
		o.body = appendInt(o.body, x+1)
		o.body = append(o.body, 'H')
	}
	o.drawn = false
}

// shortGap limits the unchanged cells that are written again instead of being skipped, because skipping takes three or
// four bytes.
const shortGap = 3

// between returns the shown text between the cursor and x if writing it again is shorter than a cursor move, else nil.
func (o *output) between(at place, x int) []byte {
	if x-at.x > shortGap || !o.drawn || o.gap == nil || o.link != "" {
		return nil
	}
	return o.gap(at.x, at.y, x-at.x)
}

// style sends the difference to the terminal's colours and hyperlink.
func (o *output) style(l *encodedStyle) {
	if o.sgr != l.sgr {
		o.body = append(o.body, "\x1b["...) // the parameters start with a ; which means a reset
		o.body = append(o.body, l.sgr...)
		o.body = append(o.body, 'm')
		o.sgr = l.sgr
	}
	if o.link != l.link {
		if l.link == "" {
			o.body = append(o.body, linkEnd...)
		} else {
			o.body = append(o.body, l.link...)
		}
		o.link = l.link
	}
}

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}
