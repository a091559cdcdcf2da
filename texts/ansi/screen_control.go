package ansi

import (
	"bytes"
	"strconv"
)

// control executes a control sequence.
func (s *Screen) control(params []byte, final byte) {
	if bytes.HasPrefix(params, []byte("?")) {
		if final == 'h' || final == 'l' {
			s.private(params[1:], final == 'h')
		}
		return
	}
	if final == 'm' || s.other || bytes.ContainsFunc(params, func(r rune) bool { return r != ';' && (r < '0' || r > '9') }) {
		return
	}
	switch final {
	case 'J':
		s.eraseRows(number(params, 0, 0))
	case 'K':
		s.eraseRow(number(params, 0, 0))
	case 'X', 'P', '@':
		s.change(final, number(params, 0, 1))
	default:
		if move := moves[final]; move != nil {
			move(s, number(params, 0, 1), number(params, 1, 1))
		}
	}
}

// moves maps the final bytes of sequences to cursor movements. n and m are the first parameters.
var moves = map[byte]func(s *Screen, n, m int){
	'A': func(s *Screen, n, _ int) { s.toRow(s.y - n) },
	'B': func(s *Screen, n, _ int) { s.toRow(s.y + n) },
	'C': func(s *Screen, n, _ int) { s.toColumn(s.column() + n) },
	'D': func(s *Screen, n, _ int) { s.toColumn(s.column() - n) },
	'E': func(s *Screen, n, _ int) { s.toRow(s.y + n); s.toColumn(0) },
	'F': func(s *Screen, n, _ int) { s.toRow(s.y - n); s.toColumn(0) },
	'G': func(s *Screen, n, _ int) { s.toColumn(n - 1) },
	'd': func(s *Screen, n, _ int) { s.toRow(n - 1) },
	'H': func(s *Screen, n, m int) { s.toRow(n - 1); s.toColumn(m - 1) },
	'f': func(s *Screen, n, m int) { s.toRow(n - 1); s.toColumn(m - 1) },
	's': func(s *Screen, _, _ int) { s.save() },
	'u': func(s *Screen, _, _ int) { s.restore() },
}

// maxNumber limits a parameter. All numbers beyond the screen's size have the same effect.
const maxNumber = 10_000

// number returns the i-th parameter, or the given default if it is missing or 0.
func number(params []byte, i, otherwise int) int {
	all := bytes.Split(params, []byte(";"))
	if i >= len(all) {
		return otherwise
	}
	n, err := strconv.Atoi(string(all[i]))
	if err != nil && len(all[i]) > 0 {
		return maxNumber // too long
	}
	if n == 0 {
		return otherwise
	}
	return min(n, maxNumber)
}

// private switches to the alternate screen or back.
func (s *Screen) private(params []byte, on bool) {
	for mode := range bytes.SplitSeq(params, []byte(";")) {
		switch string(mode) {
		case "47", "1047", "1049":
			s.other = on
			s.Full = s.Full || on
		}
	}
}

// short executes a sequence of ESC and one byte.
func (s *Screen) short(b byte) {
	switch b {
	case '7':
		s.save()
	case '8':
		s.restore()
	case 'D':
		s.column()
		s.lineFeed()
	case 'E':
		s.x, s.atEnd = 0, false
		s.lineFeed()
	case 'M':
		s.toRow(s.y - 1)
	case 'c':
		s.leave()
		s.x, s.y, s.atEnd = 0, 0, false
	}
}

func (s *Screen) save() { s.saved = [2]int{s.column(), s.y} }

func (s *Screen) restore() {
	s.toRow(s.saved[1])
	s.toColumn(s.saved[0])
}

// eraseRow erases the row after the cursor (0), up to it (1) or completely (2).
func (s *Screen) eraseRow(what int) {
	r := s.row(s.y)
	switch {
	case what == 0 && s.atEnd: // nothing to erase: programs end coloured text like this
		return
	case what == 2, what == 0 && s.x == 0:
		s.column()
		s.Moved = s.Moved || !r.blank()
		r.erase()
		return
	}
	s.Moved = true
	x := s.column()
	r.toCells()
	switch what {
	case 0:
		r.cut(x)
	case 1:
		r.blanks(0, x+1)
	}
}

// eraseRows erases the text after the cursor (0), before it (1), or everything (2). A terminal moves everything to its
// scrollback first, where a person can still find it, so it stays in the text.
func (s *Screen) eraseRows(what int) {
	switch what {
	case 0:
		s.eraseRow(0)
		for i := s.y + 1; i < s.used; i++ {
			s.Moved = s.Moved || !s.row(i).blank()
		}
		s.used = s.y + 1
	case 1:
		s.eraseRow(1)
		for i := range s.y {
			s.row(i).erase()
		}
	case 2:
		s.leave()
	}
}

// leave passes on the text of all rows, and empties them.
func (s *Screen) leave() {
	s.Moved = true
	s.column()
	if text := bytes.TrimRight(s.Rest(), "\n"); len(text) > 0 {
		s.out(append(text, '\n'))
	}
	y := s.y
	s.used = 1
	s.row(0).clear()
	s.extend(y)
}

// change erases (X), removes (P) or inserts (@) n characters at the cursor.
func (s *Screen) change(what byte, n int) {
	s.Moved = true
	x, r := s.column(), s.row(s.y)
	r.toCells()
	switch what {
	case 'X':
		r.blanks(x, x+n)
	case 'P':
		r.shift(x, -n)
	case '@':
		r.shift(x, n)
	}
}
