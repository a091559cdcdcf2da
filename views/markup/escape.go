package markup

// escState is where in an escape sequence a Writer is.
type escState uint8

const (
	escNone   escState = iota
	escStart           // after ESC
	escCSI             // after ESC [
	escMiddle          // after ESC and a byte that announces another, such as ESC (
	escString          // in OSC, DCS, APC, PM or SOS
)

// escape is an escape sequence that is being read. Its size is bounded: parameters
// beyond the buffer are read and forgotten.
type escape struct {
	state  escState
	n      int
	params [64]byte
}

func (e *escape) active() bool { return e.state != escNone }

// escape reads the sequence at the start of p and returns how many bytes it took. A
// byte that cannot belong to the sequence ends it and is text.
func (w *Writer) escape(p []byte, from *int) int {
	b := p[0]
	if b == 0x1b { // a new one; in a string it begins the terminator ESC \
		w.esc = escape{state: escStart}
		return 1
	}
	switch w.esc.state {
	case escStart:
		return w.escStarted(b)
	case escMiddle:
		return w.escEnd(b >= 0x20 && b < 0x7f, b < 0x30)
	case escCSI:
		return w.csi(b, from)
	}
	// A string ends with BEL, with ESC \, or unfinished with its line.
	if b == '\n' || b == 0x18 || b == 0x1a {
		w.esc.state = escNone
		return 0
	}
	if b == 0x07 {
		w.esc.state = escNone
	}
	return 1
}

func (w *Writer) escStarted(b byte) int {
	switch {
	case b == '[':
		w.esc.state = escCSI
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		w.esc.state = escString
	case b >= 0x20 && b < 0x30:
		w.esc.state = escMiddle
	default:
		return w.escEnd(b >= 0x30 && b < 0x7f, false)
	}
	return 1
}

// escEnd ends a sequence, unless more of it follows. It takes the byte that is valid.
func (w *Writer) escEnd(valid, more bool) int {
	if !valid || !more {
		w.esc.state = escNone
	}
	if valid {
		return 1
	}
	return 0
}

func (w *Writer) csi(b byte, from *int) int {
	switch {
	case b >= 0x20 && b < 0x40:
		if w.esc.n < len(w.esc.params) {
			w.esc.params[w.esc.n] = b
		}
		w.esc.n++
		return 1
	case b < 0x40 || b > 0x7e:
		w.esc.state = escNone
		return 0
	}
	w.esc.state = escNone
	if w.esc.n > len(w.esc.params) {
		return 1 // longer than any that means something
	}
	params := w.esc.params[:w.esc.n]
	switch {
	case len(params) > 0 && (params[0] >= '<' || params[len(params)-1] < '0'):
		// a private sequence
	case b == 'm':
		w.style = sgr(w.style, w.base(), params)
	case b == 'K':
		w.eraseLine(params, from)
	}
	return 1
}
