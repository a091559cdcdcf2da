package file

import (
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"buddy/texts"
)

// document is the content of a file and its decoded text. Parts of the text can be changed while all other bytes stay
// the same.
type document struct {
	*charset
	data []byte
	text string
}

// open returns the document of a file with this content.
func open(data []byte) document {
	text, c := decode(data)
	return document{c, data, text}
}

// part replaces the text between the offsets from and to.
type part struct {
	from, to int
	text     string
}

// splice returns the document with the parts replaced, which must be sorted by offset. Bytes outside the parts stay as
// they are. Invalid bytes inside a part are an error, unless lossy allows replacing them.
func (d document) splice(parts []part, lossy bool) (document, error) {
	var text strings.Builder
	var data []byte
	read, kept := 0, 0 // offsets in the text and in the data
	places := d.places(parts)
	for i, p := range parts {
		from, to := places[2*i], places[2*i+1]
		if n := d.bad(d.data[from:to]); n > 0 && !lossy {
			return d, fmt.Errorf("the text to replace has %s, which stands for bytes that are not %s; leave it out, or change those bytes with a command", badByte, d.name)
		}
		coded, err := d.encode(p.text)
		if err != nil {
			return d, err
		}
		text.WriteString(d.text[read:p.from])
		text.WriteString(p.text)
		data = append(append(data, d.data[kept:from]...), coded...)
		read, kept = p.to, to
	}
	text.WriteString(d.text[read:])
	after := document{d.charset, append(data, d.data[kept:]...), text.String()}
	if d.charset != nil && d.decode(after.data) != after.text {
		return d, fmt.Errorf("the change would join bytes that are not %s with others to different characters; change the file with a command", d.name)
	}
	return after, nil
}

// places returns for each part the offsets in data of its beginning and its end.
func (d document) places(parts []part) []int {
	var wanted []int
	for _, p := range parts {
		wanted = append(wanted, p.from, p.to)
	}
	if d.charset == nil {
		return wanted
	}
	places := make([]int, 0, len(wanted))
	read := 0
	for one := range d.characters(d.data, d.begin(d.data)) {
		for len(places) < len(wanted) && wanted[len(places)] <= read {
			places = append(places, one.at)
		}
		if len(places) == len(wanted) {
			return places
		}
		read += len(one.text)
	}
	for len(places) < len(wanted) {
		places = append(places, len(d.data))
	}
	return places
}

// become returns the document with another text. Only the parts of lines that differ are written. Invalid bytes in
// these parts are an error, unless lossy allows replacing them.
func (d document) become(text string, lossy bool) (document, error) {
	if d.charset == nil {
		return document{nil, []byte(text), text}, nil
	}
	var parts []part
	for _, e := range udiff.Lines(d.text, text) {
		old := d.text[e.Start:e.End]
		begin, end := texts.Common(old, e.New)
		for begin > 0 && !wholeRunes(old[:begin]) {
			begin--
		}
		for end > 0 && !utf8.RuneStart(e.New[len(e.New)-end]) {
			end--
		}
		parts = append(parts, part{e.Start + begin, e.End - end, e.New[begin : len(e.New)-end]})
	}
	return d.splice(parts, lossy)
}

// wholeRunes reports whether the beginning of a valid text ends with a whole character.
func wholeRunes(start string) bool {
	r, size := utf8.DecodeLastRuneInString(start)
	return r != utf8.RuneError || size > 1
}

// replaced returns the document with its whole text replaced. Like an editor it keeps the byte order mark and, if the
// new text has only LF, the line ends, line by line. A file with invalid bytes becomes UTF-8 if the new text needs none
// of them.
func (d document) replaced(text string) (document, error) {
	text = keepLineEnds(d.text, text)
	if text != "" && strings.HasPrefix(d.text, byteOrderMark) && !strings.HasPrefix(text, byteOrderMark) {
		text = byteOrderMark + text
	}
	if d.charset != nil && d.coded == nil && !strings.Contains(text, badByte) {
		d.charset = nil
	}
	return d.become(text, true)
}
