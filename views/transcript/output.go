package transcript

import (
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Output draws the live output of one tool call: the one that the state names. Only
// new bytes are read. It follows the end until a person scrolls up. Only the UI
// goroutine may use it.
type Output struct {
	draw.Frame
	// OnZoom, if set, is called when a person wants it full screen, or back.
	OnZoom func()
	// OnOpen, if set, gets the call of which the whole output is wanted, nil for none.
	OnOpen func(*state.Call)

	now func() time.Time

	screen *event.PaneScreen // of the pane on whose screen the call draws; else nil
	pic    draw.Picture
	call   *state.Call
	tail   tailText
	parts  []part // the command, what was dropped, the output
	top    int    // row at the top of the screen
	follow bool
	h      int // rows, when they were drawn last
}

// The parts of an Output.
const (
	partCommand = iota
	partDropped
	partOutput
	partCount
)

// NewOutput returns a view with nothing to show.
func NewOutput(theme *themes.Theme, keys *keymap.Map) *Output {
	return &Output{Frame: draw.NewFrame(theme, keys), follow: true, now: func() time.Time { return time.UnixMilli(0) }}
}

// SetNow sets the clock that elapsed times are reckoned by.
func (o *Output) SetNow(now func() time.Time) { o.now = now }

// Watched returns the pane of which a picture is wanted, "" for none: that of a running call
// which draws on its screen.
func (o *Output) Watched() string {
	if c := o.call; c != nil && c.Terminal && c.State == state.CallRunning {
		return c.Pane
	}
	return ""
}

// Scope returns the scope in which keys are looked up.
func (o *Output) Scope() keymap.Scope { return keymap.Output }

// Update looks at what changed. New output is read when it is drawn.
func (o *Output) Update(s *state.State, ch state.Changed) {
	if ch&(state.Output|state.Panes) == 0 {
		return
	}
	o.screen = nil
	if c := s.Focused; c != nil && c.Terminal && c.State == state.CallRunning {
		o.screen = s.Picture(c)
	}
	if s.Focused == o.call {
		return
	}
	o.call, o.tail, o.top, o.follow = s.Focused, tailText{}, 0, true
	o.parts = make([]part, partCount)
}

// Draw draws the rows that fit.
func (o *Output) Draw(screen tcell.Screen) {
	t := draw.Titles{Left: []draw.Span{draw.Text(themes.Strong, "Output")}}
	if c := o.call; c != nil {
		t.Left = append(append(t.Left, draw.Text(themes.Strong, " · ")), callHead(c, "", themes.Strong)...)
		right := callTime(c, o.now().UnixMilli())
		if outcome := callOutcome(c); outcome != "" {
			right = outcome + "  " + right
		}
		t.Right = []draw.Span{draw.Text(themes.Muted, right)}
	}
	in := o.Bordered(screen, t)
	if in.W <= 0 || in.H <= 0 {
		return
	}
	if o.screen != nil {
		o.h = in.H
		o.pic.Screen(in.Cleared(), o.screen)
		return
	}
	if o.call != nil {
		o.lay(in.W)
	}
	o.h = in.H
	o.clamp()
	text := in.Inset()
	for y := range in.H {
		row := in.Down(y)
		row.Fill(0, min(draw.Padding, row.W), o.Palette[themes.Text])
		row.Fill(max(row.W-draw.Padding, 0), row.W, o.Palette[themes.Text])
		paintPart(text.Down(y), o.parts, o.top+y)
	}
}

// lay brings the parts up to date.
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

// clamp keeps the top row where it may be. While output is followed as it arrives the
// view moves by a third of its height, as the conversation does.
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

// Scroll moves the view by rows, down if they are positive. At the end it follows again.
func (o *Output) Scroll(rows int) {
	o.follow = false
	o.top += rows
	o.clamp()
}

// Page scrolls by screens, down if they are positive.
func (o *Output) Page(screens int) { o.Scroll(screens * max(o.h-1, 1)) }

// Top goes to the beginning of what is kept.
func (o *Output) Top() {
	o.follow, o.top = false, 0
	o.clamp()
}

// Bottom goes to the end, which is followed again.
func (o *Output) Bottom() { o.follow = true }

// InputHandler scrolls.
func (o *Output) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return o.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		a := o.Keys.Lookup(ev, o.Scope()).Action
		switch a {
		case keymap.ScrollUp:
			o.Scroll(-1)
		case keymap.ScrollDown:
			o.Scroll(1)
		case keymap.Zoom:
			if o.OnZoom != nil {
				o.OnZoom()
			}
		case keymap.OpenOutput:
			if o.OnOpen != nil {
				o.OnOpen(o.call)
			}
		default:
			draw.Page(o, a)
		}
	})
}

// MouseHandler scrolls with the wheel.
func (o *Output) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return o.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		return draw.Wheel(o, action, ev, setFocus), nil
	})
}
