package layout

// Joint is a cell where border lines meet, and the character that joins them.
type Joint struct {
	X, Y int
	Rune rune
}

// The directions in which a line leaves a cell.
const (
	up = 1 << iota
	down
	left
	right
)

var joints = map[int]rune{
	down | right: '┌', down | left: '┐', up | right: '└', up | left: '┘',
	up | down | right: '├', up | down | left: '┤', down | left | right: '┬', up | left | right: '┴',
	up | down | left | right: '┼',
}

// Joints returns the corners and crossings of all visible borders, row by row. The borders are those of the boxes and
// the dock's lower rule, which has no sides. Boxes end at the dock's upper rule, which stays whole. Draw joints after
// the boxes, whose own corners ignore their neighbours.
func (l *Layout) Joints() []Joint {
	boxes := append([]Rect{l.Panes[Live], l.Panes[Tasks], l.Dock}, l.Tiles...)
	w, h := 0, 0
	for _, r := range boxes {
		w, h = max(w, r.X+r.W), max(h, r.Y+r.H)
	}
	cells := make([]int, w*h)
	for _, r := range boxes {
		if r.W < 2 || r.H < 2 {
			continue
		}
		for x := r.X; x < r.X+r.W-1; x++ {
			for _, y := range [2]int{r.Y, r.Y + r.H - 1} {
				cells[y*w+x] |= right
				cells[y*w+x+1] |= left
			}
		}
		for y := r.Y; y < r.Y+r.H-1 && r != l.Dock; y++ {
			for _, x := range [2]int{r.X, r.X + r.W - 1} {
				cells[y*w+x] |= down
				cells[(y+1)*w+x] |= up
			}
		}
	}
	var all []Joint
	for i, lines := range cells {
		if c, ok := joints[lines]; ok && (l.Dock.Empty() || i/w != l.Dock.Y) {
			all = append(all, Joint{i % w, i / w, c})
		}
	}
	return all
}
