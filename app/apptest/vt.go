package apptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// vt interprets the terminal sequences that tcell and package screen use. It collects all other sequences in odd,
// because a test treats them as mistakes.
type vt struct {
	cols, rows int
	cells      []vtCell
	x, y       int
	style      vtStyle
	link       string
	lines      bool // letters draw lines (DEC Special Graphics)
	top, end   int  // the rows that scroll: from top to before end
	modes      map[string]bool
	title      string
	titles     []string // saved by CSI 22 t
	strings    []string // other OSC sequences, such as clipboard texts and queries
	rest       []byte   // an incomplete sequence
	odd        []string
}

type vtCell struct {
	text  string // "" for the right half of a wide text
	style vtStyle
	link  string
}

// vtStyle holds the style set by SGR. Colours are SGR parameters without a leading 38 or
// 48; "" is the default.
type vtStyle struct {
	fg, bg string
	attrs  string // sorted SGR numbers
}

func newVT(cols, rows int) *vt {
	v := &vt{modes: map[string]bool{}}
	v.resize(cols, rows)
	return v
}

// resize keeps the text that fits, as most terminals do.
func (v *vt) resize(cols, rows int) {
	cells := make([]vtCell, cols*rows)
	for i := range cells {
		cells[i].text = " "
		if x, y := i%cols, i/cols; x < v.cols && y < v.rows {
			cells[i] = v.cells[y*v.cols+x]
		}
	}
	v.cells, v.cols, v.rows, v.top, v.end = cells, cols, rows, 0, rows
	v.x, v.y = min(v.x, cols-1), min(v.y, rows-1)
}

func (v *vt) write(p []byte) {
	p = append(v.rest, p...)
	v.rest = nil
	for len(p) > 0 {
		n := v.one(p)
		if n == 0 {
			v.rest = append([]byte(nil), p...)
			return
		}
		p = p[n:]
	}
}

// one interprets the first character or sequence in p, and returns its length, or 0 if p holds only a part of it.
func (v *vt) one(p []byte) int {
	if p[0] == 0x1b {
		return v.escape(p)
	}
	if p[0] >= ' ' && p[0] != 0x7f {
		n := 0
		for n < len(p) && p[n] >= ' ' && p[n] != 0x7f {
			n++
		}
		v.print(string(p[:n]))
		return n
	}
	switch p[0] {
	case '\b':
		v.x = max(v.x-1, 0)
	case 0x0e, 0x0f:
		v.lines = p[0] == 0x0e
	case '\a':
		v.strings = append(v.strings, "bell")
	default:
		v.odd = append(v.odd, fmt.Sprintf("%q", p[:1]))
	}
	return 1
}

func (v *vt) escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '[':
		for i, b := range p[2:] {
			if b >= 0x40 && b <= 0x7e {
				v.csi(string(p[2:2+i]), b)
				return i + 3
			}
		}
		return 0
	case ']':
		s := string(p[2:])
		bel, st := strings.IndexByte(s, '\a'), strings.Index(s, "\x1b\\")
		switch {
		case bel < 0 && st < 0:
			return 0
		case st < 0 || bel >= 0 && bel < st:
			v.osc(s[:bel])
			return bel + 3
		}
		v.osc(s[:st])
		return st + 4
	case '(', ')':
		return v.charset(p)
	case '=', '>':
		return 2
	}
	v.odd = append(v.odd, fmt.Sprintf("%q", p[:2]))
	return 2
}

func (v *vt) charset(p []byte) int {
	if len(p) < 3 {
		return 0
	}
	if p[1] == '(' {
		v.lines = p[2] == '0'
	}
	return 3
}

func (v *vt) print(s string) {
	state := -1
	for s != "" {
		var g string
		var width int
		g, s, width, state = uniseg.FirstGraphemeClusterInString(s, state)
		if strings.ContainsFunc(g, invisible) {
			v.odd = append(v.odd, fmt.Sprintf("%q", g))
		}
		if line, ok := lineLetters[g]; ok && v.lines {
			g = line
		}
		if width > 0 && v.x+width <= v.cols { // no automatic margin
			v.put(g, width)
		}
	}
}

// lineLetters maps letters of DEC Special Graphics to the lines that they draw.
var lineLetters = map[string]string{
	"j": "┘", "k": "┐", "l": "┌", "m": "└", "n": "┼", "q": "─", "t": "├", "u": "┤", "v": "┴", "w": "┬", "x": "│",
}

// invisible reports whether r is a C1 control or reorders text.
func invisible(r rune) bool {
	return between(int(r), 0x80, 0x9f) || between(int(r), 0x202a, 0x202e) || between(int(r), 0x2066, 0x2069)
}

func between(n, low, high int) bool { return low <= n && n <= high }

func (v *vt) put(text string, width int) {
	at := v.y*v.cols + v.x
	if v.cells[at].text == "" && v.x > 0 {
		v.cells[at-1].text = " " // the right half of a wide text is overwritten, so its left half disappears
	}
	for i := range width {
		v.cells[at+i] = vtCell{style: v.style, link: v.link}
	}
	if v.x+width < v.cols && v.cells[at+width].text == "" {
		v.cells[at+width].text = " "
	}
	v.cells[at].text = text
	v.x += width
}

func (v *vt) csi(params string, final byte) {
	switch final {
	case 'H':
		row, col, _ := strings.Cut(params, ";")
		v.y, v.x = number(row, v.rows)-1, number(col, v.cols)-1
	case 'C':
		v.x = min(v.x+number(params, v.cols), v.cols-1)
	case 'r':
		v.region(params)
	case 'M':
		v.scroll(number(params, v.rows))
	case 'L':
		v.scroll(-number(params, v.rows))
	case 'J':
		for i := range v.cells {
			v.cells[i] = vtCell{text: " ", style: vtStyle{bg: v.style.bg}}
		}
	case 'm':
		if !strings.HasPrefix(params, ">") { // sequences with > set up the keyboard
			v.style = v.style.apply(params)
		}
	case 'h', 'l':
		for m := range strings.SplitSeq(params, ";") {
			v.modes[m] = final == 'h'
		}
	case 't':
		v.keepTitle(params)
	case 'q', 'u': // cursor shape, keyboard
	default:
		v.odd = append(v.odd, fmt.Sprintf("CSI %q %c", params, final))
	}
}

// region sets the rows that scroll, all rows if params is "".
func (v *vt) region(params string) {
	top, end, _ := strings.Cut(params, ";")
	v.top, v.end, v.x, v.y = number(top, v.rows)-1, v.rows, 0, 0
	if end != "" {
		v.end = number(end, v.rows)
	}
}

// scroll deletes n rows at the cursor, or inserts -n rows if n is negative, and moves the rows below the cursor within
// the scrolling region.
func (v *vt) scroll(n int) {
	if v.y < v.top || v.y >= v.end {
		return
	}
	before := slices.Clone(v.cells)
	for y := v.y; y < v.end; y++ {
		for x := range v.cols {
			c := vtCell{text: " ", style: vtStyle{bg: v.style.bg}}
			if from := y + n; from >= v.y && from < v.end {
				c = before[from*v.cols+x]
			}
			v.cells[y*v.cols+x] = c
		}
	}
	v.x = 0
}

// keepTitle pushes the title onto a stack, or pops it.
func (v *vt) keepTitle(params string) {
	switch n := len(v.titles) - 1; {
	case params == "22;2":
		v.titles = append(v.titles, v.title)
	case params == "23;2" && n >= 0:
		v.title, v.titles = v.titles[n], v.titles[:n]
	}
}

func number(s string, most int) int {
	n, _ := strconv.Atoi(s)
	return min(max(n, 1), most)
}

func (v *vt) osc(s string) {
	kind, data, _ := strings.Cut(s, ";")
	switch kind {
	case "2":
		v.title = data
	case "8":
		_, v.link, _ = strings.Cut(data, ";")
	default:
		v.strings = append(v.strings, s)
	}
}

// apply reads SGR parameters.
func (s vtStyle) apply(params string) vtStyle {
	p := strings.Split(params, ";")
	for i := 0; i < len(p); i++ {
		switch n, _ := strconv.Atoi(p[i]); {
		case p[i] == "" || p[i] == "0":
			s = vtStyle{}
		case n == 38:
			s.fg = color(p[i+1:])
			i += 1 + strings.Count(s.fg, ";")
		case n == 48:
			s.bg = color(p[i+1:])
			i += 1 + strings.Count(s.bg, ";")
		case between(n, 30, 37), between(n, 90, 97):
			s.fg = p[i]
		case between(n, 40, 47), between(n, 100, 107):
			s.bg = p[i]
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		case n == 10: // the primary font
			s.attrs = strings.Join(slices.DeleteFunc(strings.Fields(s.attrs), func(a string) bool { return a == "11" || a == "12" }), " ")
		default:
			attrs := append(strings.Fields(s.attrs), p[i])
			slices.Sort(attrs)
			s.attrs = strings.Join(slices.Compact(attrs), " ")
		}
	}
	return s
}

// color returns the parameters of one colour after 38 or 48.
func color(p []string) string {
	n := 2
	if len(p) > 0 && p[0] == "2" {
		n = 4
	}
	return strings.Join(p[:min(n, len(p))], ";")
}

// row returns the text of a row without trailing spaces.
func (v *vt) row(y int) string {
	var b strings.Builder
	for _, c := range v.cells[y*v.cols : (y+1)*v.cols] {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}
