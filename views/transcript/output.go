package transcript

import (
	"fmt"

	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Output draws the output of a tool call without a pane. It reads only new bytes, and follows the end until a person
// scrolls up. Only the UI goroutine may use it.
type Output struct {
	call   *state.Call
	tail   tailText
	parts  []part // the command, the note about dropped output, the output
	top    int    // row at the top of the screen
	follow bool
	h      int // rows at the last draw
}

const (
	partCommand = iota
	partDropped
	partOutput
	partCount
)

// Show selects a call, nil for none. Its output is read when it is drawn.
func (o *Output) Show(c *state.Call) {
	if c != o.call {
		*o = Output{call: c, follow: true, parts: make([]part, partCount)}
	}
}

// Following reports whether the view follows the end.
func (o *Output) Following() bool { return o.follow }

// DrawIn draws the visible rows in an area.
func (o *Output) DrawIn(in draw.Area) {
	if o.call == nil || in.W <= 0 || in.H <= 0 {
		return
	}
	o.lay(in.W)
	o.h = in.H
	o.clamp()
	text := in.Inset()
	for y := range in.H {
		paintPart(text.Down(y), o.parts, o.top+y)
	}
}

// lay lays out the parts of the output for a width.
func (o *Output) lay(w int) {
	width := max(w-2*draw.Padding, 1)
	c := o.call
	if head := &o.parts[partCommand]; head.text == nil {
		head.text = &markup.Text{}
		if c.Action.Command != "" {
			command(head.text, c.Action.Command)
		} else {
			head.text.Wrap = markup.Words
			head.text.Put(wordsOf(c, "").Line(), markup.Style{Role: themes.Muted})
		}
	}
	before := o.headRows()
	o.parts[partCommand].layout.Wrap(o.parts[partCommand].text, width, 0)
	o.parts[partDropped] = droppedPart(c, width)
	gone := o.tail.lay(&o.parts[partOutput], c, width)
	o.top += o.headRows() - before - gone
}

// headRows counts the rows above the output.
func (o *Output) headRows() int {
	return rowCount(o.parts[:partOutput])
}

// clamp limits the top row. While the view follows growing output, it moves by a third of its height at a time, like
// the conversation.
func (o *Output) clamp() {
	end := max(rowCount(o.parts)-o.h, 0)
	lowest := end
	if end > 0 && o.call.State == state.CallRunning {
		lowest += o.h / 3
	}
	o.top = max(o.top, 0)
	o.follow = o.follow || o.top >= end
	if o.follow && (lowest == end || o.top < end || o.top > lowest) {
		o.top = lowest
	}
}

// Scroll moves the view by rows, down if positive. At the end, the view follows the end again.
func (o *Output) Scroll(rows int) {
	o.follow = false
	o.top += rows
	o.clamp()
}

// Page scrolls by screens, down if positive.
func (o *Output) Page(screens int) { o.Scroll(screens * max(o.h-1, 1)) }

// Top goes to the start of the kept output.
func (o *Output) Top() {
	o.follow, o.top = false, 0
	o.clamp()
}

// Bottom goes to the end and follows it.
func (o *Output) Bottom() { o.follow = true }

// allOutput is the hint at the last call if much of its output is hidden.
const allOutput = " · /output opens it"

// withReport adds to the gain the command that opens a subagent's report, or returns only the command if w cells are
// too few for both.
func (v *blockView) withReport(gain string, w int) string {
	hint := fmt.Sprintf("/output #%d opens it", v.block.Call.Agent.ID)
	if both := texts.WithNext(gain, hint); gain != "" && draw.TextWidth(both) <= w {
		return both
	}
	if draw.TextWidth(hint) <= w {
		return hint
	}
	return gain
}
