// Package layout says where everything is: a pure function from the size of the screen
// and what is to be seen to rectangles.
//
// Panes have borders and neighbours share them, so their rectangles overlap by one cell;
// [Layout.Joints] says where the lines meet.
//
//	l := layout.Of(layout.Input{W: 120, H: 32, Prompt: 1, Tasks: 2})
//	conversation.SetRect(l.Panes[layout.Conversation].XYWH())
package layout

import "cmp"

// Pane is a part of the screen that can have the focus.
type Pane uint8

// The panes, in the order in which Tab visits them.
const (
	Prompt Pane = iota
	Conversation
	Output
	Panes
	Tasks
	count
)

// String is the name that a tab shows.
func (p Pane) String() string {
	return [...]string{"Prompt", "Conversation", "Output", "Panes", "Tasks"}[p]
}

const (
	// DefaultLeft is the percent of the width for the conversation.
	DefaultLeft = 52
	// DefaultUpper is the percent of the rows of output and terminal panes for the output.
	DefaultUpper = 55

	fullWidth  = 100 // columns from which on all panes are visible
	splitWidth = 60  // columns from which on two are
	least      = 3   // rows of a pane: its borders and one row
)

// Size is a width and a height in cells.
type Size struct{ W, H int }

// Rect is a rectangle of cells. It is empty when W or H is 0.
type Rect struct{ X, Y, W, H int }

// XYWH returns the four numbers, for SetRect.
func (r Rect) XYWH() (x, y, w, h int) { return r.X, r.Y, r.W, r.H }

// Empty says that nothing of it is visible.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Holds reports whether a cell is in it.
func (r Rect) Holds(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// Input is what the layout depends on.
type Input struct {
	W, H   int
	Prompt int  // rows of text that the prompt wants; at most a third of the screen is given
	Tab    Pane // the pane last focused other than the prompt: the one shown where only one fits
	Zoom   bool // Tab fills the screen between header and prompt
	Left   int  // percent of the width for the conversation; 0 = DefaultLeft
	Upper  int  // percent of the rows of Output and Panes for Output; 0 = DefaultUpper
	// What there is to see beside the conversation.
	Output, Panes bool
	Tasks         int  // rows; 0 hides the pane
	Dialog        Size // wanted, borders included; the zero Size is none
	Dock          int  // rows wanted between the panes and the prompt, borders included; 0 is none
	DockFull      bool // the dock may have all rows between header and prompt, else most of them
	Popup         Size // wanted, above the prompt; the zero Size is none
}

// Layout is where things are. A Rect of a pane includes its border.
type Layout struct {
	Header Rect
	Panes  [count]Rect // empty when it is not visible; Prompt is the frame around Status and Input
	Status Rect        // the line above the prompt's text
	Input  Rect        // the prompt's text
	Footer Rect        // the last row, which is the frame's lower border as well
	Tabs   []Pane      // panes that share one place; empty when each has its own
	TabBar Rect        // where their names go: on the lower border of that place
	Dialog Rect
	Dock   Rect // shares its borders with the panes above and the prompt below
	Popup  Rect
}

// Of computes the layout. Sizes too small for everything give up the least important
// first: the panes, then the header, then the status line; never the prompt.
func Of(in Input) Layout {
	var l Layout
	if in.W <= 0 || in.H <= 0 {
		return l
	}
	top := l.chrome(in)
	main := Rect{0, top, in.W, l.dock(in, top) - top + 1} // shares the upper border of what is below
	if main.H >= least {
		l.main(in, main)
	}
	l.Dialog = dialog(in, l.Panes[Prompt].Y)
	l.Popup = popup(in, l.Input)
	return l
}

// chrome places header, prompt and footer and returns the first row between them.
func (l *Layout) chrome(in Input) (top int) {
	rows := max(1, min(in.Prompt, max(1, in.H/3)))
	if in.H < 4 { // no room for a frame
		l.Input = Rect{0, in.H - 1, in.W, 1}
		l.Panes[Prompt] = l.Input
		return 0
	}
	status := 0
	if in.H >= 6 {
		status = 1
	}
	if in.H >= 5 {
		l.Header = Rect{0, 0, in.W, 1}
		top = 1
	}
	rows = min(rows, in.H-top-status-2)
	h := rows + status + 2
	l.Panes[Prompt] = Rect{0, in.H - h, in.W, h}
	l.Footer = Rect{0, in.H - 1, in.W, 1}
	if status == 1 {
		l.Status = padded(Rect{0, in.H - h + 1, in.W, 1})
	}
	l.Input = padded(Rect{0, in.H - 1 - rows, in.W, rows})
	return top
}

const (
	dockShare = 60 // percent of the rows of a screen that the dock may have
	lowScreen = 16 // rows of a screen below which it may have all that the prompt leaves
)

// dock places what is docked on the prompt and returns the row where the panes end.
func (l *Layout) dock(in Input, top int) (edge int) {
	edge = l.Panes[Prompt].Y
	if in.Dock <= 0 {
		return edge
	}
	bottom := edge // shared with the prompt's frame, where it has one
	if l.Footer.Empty() {
		bottom--
	}
	all := bottom - top + 1
	rows := min(in.Dock, all)
	if !in.DockFull && in.H >= lowScreen {
		rows = min(rows, in.H*dockShare/100)
	}
	if all-rows < least-1 { // too few rows would be left for a pane
		rows = all
	}
	l.Dock = Rect{0, bottom - rows + 1, in.W, rows}
	return l.Dock.Y
}

// inside leaves room for the frame at the sides.
func inside(r Rect) Rect { return Rect{r.X + 1, r.Y, max(0, r.W-2), r.H} }

// padded is inside with a blank at each side as well, where there is room for it.
func padded(r Rect) Rect {
	r = inside(r)
	if r.W > 20 {
		r.X, r.W = r.X+1, r.W-2
	}
	return r
}

// main divides the space between header and prompt.
func (l *Layout) main(in Input, r Rect) {
	right := in.right()
	switch {
	case in.Zoom && in.Tab != Prompt:
		l.Panes[in.Tab] = r
	case in.W < splitWidth && len(right) > 0:
		l.tabs(in, r, append([]Pane{Conversation}, right...))
	case len(right) == 0:
		l.Panes[Conversation] = r
	default:
		w := in.W + 1 - in.Side()
		l.Panes[Conversation] = Rect{r.X, r.Y, w, r.H}
		side := Rect{r.X + w - 1, r.Y, r.W - w + 1, r.H}
		if rows := l.stack(in, side, right); in.W >= fullWidth && rows {
			return
		}
		l.tabs(in, side, right)
	}
}

// Side is the width of the panes beside the conversation, borders included, where they are not all of the
// screen.
func (in Input) Side() int {
	if in.W < splitWidth {
		return in.W
	}
	return in.W + 1 - min(max(in.W*cmp.Or(in.Left, DefaultLeft)/100, 20), in.W-20)
}

// right lists the panes that there are beside the conversation.
func (in Input) right() []Pane {
	var panes []Pane
	if in.Output {
		panes = append(panes, Output)
	}
	if in.Panes {
		panes = append(panes, Panes)
	}
	if in.Tasks > 0 {
		panes = append(panes, Tasks)
	}
	return panes
}

// tabs puts several panes in one place: the focused one shows, else the first.
func (l *Layout) tabs(in Input, r Rect, panes []Pane) {
	shown := panes[0]
	for _, p := range panes {
		l.Panes[p] = Rect{}
		if p == in.Tab {
			shown = p
		}
	}
	l.Panes[shown] = r
	if len(panes) > 1 {
		l.Tabs = panes
		l.TabBar = inside(Rect{r.X, r.Y + r.H - 1, r.W, 1})
	}
}

// stack puts panes above each other and says whether all fit. Tasks get the rows that
// they need, up to a third; output gets somewhat more than the terminal panes.
func (l *Layout) stack(in Input, r Rect, panes []Pane) bool {
	if r.H < len(panes)*(least-1)+1 {
		return false
	}
	free := r.H - 1 // each pane costs its rows and its upper border
	heights := map[Pane]int{}
	if in.Tasks > 0 && len(panes) > 1 {
		heights[Tasks] = min(in.Tasks+1, max(least-1, free/3))
		free -= heights[Tasks]
	} else if in.Tasks > 0 {
		heights[Tasks] = free
	}
	switch {
	case in.Output && in.Panes:
		heights[Output] = max(least-1, min(free*cmp.Or(in.Upper, DefaultUpper)/100, free-least+1))
		heights[Panes] = free - heights[Output]
	case in.Output:
		heights[Output] = free
	case in.Panes:
		heights[Panes] = free
	}
	y := r.Y
	for _, p := range panes {
		l.Panes[p] = Rect{r.X, y, r.W, heights[p] + 1}
		y += heights[p]
	}
	return true
}

// dialog is centred above the prompt, so that the draft stays in view; when it does not
// fit there it may cover everything but the header.
func dialog(in Input, promptY int) Rect {
	if in.Dialog.W <= 0 || in.Dialog.H <= 0 {
		return Rect{}
	}
	w := min(in.Dialog.W, in.W)
	top, bottom := 1, promptY
	if in.Dialog.H > bottom-top {
		bottom = in.H
	}
	if in.H < 5 {
		top = 0
	}
	h := min(in.Dialog.H, bottom-top)
	return Rect{(in.W - w) / 2, top + (bottom-top-h)/2, w, h}
}

// popup stands on the prompt's text.
func popup(in Input, prompt Rect) Rect {
	if in.Popup.W <= 0 || in.Popup.H <= 0 {
		return Rect{}
	}
	h := min(in.Popup.H, prompt.Y)
	return Rect{prompt.X, prompt.Y - h, min(in.Popup.W, prompt.W), h}
}
