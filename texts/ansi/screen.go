package ansi

import (
	"bytes"
	"unicode/utf8"

	"buddy/texts"
)

// The size of a Screen. Longer lines wrap, and are joined again in its text.
const (
	screenRows    = 200
	screenColumns = 1024
)

// Screen renders the output of a program as a person reads it on a terminal: lines in their final state, without escape
// sequences. Its memory is bounded, and its time depends on the written bytes only. Libraries for terminal emulation
// are not used, because they have only rows of a fixed width and keep no text that was scrolled away.
//
//	s := ansi.NewScreen(func(text []byte) { … }) // text that was scrolled away and is final
//	s.Write([]byte(" 50%\r100%\n"))
//	s.Rest() // 100%
type Screen struct {
	// Moved reports that something was overwritten or erased, or the cursor was moved, so that the text differs from
	// the output without colours.
	Moved bool
	// Full reports that the alternate screen was used, as full-screen programs do. Its contents are not in the text.
	Full bool

	out  func(text []byte)
	rows []row // a ring of at most screenRows
	top  int   // the index of the first row in use
	used int   // rows in use

	y, x  int  // the cursor
	atEnd bool // the cursor is after the text of its row, which has no cells; x is unused
	saved [2]int

	esc   Parser
	intro byte   // the first byte after ESC
	part  []byte // the beginning of an incomplete rune
	other bool   // the alternate screen is shown
	line  []byte // buffer for rows that leave the screen
}

// NewScreen returns an empty screen. out gets the text of rows that leave the screen at the top, and must not keep it.
func NewScreen(out func(text []byte)) *Screen {
	return &Screen{out: out, rows: make([]row, 1), used: 1}
}

// Write prints p. The error is always nil.
func (s *Screen) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.part) > 0 {
		p = append(s.part, p...)
		s.part = nil
	}
	if whole := texts.WholeRunes(p); len(whole) < len(p) {
		s.part, p = bytes.Clone(p[len(whole):]), whole
	}
	for len(p) > 0 {
		p = p[s.print(p):]
	}
	return n, nil
}

// Close prints an incomplete rune, and passes on the text of all rows.
func (s *Screen) Close() {
	if len(s.part) > 0 && !s.esc.Active() && !s.other {
		s.put(s.part)
	}
	s.part = nil
	s.out(s.Rest())
	s.rows, s.top, s.used, s.y, s.x, s.atEnd = s.rows[:1], 0, 1, 0, 0, false
	s.rows[0].clear()
}

// Rest returns the text of the rows on the screen, without empty rows after the cursor.
func (s *Screen) Rest() []byte {
	last := s.used - 1
	for last > s.y && s.row(last).blank() {
		last--
	}
	var text []byte
	for i := range last {
		text = s.appendRow(text, i)
	}
	return s.row(last).appendTo(text, true)
}

// row returns the i-th row from the top.
func (s *Screen) row(i int) *row { return &s.rows[(s.top+i)%len(s.rows)] }

// appendRow appends the text of a row that is not the last one.
func (s *Screen) appendRow(text []byte, i int) []byte {
	if s.row(i + 1).joined {
		return s.row(i).appendTo(text, false)
	}
	return append(s.row(i).appendTo(text, true), '\n')
}

// print prints the first element of p and returns its length.
func (s *Screen) print(p []byte) int {
	if s.esc.Active() {
		return s.escape(p[0])
	}
	n := 0
	for n < len(p) && (p[n] >= ' ' && p[n] != 0x7f || p[n] == '\t') {
		n++
	}
	switch {
	case n > 0:
		if !s.other {
			s.put(p[:n])
		}
		return n
	case p[0] == 0x1b:
		s.esc.Start()
		s.intro = 0
	case s.other:
	case p[0] == '\n':
		s.x, s.atEnd = 0, false
		s.lineFeed()
	case p[0] == '\v', p[0] == '\f':
		s.column()
		s.lineFeed()
	case p[0] == '\r':
		s.x, s.atEnd = 0, false
	case p[0] == '\b':
		s.toColumn(s.column() - 1)
	}
	return 1
}

// escape reads a byte of a sequence. It returns 0 for a byte that does not belong to the sequence.
func (s *Screen) escape(b byte) int {
	if !s.esc.Next(b) {
		return 0
	}
	switch {
	case b == 0x1b:
		s.intro = 0
	case s.intro == 0:
		s.intro = b
	}
	if s.esc.Active() {
		return 1
	}
	if params, final := s.esc.Control(); final != 0 {
		s.control(params, final)
	} else if !s.other {
		s.short(s.intro)
	}
	return 1
}

// put prints text.
func (s *Screen) put(p []byte) {
	for len(p) > 0 {
		r := s.row(s.y)
		if r.cells != nil || !s.atEnd && (s.x > 0 || len(r.text) > 0) {
			p = p[s.putCell(r, p):]
			continue
		}
		n := min(len(p), screenColumns-len(r.text))
		for cut := n; n < len(p) && cut >= max(n-utf8.UTFMax+1, 0); cut-- {
			if utf8.RuneStart(p[cut]) { // not within a character
				n = cut
				break
			}
		}
		if n == 0 {
			s.wrap()
			continue
		}
		r.text = append(r.text, p[:n]...)
		s.atEnd = true
		p = p[n:]
	}
}

// putCell prints the first character of p at the cursor, over the present text, and returns its length.
func (s *Screen) putCell(r *row, p []byte) int {
	s.Moved = true
	x := s.column()
	r.toCells()
	if p[0] == '\t' {
		next := min((x/tabStop+1)*tabStop, screenColumns-1)
		if x >= len(r.cells) && next > x {
			r.set(x, "\t", next-x)
		}
		s.x = next
		return 1
	}
	text, n, width := firstCell(p)
	switch {
	case width == 0:
		r.combine(x-1, text)
	case x+width > screenColumns:
		s.wrap()
		return 0
	default:
		r.set(x, text, width)
		s.x += width
	}
	return n
}

// wrap continues the line in the next row.
func (s *Screen) wrap() {
	last := s.y == s.used-1
	s.x, s.atEnd = 0, false
	s.lineFeed()
	if last {
		s.row(s.y).joined = true
	}
}

// lineFeed moves the cursor to the next row. After the last row the screen scrolls.
func (s *Screen) lineFeed() {
	switch {
	case s.y < s.used-1:
		s.y++
		return
	case s.used < screenRows:
		s.extend(s.y + 1)
		s.y++
		return
	}
	next := s.row(1)
	if first := s.row(0); first.cells == nil && !next.joined {
		first.text = append(first.text, '\n')
		s.out(first.text)
	} else {
		s.line = s.appendRow(s.line[:0], 0)
		s.out(s.line)
	}
	s.row(0).clear()
	s.top = (s.top + 1) % len(s.rows)
}

// extend adds rows up to row y.
func (s *Screen) extend(y int) {
	for s.used <= y {
		if s.used == len(s.rows) {
			s.rows = append(s.rows, row{}) // until there are screenRows rows, top is 0
		}
		s.used++
		s.row(s.used - 1).clear()
	}
}

// column returns the cursor's column in its row.
func (s *Screen) column() int {
	if s.atEnd {
		r := s.row(s.y)
		r.toCells()
		s.x, s.atEnd = min(len(r.cells), screenColumns-1), false
	}
	return s.x
}

// toColumn and toRow move the cursor within the screen.
func (s *Screen) toColumn(x int) {
	s.Moved = true
	s.x, s.atEnd = min(max(x, 0), screenColumns-1), false
}

func (s *Screen) toRow(y int) {
	s.Moved = true
	s.column()
	s.y = min(max(y, 0), screenRows-1)
	s.extend(s.y)
}
