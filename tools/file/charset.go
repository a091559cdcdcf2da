package file

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// charset encodes the text of a file that is not in UTF-8. A nil one is UTF-8.
type charset struct {
	name string
	encoding.Encoding
}

var (
	windows1252 = &charset{"Windows-1252", charmap.Windows1252} // Latin-1 with characters in place of controls
	latin1      = &charset{"ISO-8859-1", charmap.ISO8859_1}
	littleUTF16 = &charset{"UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}
	bigUTF16    = &charset{"UTF-16", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)}
)

// charsetOf returns the charset of a file by its content, or by the beginning of a large one. It is
// nil for UTF-8 and for what is no text.
func charsetOf(data []byte) *charset {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")): // UTF-32 is not supported
		return nil
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return littleUTF16
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return bigUTF16
	case utf8.Valid(data) || hasControls(data[:min(len(data), sniffedText)]):
		return nil
	}
	for _, unused := range []byte("\x81\x8d\x8f\x90\x9d") { // by Windows-1252
		if bytes.IndexByte(data, unused) >= 0 {
			return latin1
		}
	}
	return windows1252
}

// decode returns the content of a file in UTF-8, without the byte order mark of UTF-16, and the
// charset that it has.
func decode(data []byte) (string, *charset) {
	c := charsetOf(data)
	if c == nil {
		return string(data), nil
	}
	text, _ := c.NewDecoder().Bytes(data) // what it can't decode becomes a replacement character
	return string(text), c
}

// encode returns text in the charset, or an error that names the first character that this has not.
func (c *charset) encode(text string) ([]byte, error) {
	if c == nil {
		return []byte(text), nil
	}
	data, err := c.NewEncoder().Bytes([]byte(text))
	if err == nil {
		return data, nil
	}
	for _, r := range text {
		if _, err := c.NewEncoder().String(string(r)); err != nil {
			return nil, fmt.Errorf("the file is %s, which has no %q (%U); use other characters, or convert the file to UTF-8 with a command first", c.name, r, r)
		}
	}
	return nil, err
}

// encodeEdited encodes the text of a file that was old before it was changed in part. It refuses a
// file in which bytes outside of the change would become others.
func encodeEdited(text string, old []byte) ([]byte, error) {
	was, c := decode(old)
	if text == was {
		return old, nil
	}
	if same, err := c.encode(was); err != nil || !bytes.Equal(same, old) {
		return nil, errors.New("the file has bytes that are not " + c.name + ", which would be lost; change it with a command")
	}
	return c.encode(text)
}

// encodeWhole encodes a text that replaces all of a file that was old. Like an editor it keeps the byte
// order mark of that, and CRLF line ends if all are such and the text has none of its own.
func encodeWhole(text string, old []byte) ([]byte, error) {
	was, c := decode(old)
	if n := strings.Count(was, "\n"); n > 0 && strings.Count(was, "\r\n") == n && !strings.Contains(text, "\r") {
		text = toCRLF(text)
	}
	if text != "" && strings.HasPrefix(was, byteOrderMark) && !strings.HasPrefix(text, byteOrderMark) {
		text = byteOrderMark + text
	}
	return c.encode(text)
}

// in returns the charset as the end of a phrase, "" for UTF-8.
func (c *charset) in() string {
	if c == nil {
		return ""
	}
	return " in " + c.name
}

// hasControls reports whether p has bytes that do not occur in text files.
func hasControls(p []byte) bool {
	return bytes.ContainsFunc(p, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != '\x1b' || r == 0x7f
	})
}
