package markup

import (
	"bytes"
	"strings"
)

// maxHang limits the columns of a label before hanging rows.
const maxHang = 24

// Hang indents the wrapped rows of each long line to the start of its text: after leading spaces, or after a label
// followed by two spaces. The Text must be complete.
//
//	model      gpt-5.5 (completions),
//	           window 272000 tokens
func (t *Text) Hang() {
	t.Paras = t.Paras[:0]
	for from := 0; from < len(t.Bytes); {
		end := len(t.Bytes)
		if n := bytes.IndexByte(t.Bytes[from:], '\n'); n >= 0 {
			end = from + n + 1
		}
		t.Paras = append(t.Paras, Para{End: int32(end), Wrap: t.Wrap, Rest: strings.Repeat(" ", hang(t.Bytes[from:end]))})
		from = end
	}
}

// hang returns the number of columns before the text of a line.
func hang(line []byte) int {
	lead := len(line) - len(bytes.TrimLeft(line, " "))
	text := lead
	if n := bytes.Index(line[lead:], []byte("  ")); n >= 0 {
		text = lead + n
		text += len(line[text:]) - len(bytes.TrimLeft(line[text:], " "))
	}
	if cols := Width(line[:text]); cols <= maxHang {
		return cols
	}
	return min(lead, maxHang)
}
