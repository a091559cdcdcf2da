package file

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"buddy/tools"
)

// badByte replaces each byte that is invalid in the encoding of its file.
const badByte = string(utf8.RuneError)

// charset is the encoding of a file that is not valid UTF-8. A nil charset is UTF-8.
type charset struct {
	name  string
	mark  string            // bytes at the beginning of the file that are not text
	coded encoding.Encoding // nil for UTF-8
	sizes []int             // sizes in bytes of characters that are not ASCII
	wide  bool              // UTF-16
}

var (
	littleUTF16 = &charset{name: "UTF-16", mark: "\xff\xfe", coded: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), sizes: []int{2, 4}, wide: true}
	bigUTF16    = &charset{name: "UTF-16", mark: "\xfe\xff", coded: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), sizes: []int{2, 4}, wide: true}
	littleBare  = &charset{name: "UTF-16LE without a byte order mark", coded: littleUTF16.coded, sizes: []int{2, 4}, wide: true}
	bigBare     = &charset{name: "UTF-16BE without a byte order mark", coded: bigUTF16.coded, sizes: []int{2, 4}, wide: true}
	windows1252 = &charset{name: "Windows-1252", coded: charmap.Windows1252, sizes: []int{1}}
	windows1251 = &charset{name: "Windows-1251", coded: charmap.Windows1251, sizes: []int{1}}
	koi8R       = &charset{name: "KOI8-R", coded: charmap.KOI8R, sizes: []int{1}}
	gbk         = &charset{name: "GBK", coded: simplifiedchinese.GBK, sizes: []int{1, 2}}
	big5        = &charset{name: "Big5", coded: traditionalchinese.Big5, sizes: []int{2}}
	shiftJIS    = &charset{name: "Shift-JIS", coded: japanese.ShiftJIS, sizes: []int{1, 2}}
	eucJP       = &charset{name: "EUC-JP", coded: japanese.EUCJP, sizes: []int{2, 3}}
	eucKR       = &charset{name: "EUC-KR", coded: korean.EUCKR, sizes: []int{2}}

	brokenUTF8 = &charset{name: "UTF-8"} // with some invalid bytes
	unknown    = &charset{name: "UTF-8"} // no better guess was found; only ASCII can be written
)

// character is one character of a file: its bytes, and its text, which is valid until the next character is decoded. A
// bad character is an invalid byte, or half of a surrogate pair in UTF-16.
type character struct {
	text     []byte
	at, size int
	bad      bool
}

// characters returns the characters of data from an offset on. Together they cover all of its bytes.
func (c *charset) characters(data []byte, at int) iter.Seq[character] {
	return func(yield func(character) bool) {
		var into [16]byte
		var from transform.Transformer
		if c.coded != nil {
			from = c.coded.NewDecoder()
		}
		for at < len(data) {
			one := c.first(from, data[at:], into[:])
			one.at = at
			if !yield(one) {
				return
			}
			at += one.size
		}
	}
}

// first returns the first character of data, decoded into a buffer.
func (c *charset) first(from transform.Transformer, data, into []byte) character {
	if !c.wide && data[0] < utf8.RuneSelf {
		return character{text: data[:1], size: 1}
	}
	if from == nil {
		if r, size := utf8.DecodeRune(data); r != utf8.RuneError || size > 1 {
			return character{text: data[:size], size: size}
		}
		return character{text: []byte(badByte), size: 1, bad: true}
	}
	for _, size := range c.sizes {
		if size > len(data) {
			break
		}
		n, read, err := from.Transform(into, data[:size], true)
		if err == nil && read == size && !bytes.Contains(into[:n], []byte(badByte)) {
			return character{text: into[:n], size: size}
		}
	}
	size := 1
	if c.wide {
		size = min(2, len(data))
	}
	return character{text: []byte(badByte), size: size, bad: true}
}

// begin returns the offset where the text of a file begins.
func (c *charset) begin(data []byte) int {
	if c != nil && bytes.HasPrefix(data, []byte(c.mark)) {
		return len(c.mark)
	}
	return 0
}

// decode returns the text of a file with replacements for bad bytes.
func (c *charset) decode(data []byte) string {
	if c == nil {
		return string(data)
	}
	var b strings.Builder
	for one := range c.characters(data, c.begin(data)) {
		b.Write(one.text)
	}
	return b.String()
}

// bad counts the bytes of a file that are invalid in the charset.
func (c *charset) bad(data []byte) (n int) {
	if c == nil {
		return 0
	}
	for one := range c.characters(data, 0) {
		if one.bad {
			n += one.size
		}
	}
	return n
}

// decode returns the content of a file as text, without the byte order mark of UTF-16, and its charset.
func decode(data []byte) (string, *charset) {
	c := charsetOf(data)
	return c.decode(data), c
}

// decodeAfter decodes a file again after something has changed it. Unless the content is UTF-8 now, it returns was, the
// earlier charset, if all bytes are valid in that.
func decodeAfter(was *charset, data []byte) (string, *charset) {
	text, c := decode(data)
	if c != nil && was != nil && was.bad(data) == 0 {
		return was.decode(data), was
	}
	return text, c
}

// reader returns the text of a large file whose beginning was inspected.
func (c *charset) reader(from io.Reader) io.Reader {
	if c == nil || c.coded == nil {
		return transform.NewReader(from, runes.ReplaceIllFormed())
	}
	_, _ = io.CopyN(io.Discard, from, int64(len(c.mark)))
	return transform.NewReader(from, c.coded.NewDecoder())
}

// encode returns text in the charset. If a character is not in the charset, the error names the first such character.
func (c *charset) encode(text string) ([]byte, error) {
	if c == nil {
		return []byte(text), nil
	}
	data, at := []byte(text), -1
	var err error
	if c.coded != nil {
		data, err = c.coded.NewEncoder().Bytes(data)
	}
	if err != nil || c == unknown || strings.Contains(text, badByte) {
		at = strings.IndexFunc(text, c.lacks)
	}
	if at < 0 {
		return data, err
	}
	switch r, _ := utf8.DecodeRuneInString(text[at:]); {
	case r == utf8.RuneError:
		return nil, fmt.Errorf("the new text has %s, which stands for bytes that are not %s and can't be written; leave it out, or change those bytes with a command", badByte, c.name)
	case c == unknown:
		return nil, fmt.Errorf("the encoding of the file is not known, so %q (%U) can't be encoded; use ASCII, or convert the file to UTF-8 with a command first", r, r)
	default:
		return nil, fmt.Errorf("the file is %s, which has no %q (%U); use other characters, or convert the file to UTF-8 with a command first", c.name, r, r)
	}
}

// lacks reports whether a character can't be written in the charset.
func (c *charset) lacks(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case r == utf8.RuneError || c == unknown:
		return true
	case c.coded == nil:
		return false
	}
	_, err := c.coded.NewEncoder().String(string(r))
	return err != nil
}

// in returns a phrase that names the charset, for the end of a sentence; "" for UTF-8.
func (c *charset) in() string {
	if c == nil || c.coded == nil {
		return ""
	}
	return " in " + c.name
}

// assumed describes the encoding that was assumed for a file, "" for UTF-8. data is the whole file or, if more follows,
// its beginning.
func (c *charset) assumed(data []byte, more bool) string {
	if c == nil {
		return ""
	}
	n := c.bad(data)
	note := fmt.Sprintf("%d bytes that are not %s are shown as %s, and changes keep them", n, c.name, badByte)
	switch {
	case more:
		note = fmt.Sprintf("bytes that are not %s are shown as %s", c.name, badByte)
	case n == 1:
		note = fmt.Sprintf("1 byte that is not %s is shown as %s, and changes keep it", c.name, badByte)
	}
	switch {
	case c == unknown:
		return "the encoding of the file is not known: " + note + "; only ASCII can be added"
	case c == brokenUTF8:
		return note
	case n == 0:
		note = ""
	}
	return tools.JoinNotes("the file is not UTF-8: it is read and changed as "+c.name, note)
}
