package markup

// escape reads a byte of an escape sequence and returns the number of bytes it consumed: 0 if the byte is text.
func (w *Writer) escape(b byte, from *int) int {
	if !w.esc.Next(b) {
		return 0
	}
	if w.esc.Active() {
		return 1
	}
	params, final := w.esc.Control()
	if n := len(params); n > 0 && (params[0] >= '<' || params[n-1] < '0') {
		return 1 // a private sequence
	}
	switch final {
	case 'm':
		w.style = sgr(w.style, w.base(), params)
	case 'K':
		w.eraseLine(params, from)
	}
	return 1
}
