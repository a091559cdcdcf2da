package file

import (
	"bytes"
	"io"
	"strings"

	"buddy/texts"
)

// sniffedText is the number of bytes of a large file that are read to detect its encoding.
const sniffedText = 64 << 10

const byteOrderMark = "\ufeff"

// text is the content of a file as UTF-8.
type text struct {
	from   io.Reader
	lines  int    // of the whole text, 0 if not counted
	note   string // about the encoding
	marked bool   // the file began with a UTF-8 byte order mark
}

// textOf decodes the text in f, whose snapshot is s and whose beginning is start. Bytes that are not text are returned
// unchanged.
func textOf(f io.Reader, s snapshot, start []byte) text {
	if s.whole() {
		decoded, c := decode(s.data)
		shown, marked := strings.CutPrefix(decoded, byteOrderMark)
		return text{strings.NewReader(shown), countLines(decoded), c.assumed(s.data, false), marked}
	}
	start = texts.WholeRunes(start)
	c := charsetOf(start)
	t := text{from: f, note: c.assumed(start, true), marked: bytes.HasPrefix(start, []byte(byteOrderMark))}
	if t.marked {
		_, _ = io.CopyN(io.Discard, f, int64(len(byteOrderMark))) // Peek has returned these bytes
	}
	if c != nil || !hasControls(start) {
		t.from = c.reader(f)
	}
	return t
}
