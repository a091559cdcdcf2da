package file

import (
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
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
	var decoder *encoding.Decoder
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe\x00\x00")): // UTF-32 is not supported
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
		t.note = "the file is UTF-16, shown as UTF-8; edit_file can't change it"
	case !utf8.Valid(check) && !hasControls(start):
		decoder = charmap.Windows1252.NewDecoder() // a superset of Latin-1
		t.note = "the file is not UTF-8, shown as if it were Latin-1; edit_file can change lines in ASCII only"
	case bytes.HasPrefix(start, []byte(byteOrderMark)):
		t.marked = true
		_, _ = io.CopyN(io.Discard, from, int64(len(byteOrderMark))) // it was peeked at
	}
	if decoder != nil {
		from = transform.NewReader(from, decoder)
	}
	if !s.whole() {
		t.from = from
		return t
	}
	data := s.data
	if decoder != nil {
		data, _ = io.ReadAll(from) // neither memory readers nor decoders fail
		from = bytes.NewReader(data)
	}
	t.from, t.lines = from, countLines(data)
	return t
}

// hasControls reports whether p has bytes that do not occur in text files.
func hasControls(p []byte) bool {
	return bytes.ContainsFunc(p, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != '\x1b' || r == 0x7f
	})
}
