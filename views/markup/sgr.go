package markup

// sgr applies the parameters of a "select graphic rendition" sequence to a style. It ignores unknown parameters and
// those that hide text or make it blink.
func sgr(st, base Style, params []byte) Style {
	for more := true; more; more = params != nil {
		var n [6]int // a number and its sub-parameters
		var count int
		n, count, params = sgrField(params)
		switch {
		case n[0] == 38 || n[0] == 48 || n[0] == 58:
			var c Color
			var ok bool
			if count > 1 {
				c, ok = subColor(n, count)
			} else {
				c, ok, params = listColor(params)
			}
			if ok && n[0] == 38 {
				st.FG = c
			} else if ok && n[0] == 48 {
				st.BG = c
			}
		case n[0] == 0:
			st = base
		case n[0] < 30:
			st.Attr = sgrAttr(st.Attr, n[0], count > 1 && n[1] == 0)
		default:
			st = sgrColor(st, n[0])
		}
	}
	return st
}

// sgrField reads a number with its sub-parameters after colons. rest is nil after the last field.
func sgrField(p []byte) (n [6]int, count int, rest []byte) {
	count = 1
	for i, b := range p {
		switch {
		case b == ';':
			return n, count, p[i+1:]
		case b == ':':
			count = min(count+1, len(n))
		case b >= '0' && b <= '9' && n[count-1] < 1000:
			n[count-1] = n[count-1]*10 + int(b-'0')
		}
	}
	return n, count, nil
}

// subColor parses 38:5:n, 38:2:r:g:b and 38:2:space:r:g:b.
func subColor(n [6]int, count int) (Color, bool) {
	switch {
	case n[1] == 5 && count >= 3:
		return paletteColor | Color(n[2]&0xff), n[2] < 256
	case n[1] == 2 && count == 5:
		return rgb(n[2], n[3], n[4]), true
	case n[1] == 2 && count == 6:
		return rgb(n[3], n[4], n[5]), true
	}
	return 0, false
}

// listColor parses the part after 38; — 5;n or 2;r;g;b.
func listColor(p []byte) (c Color, ok bool, rest []byte) {
	next := func() int {
		var n [6]int
		n, _, p = sgrField(p)
		return n[0]
	}
	switch next() {
	case 5:
		n := next()
		return paletteColor | Color(n&0xff), n < 256, p
	case 2:
		r, g, b := next(), next(), next()
		return rgb(r, g, b), true, p
	}
	return 0, false, p
}

func rgb(r, g, b int) Color {
	return trueColor | Color(min(r, 255)<<16|min(g, 255)<<8|min(b, 255))
}

func sgrAttr(a Attr, n int, off bool) Attr {
	switch n {
	case 1:
		return a | Bold
	case 2:
		return a | Dim
	case 3:
		return a | Italic
	case 4:
		if off { // 4:0
			return a &^ Underline
		}
		return a | Underline
	case 7:
		return a | Reverse
	case 9:
		return a | Strike
	case 21:
		return a | Underline
	case 22:
		return a &^ (Bold | Dim)
	case 23:
		return a &^ Italic
	case 24:
		return a &^ Underline
	case 27:
		return a &^ Reverse
	case 29:
		return a &^ Strike
	}
	return a
}

func sgrColor(st Style, n int) Style {
	switch {
	case n <= 37:
		st.FG = paletteColor | Color(n-30)
	case n == 39:
		st.FG = 0
	case n >= 40 && n <= 47:
		st.BG = paletteColor | Color(n-40)
	case n == 49:
		st.BG = 0
	case n >= 90 && n <= 97:
		st.FG = paletteColor | Color(n-90+8)
	case n >= 100 && n <= 107:
		st.BG = paletteColor | Color(n-100+8)
	}
	return st
}
