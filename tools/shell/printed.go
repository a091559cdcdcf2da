package shell

import (
	"bytes"
	"fmt"

	"buddy/texts/ansi"
	"buddy/tools"
)

// printed holds an output stream as a terminal shows it: its beginning, its end, and its length.
type printed struct {
	screen      *ansi.Screen
	first, last int    // bytes of the beginning and of the end to keep
	head        []byte // len ≤ first
	tail        []byte // len ≤ 2*last
	total       int64
}

// newPrinted returns an empty stream. first and last are the numbers of bytes to keep of its beginning and of its end.
func newPrinted(first, last int) *printed {
	p := &printed{first: first, last: last}
	p.screen = ansi.NewScreen(p.add)
	return p
}

// write prints a piece of the stream.
func (p *printed) write(b []byte) { _, _ = p.screen.Write(b) }

// add appends text that is final.
func (p *printed) add(text []byte) {
	p.total += int64(len(text))
	p.head = append(p.head, text[:min(len(text), p.first-len(p.head))]...)
	if p.tail = append(p.tail, text[max(0, len(text)-p.last):]...); len(p.tail) > 2*p.last {
		p.tail = p.tail[:copy(p.tail, p.tail[len(p.tail)-p.last:])]
	}
}

// now returns a copy of the text so far, to which nothing can be added.
func (p *printed) now() *printed {
	q := &printed{screen: p.screen, first: p.first, last: p.last, head: bytes.Clone(p.head), tail: bytes.Clone(p.tail), total: p.total}
	q.add(p.screen.Rest())
	return q
}

// end returns the end of the text, as far as it was kept.
func (p *printed) end() string { return valid(string(p.tail)) }

// edges returns the text or, if that is longer than limit bytes, its beginning and its end with a note about the
// omitted middle. The stream must keep at least limit bytes of the end and limit/2 bytes of the beginning.
func (p *printed) edges(limit int) (text string, cut bool) {
	if p.total <= int64(limit) {
		return valid(string(p.tail)), false
	}
	first, last := tools.Head(string(p.head), limit/2), lastBytes(p.tail, limit/2)
	return fmt.Sprintf("%s\n%s %d bytes\n%s", valid(first), tools.Truncated, p.total-int64(len(first)+len(last)), valid(last)), true
}

// shares divides limit bytes between the two output streams of a command, whose lengths are out and errs. A stream gets
// half of the limit, plus what the other stream does not need of its own half.
func shares(limit int, out, errs int64) (forOut, forErrs int) {
	all := int64(limit)
	forOut = limit - int(min(errs, max(all/2, all-out)))
	return forOut, limit - int(min(out, max(all-all/2, all-errs)))
}

// lastBytes returns at most n bytes, without a partial character at the beginning.
func lastBytes(b []byte, n int) string {
	cut := max(0, len(b)-n)
	for cut > 0 && cut < len(b) && b[cut]&0xC0 == 0x80 {
		cut++
	}
	return string(b[cut:])
}
