package transcript

import (
	"bytes"
	"fmt"
	"sort"

	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/markup"
)

// maxTail limits the bytes of output that a view keeps. The tail in the state is shorter.
const maxTail = 128 << 10

// tailText follows a state.Tail. It reads only new bytes, so that colours continue when the state drops the start.
type tailText struct {
	writer  *markup.Writer
	gen     int
	dropped int64
	pos     int64 // bytes read from the stream
	width   int
	result  bool // shows the call's result, because there is no output
}

// lay updates a part with the output of a call, or with its result if there is none. It returns the number of rows
// removed at the start.
func (t *tailText) lay(p *part, c *state.Call, width int) (gone int) {
	if c.Terminal && c.State == state.CallRunning {
		*t = tailText{}
		*p = part{text: &markup.Text{Wrap: markup.Words}}
		p.text.Put("full-screen program: see its pane", markup.Style{Role: themes.Muted})
		p.layout.Wrap(p.text, width, 0)
		return 0
	}
	if len(c.Output.Buf) == 0 && (c.Result != "" || c.Outcome != "" || c.ExitCode != nil) {
		if !t.result || t.width != width {
			*t = tailText{result: true, width: width}
			*p = part{text: callResult(c)}
			p.layout.Wrap(p.text, width, 0)
		}
		return 0
	}
	if t.writer != nil && t.gen == c.Output.Gen && t.pos == c.Output.Dropped+int64(len(c.Output.Buf)) && t.width == width {
		return 0
	}
	from := t.read(&c.Output)
	t.width = width
	if p.text != &t.writer.Text {
		*p = part{text: &t.writer.Text}
		from = 0
	}
	if len(t.writer.Text.Bytes) > maxTail {
		cut := t.writer.Trim(maxTail / 2)
		gone = sort.Search(len(p.layout.Rows), func(i int) bool { return int(p.layout.Rows[i].From) >= cut })
		from = 0
	}
	p.layout.Wrap(p.text, width, from)
	return gone
}

// read writes the new bytes of a tail and returns the offset at which the text changed.
func (t *tailText) read(tail *state.Tail) (from int) {
	end := tail.Dropped + int64(len(tail.Buf))
	if t.gen == tail.Gen { // the same bytes, although Dropped may have been corrected
		t.pos += tail.Dropped - t.dropped
	}
	continues := t.gen == tail.Gen || tail.Dropped > t.dropped && tail.Dropped <= t.pos
	if t.writer == nil || !continues || t.pos > end {
		*t = tailText{writer: &markup.Writer{Terminal: true}, pos: tail.Dropped}
		if tail.Dropped > 0 { // start at a line, not inside an escape sequence
			t.pos += int64(bytes.IndexByte(tail.Buf, '\n') + 1)
		}
	}
	from = t.writer.Write(tail.Buf[t.pos-tail.Dropped:])
	t.gen, t.dropped, t.pos = tail.Gen, tail.Dropped, end
	return from
}

// droppedText describes how much output is not shown and where it is, or returns "".
func droppedText(c *state.Call) string {
	n := c.Output.Dropped
	if c.Full != nil && len(c.Output.Buf) > 0 && !c.Terminal {
		n = max(n, c.Full.Shown()-int64(len(c.Output.Buf)))
	}
	if n <= 0 {
		return ""
	}
	text := texts.ByteCount(n) + " not shown"
	if c.Full != nil {
		text += "; the whole output is in " + c.Full.Path
		if c.Full.Missing > 0 {
			text += ", except " + texts.ByteCount(c.Full.Missing) + " in the middle"
		}
	}
	return text
}

// droppedPart returns droppedText as a part, without rows if nothing is missing.
func droppedPart(c *state.Call, width int) part {
	t := &markup.Text{Wrap: markup.Words}
	if text := droppedText(c); text != "" {
		t.Put(fmt.Sprintf("… %s", markup.Inline(text)), markup.Style{Role: themes.Warning})
	}
	p := part{text: t}
	p.layout.Wrap(t, width, 0)
	return p
}
