package layout

// Smallest sizes of the boxes when several panes are shown, borders included.
const (
	tileWidth  = 40 // on the whole page
	tileHeight = 7
	narrowTile = 22 // in the column, a few words of each pane are better than one pane only
	lowTile    = 5

	// SideBySide is the number of columns in Live that two panes next to each other need.
	SideBySide = 80
	stacked    = 24 // rows between header and prompt that two panes above each other need
)

// The size that suits most programs.
const (
	usualWidth  = 80
	usualHeight = 24
)

// tiles returns the boxes of the panes in Live: two side by side if Live is wide enough, else two above each other.
// rows is the number of rows between header and prompt. It includes the rows of dock and tasks, so that panes stay in
// place when those change.
func tiles(in Input, live Rect, rows int) []Rect {
	switch {
	case in.Live < 2 || live.Empty():
		return nil
	case in.Grid:
		return grid(in, live)
	case live.W >= SideBySide && live.H >= lowTile:
		return split(live, 2, 2, 1)
	case rows >= stacked && live.W >= narrowTile && live.H >= 2*lowTile-1:
		return split(live, 2, 1, 2)
	}
	return nil
}

// grid returns the boxes of as many panes as fit, in the arrangement that shows most of each pane.
func grid(in Input, live Rect) []Rect {
	w, h := narrowTile, lowTile
	if in.Zoom {
		w, h = tileWidth, tileHeight
	}
	maxCols, maxRows := min(in.Live, (live.W-1)/(w-1)), min(in.Live, (live.H-1)/(h-1))
	if maxCols < 1 || maxRows < 1 || maxCols*maxRows == 1 {
		return nil
	}
	cols, rows, most := maxCols, maxRows, 0
	for c := 1; c <= maxCols; c++ {
		r := (in.Live + c - 1) / c
		if seen := min((live.W-1)/c-1, usualWidth) * min((live.H-1)/r-1, usualHeight); r <= maxRows && seen > most {
			cols, rows, most = c, r, seen
		}
	}
	return split(live, min(in.Live, cols*rows), cols, rows)
}

// split divides a box into n boxes, cols in each row; the boxes of the last row share its width.
func split(all Rect, n, cols, rows int) []Rect {
	boxes := make([]Rect, n)
	for i := range boxes {
		col, row := i%cols, i/cols
		in := min(cols, n-row*cols)
		left, right := col*(all.W-1)/in, (col+1)*(all.W-1)/in
		top, bottom := row*(all.H-1)/rows, (row+1)*(all.H-1)/rows
		boxes[i] = Rect{all.X + left, all.Y + top, right - left + 1, bottom - top + 1}
	}
	return boxes
}
