// Package layout computes the position of every part of the screen from the screen's size and contents.
//
// A column at the right has boxes with frames, for example for tasks. The conversation, at its left, and the prompt
// have no frames. The dock, above the prompt, has a frame and shows approvals and questions. Adjacent boxes share a
// border, so their rectangles overlap by one row; [Layout.Joints] returns the cells where borders meet.
//
//	l := layout.Of(layout.Input{W: 120, H: 32, Prompt: 1, Beside: layout.Beside{Column: true, Live: 1, Tasks: 2}})
//	conversation.SetRect(l.Panes[layout.Conversation].XYWH())
package layout

import "cmp"

// Pane is a part of the screen that can have the focus.
type Pane uint8

// The panes, in the order in which Tab visits them.
const (
	Prompt Pane = iota
	Conversation
	Live // terminal panes, and output of calls without a terminal
	Tasks
	count
)

// String returns a pane's name as it is shown.
func (p Pane) String() string {
	return [...]string{"Prompt", "Conversation", "Live", "Tasks"}[p]
}

const (
	// DefaultSide is the column's usual share of the width, in percent.
	DefaultSide = 38
	// WideSide replaces DefaultSide on screens with at least wideWidth columns.
	WideSide  = 42
	wideWidth = 160

	wideShare   = 60  // percent of the width for a wide column
	wideLive    = 80  // columns that a wide column has at least, if there is room
	columnWidth = 100 // columns that a layout with a column needs
	smallWidth  = 60  // with fewer columns only conversation, status line and prompt show
	smallHeight = 16  // with fewer rows, too
	least       = 3   // rows of a box: its borders and one row
	leastSide   = 20  // columns of the column, and of the conversation next to it

	leastConversation = 40 // columns that a wide column leaves
)

// Size is a width and a height in cells.
type Size struct{ W, H int }

// Rect is a rectangle of cells. It is empty when W or H is 0.
type Rect struct{ X, Y, W, H int }

// XYWH returns the four numbers, for SetRect.
func (r Rect) XYWH() (x, y, w, h int) { return r.X, r.Y, r.W, r.H }

// Empty reports whether no cell is in the rectangle.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Holds reports whether a cell is in the rectangle.
func (r Rect) Holds(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// Input holds everything that the layout depends on.
type Input struct {
	W, H   int
	Prompt int  // rows of text that the prompt wants; it gets at most a third of the screen
	Rules  bool // lines above and below the prompt; without them, a blank row is above it
	Queue  int  // rows wanted above the status line for queued prompts
	Tab    Pane // the pane last focused other than the prompt
	Zoom   bool // Tab fills the screen between header and prompt
	Beside      // the contents of the column
	Dialog Size // wanted, borders included; the zero Size is none
	Dock   int  // rows wanted between the panes and the prompt, borders included; 0 is none
	// DockFull allows the dock all rows between header and prompt instead of most of them.
	DockFull bool
	Popup    Size // wanted, above the prompt; the zero Size is none
}

// Beside describes the contents of the column next to the conversation, and how the user wants it shown.
type Beside struct {
	Column bool // something is live, or its last picture is kept
	Hidden bool // the strip shows instead of the column
	Wide   bool // the column takes most of the width
	Live   int  // panes to show at once, and calls that print; 0 is none
	Grid   bool // show as many of them as fit; without it, two at most
	Tasks  int  // rows
	Side   int  // percent of the width for the column; 0 = DefaultSide or WideSide
	Upper  int  // percent of the column's rows for Live; 0 = what the tasks leave
}

// Layout holds the position of each part of the screen. The Rects of Live, Tasks, Dialog and Dock include their
// borders.
type Layout struct {
	Header Rect
	Panes  [count]Rect // empty if not visible; Prompt covers everything from Queue to Footer
	Tiles  []Rect      // the boxes of several panes in Live, which share their edges; none for one pane
	Strip  Rect        // the line that replaces the column, above Queue, after a blank line
	Queue  Rect        // the queued prompts, above Status
	Status Rect        // the line above Above
	Above  Rect        // the row above the prompt's text: a rule or blank
	Input  Rect        // the prompt's text, over the whole width
	Below  Rect        // a rule below it, if Rules is set
	Footer Rect        // the last row
	Dialog Rect
	Dock   Rect // shares its upper edge with the boxes above
	Popup  Rect
}

// Of computes the layout. On a small screen the least important parts disappear first: the column, then header and
// footer, then the status line, then the conversation; never the prompt.
func Of(in Input) Layout {
	var l Layout
	if in.W <= 0 || in.H <= 0 {
		return l
	}
	top, end := l.chrome(in)
	main := Rect{0, top, in.W, l.dock(in, top, end) - top}
	if main.H > 0 {
		l.main(in, main)
	}
	l.Tiles = tiles(in, l.Panes[Live], end-top)
	l.Dialog = dialog(in, end)
	l.Popup = popup(in, padded(l.Input))
	return l
}

// small reports whether there is room for conversation, status line and prompt only.
func (in *Input) small() bool { return in.W < smallWidth || in.H < smallHeight }

// narrow reports whether the column is not shown, for lack of room or because the user has hidden it. Then a strip
// shows what runs, and the column's contents open as a page in place of the conversation.
func (in *Input) narrow() bool { return in.W < columnWidth || in.Hidden }

// page reports whether the page that replaces the column is open.
func (in *Input) page() bool { return in.Column && in.narrow() && in.Tab >= Live }

// Narrow reports whether the column's contents replace the conversation when they are opened.
func (in Input) Narrow() bool { return in.Column && in.narrow() }

// chrome places everything above and below the panes, from the last row up. It returns the first row of the panes and
// the row after their last.
func (l *Layout) chrome(in Input) (top, end int) {
	small := in.small()
	end = in.H
	take := func(rows int) Rect {
		rows = max(0, min(rows, end-top))
		end -= rows
		return Rect{0, end, in.W, rows}
	}
	if !small {
		l.Header, top = Rect{0, 0, in.W, 1}, 1
		l.Footer = take(1)
		if in.Rules {
			l.Below = take(1)
		}
	}
	l.Input = take(max(1, min(in.Prompt, in.H/3)))
	if !small {
		l.Above = take(1)
	}
	if in.H >= 3 {
		l.Status = padded(take(1))
	}
	if !small {
		l.Queue = padded(take(min(in.Queue, in.H/6)))
	}
	l.Panes[Prompt] = Rect{0, end, in.W, in.H - end}
	if !small && in.Column && in.narrow() && !in.page() && !in.Zoom {
		rows := 2
		if in.Dock > 0 { // the rule of the dock is above the strip
			rows = 1
		}
		l.Strip = padded(take(rows))
	}
	return top, end
}

const (
	dockShare = 60 // percent of the screen's rows that the dock may have
	lowScreen = 16 // on a screen with fewer rows the dock may have all that the prompt leaves
)

// dock places the dock above the row end, and returns the row where the panes end.
func (l *Layout) dock(in Input, top, end int) (edge int) {
	if in.Dock <= 0 {
		return end
	}
	all := end - top
	rows := min(in.Dock, all)
	if !in.DockFull && in.H >= lowScreen {
		rows = min(rows, in.H*dockShare/100)
	}
	if all-rows < 1 {
		rows = all
	}
	l.Dock = Rect{0, end - rows, in.W, rows}
	return l.Dock.Y
}

// padded leaves a blank column at each side, if there is room for it.
func padded(r Rect) Rect {
	if r.W > 20 {
		r.X, r.W = r.X+1, r.W-2
	}
	return r
}

// main divides the space between header and prompt among the panes.
func (l *Layout) main(in Input, r Rect) {
	boxed := r
	if !l.Dock.Empty() {
		boxed.H++ // the dock shares the edge
	}
	switch {
	case in.Zoom && in.Tab >= Live && boxed.H >= least:
		l.Panes[in.Tab] = boxed
	case in.page() && boxed.H >= least:
		l.column(in, boxed)
	case !in.Column || in.narrow() || in.Zoom || boxed.H < least:
		l.Panes[Conversation] = r
	default:
		w := in.ColumnWidth()
		l.Panes[Conversation] = Rect{0, r.Y, r.W - w, r.H}
		l.column(in, Rect{r.W - w, r.Y, w, boxed.H})
	}
}

// Roomy reports whether the screen has room for a column.
func (in Input) Roomy() bool { return in.W >= columnWidth }

// SideShare returns the column's share of the width, in percent.
func (in Input) SideShare() int {
	side := cmp.Or(in.Side, DefaultSide)
	if in.Side == 0 && in.W >= wideWidth {
		side = WideSide
	}
	if in.Wide {
		columns := min(max(in.W*wideShare/100, wideLive), in.W-leastConversation)
		side = max(side, (columns*100+in.W-1)/in.W)
	}
	return side
}

// Widens reports whether Wide would make the column wider.
func (in Input) Widens() bool {
	wide := in
	wide.Wide = true
	return !in.narrow() && wide.ColumnWidth() > in.ColumnWidth()
}

// LiveShare returns Live's share of the column's rows, in percent; 0 if Live is not above the tasks.
func (l *Layout) LiveShare() int {
	live, tasks := l.Panes[Live], l.Panes[Tasks]
	if live.Empty() || tasks.Empty() {
		return 0
	}
	rows := live.H + tasks.H - 4
	return ((live.H-2)*100 + rows/2) / rows
}

// ColumnWidth returns the width of the boxes in the column, borders included, or of the page if there is no room for a
// column.
func (in Input) ColumnWidth() int {
	if in.narrow() {
		return in.W
	}
	return min(max((in.W*in.SideShare()+50)/100, leastSide), in.W-leastSide)
}

// column puts Live above the tasks. The tasks get the rows that they need, up to a third of all rows. If two boxes
// don't fit, only one of them is shown: the tasks if they were focused last, else Live.
func (l *Layout) column(in Input, r Rect) {
	live := in.Live > 0 || in.Tasks == 0
	switch {
	case in.Tasks == 0 || live && r.H < 2*least-1 && in.Tab != Tasks:
		l.Panes[Live] = r
		return
	case !live || r.H < 2*least-1:
		l.Panes[Tasks] = r
		return
	}
	free := r.H - 3 // rows without the borders
	rows := free - max(1, min(in.Tasks, free/3))
	if in.Upper != 0 {
		rows = max(1, min(free*in.Upper/100, free-1))
	}
	l.Panes[Live] = Rect{r.X, r.Y, r.W, rows + 2}
	l.Panes[Tasks] = Rect{r.X, r.Y + rows + 1, r.W, free - rows + 2}
}

// dialog centres the dialog above the prompt, so that the draft stays in view. If it does not fit there, it may cover
// everything except the header.
func dialog(in Input, end int) Rect {
	if in.Dialog.W <= 0 || in.Dialog.H <= 0 {
		return Rect{}
	}
	w := min(in.Dialog.W, in.W)
	top, bottom := 1, end
	if in.H < 5 {
		top = 0
	}
	if in.Dialog.H > bottom-top { // no pane shows above it
		return Rect{(in.W - w) / 2, top, w, min(in.Dialog.H, in.H-top)}
	}
	h := min(in.Dialog.H, bottom-top)
	return Rect{(in.W - w) / 2, top + (bottom-top-h)/2, w, h}
}

// popup places the popup directly above the prompt's text.
func popup(in Input, prompt Rect) Rect {
	if in.Popup.W <= 0 || in.Popup.H <= 0 {
		return Rect{}
	}
	h := min(in.Popup.H, prompt.Y)
	return Rect{prompt.X, prompt.Y - h, min(in.Popup.W, prompt.W), h}
}
