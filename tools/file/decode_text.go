package file

import (
	"bytes"
	"io"

	"golang.org/x/text/transform"

	"buddy/texts"
)

// sniffedText is the number of bytes of a file that are read to detect its encoding.
const sniffedText = 64 << 10

const byteOrderMark = "\ufeff"

// text is the content of a file as UTF-8.
type text struct {
	from   io.Reader
	lines  int    // of the whole text, 0 if not counted
	note   string // about the encoding
	marked bool   // it began with a UTF-8 byte order mark
}

// textOf decodes the text in f, of which s was read; start is its beginning. Text in an
// unknown encoding is returned as it is.
func textOf(f io.Reader, s snapshot, start []byte) text {
	var t text
	from := f // of a large file
	check := texts.WholeRunes(start)
	if s.whole() {
		from, check = io.Reader(bytes.NewReader(s.data)), s.data
	}
	c := charsetOf(check)
	if c != nil {
		from = transform.NewReader(from, c.NewDecoder())
		t.note = "the file is not UTF-8: it is read and changed as " + c.name
	} else if bytes.HasPrefix(start, []byte(byteOrderMark)) {
		t.marked = true
		_, _ = io.CopyN(io.Discard, from, int64(len(byteOrderMark))) // it was peeked at
	}
	if !s.whole() {
		t.from = from
		return t
	}
	data := s.data
	if c != nil {
		data, _ = io.ReadAll(from) // neither memory readers nor decoders fail
		from = bytes.NewReader(data)
	}
	t.from, t.lines = from, countLines(data)
	return t
}
