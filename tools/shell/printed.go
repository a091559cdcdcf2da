package shell

import (
	"bytes"
	"fmt"

	"buddy/texts/ansi"
	"buddy/tools"
)

// printed is the text of an output stream as a person would have read it: its beginning, its end, and its length.
type printed struct {
	screen      *ansi.Screen
	first, last int    // bytes of the beginning and of the end that are kept
	head        []byte // at most first bytes
	tail        []byte // at most twice the last bytes
	total       int64
}

// newPrinted returns a text of which so many bytes of the beginning and of the end are kept.
func newPrinted(first, last int) *printed {
	p := &printed{first: first, last: last}
	p.screen = ansi.NewScreen(p.add)
	return p
}

// write prints a piece of the stream.
func (p *printed) write(b []byte) { _, _ = p.screen.Write(b) }

// add adds text that does not change any more.
func (p *printed) add(text []byte) {
	p.total += int64(len(text))
	p.head = append(p.head, text[:min(len(text), p.first-len(p.head))]...)
	if p.tail = append(p.tail, text[max(0, len(text)-p.last):]...); len(p.tail) > 2*p.last {
		p.tail = p.tail[:copy(p.tail, p.tail[len(p.tail)-p.last:])]
	}
}

// now returns the text so far, which nothing can be added to.
func (p *printed) now() *printed {
	q := &printed{screen: p.screen, first: p.first, last: p.last, head: bytes.Clone(p.head), tail: bytes.Clone(p.tail), total: p.total}
	q.add(p.screen.Rest())
	return q
}

// end returns the end of the text, as far as it is kept.
func (p *printed) end() string { return valid(string(p.tail)) }

// edges returns the text, or its beginning and its end, limit bytes together, with a note on what is omitted. So
// much of the end and half of that of the beginning must be kept.
func (p *printed) edges(limit int) (text string, cut bool) {
	if p.total <= int64(limit) {
		return valid(string(p.tail)), false
	}
	first, last := tools.Head(string(p.head), limit/2), lastBytes(p.tail, limit/2)
	return fmt.Sprintf("%s\n%s %d bytes\n%s", valid(first), tools.Truncated, p.total-int64(len(first)+len(last)), valid(last)), true
}

// lastBytes returns at most n bytes, without a partial character at the beginning.
func lastBytes(b []byte, n int) string {
	cut := max(0, len(b)-n)
	for cut > 0 && cut < len(b) && b[cut]&0xC0 == 0x80 {
		cut++
	}
	return string(b[cut:])
}
