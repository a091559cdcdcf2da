package screen

const (
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

// output encodes cells for the terminal and omits what the terminal has already: it moves the cursor only when it is
// elsewhere, and sends colours only when they change. A key takes 10–40 bytes.
type output struct {
	body  []byte // of the frame being written
	cols  int    // width of the terminal
	frame bool   // cells are written, not only sequences of tcell

	sync  bool // the terminal knows synchronized output
	hides bool // it can hide its cursor
	wraps bool // it scrolls when its last cell is written: that stays empty

	sgr              string // colours and attributes that the terminal has, as in encodedStyle
	link             string // the hyperlink that is open, as in encodedStyle
	at               place  // where the terminal's cursor is
	shown, wantShown cursorState
	drawn            bool // the cell before the cursor was written last, as colours are now

	// gap returns the text of n cells from x, y on if it may be written again in the style
	// of the cell before them; nil if it may not. It may itself be nil.
	gap func(x, y, n int) []byte
}

// place is a cursor position counted from 0.
type place struct {
	x, y  int
	known bool
	sure  bool // only ASCII was written since the cursor was addressed: of that terminals know the width
}

type cursorState uint8

const (
	cursorUnknown cursorState = iota
	cursorHidden
	cursorShown
)

// unknown differs from the sgr of every encodedStyle.
const unknown = "unknown"

// reset forgets what the terminal is known to show.
func (o *output) reset(cols int) {
	o.body, o.cols, o.sgr, o.link, o.at, o.drawn = o.body[:0], cols, unknown, "", place{}, false
	o.shown, o.wantShown = cursorUnknown, cursorUnknown
}

// pass sends sequences of tcell as they are. Only operating system commands, such as a title, and a bell are known to
// change neither colours nor cursor.
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
	if o.link != "" { // a link does not go on in the next frame
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
		o.body = append(o.body, head...) // room for the head, then in front of the rest
		copy(o.body[len(head):], o.body[:len(o.body)-len(head)])
		copy(o.body, head)
	}
	frame := append(o.body, tail...)
	o.body = frame[:0]
	o.frame, o.at, o.drawn = false, place{}, false
	return frame
}

// clear blanks the screen, in the terminal's own colours.
func (o *output) clear() {
	o.body = append(o.body, "\x1b[m\x1b[H\x1b[2J"...)
	o.sgr, o.at, o.drawn = "", place{}, false
}

// scroll moves rows.
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
		o.body = append(o.body, "  \b\b"...) // some terminals leave a part of what was in the second cell
	}
	o.body = append(o.body, text...)
	o.drawn = true
	o.at.x += width
	o.at.sure = o.at.sure && len(text) == 1 && text[0] < 0x80
	// After a wide text and at the edge terminals differ.
	o.at.known = width == 1 && o.at.x < o.cols
}

// cursor puts the cursor where it is to be after the frame; outside of the screen it is hidden.
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

// move sends the cursor to x, y. The first move of a frame is always sent, so that a stray byte of another
// program does no lasting harm.
func (o *output) move(x, y int) {
	at := o.at
	o.at = place{x: x, y: y, known: true, sure: true}
	switch {
	case at.known && at.x == x && at.y == y:
		o.at.sure = at.sure
		return
	case at.known && at.sure && at.y == y && at.x < x: // to the right: half the bytes
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

// shortGap limits the cells that are written again rather than stepped over: a step takes
// three or four bytes.
const shortGap = 3

// between returns what the cells show that are between two words which are written, if to
// write them again is the shorter way.
func (o *output) between(at place, x int) []byte {
	if x-at.x > shortGap || !o.drawn || o.gap == nil || o.link != "" {
		return nil
	}
	return o.gap(at.x, at.y, x-at.x)
}

// style sends what differs from the colours and the hyperlink that the terminal has.
func (o *output) style(l *encodedStyle) {
	if o.sgr != l.sgr {
		o.body = append(o.body, "\x1b["...) // what follows begins with a ; and so with a reset
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
