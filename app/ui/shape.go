package ui

// Shape holds how the user has arranged the screen. The caller of New saves it for each folder.
type Shape struct {
	Side   int  `json:"side,omitempty"`   // percent of the width for the column; 0 = default
	Live   int  `json:"live,omitempty"`   // percent of the column's rows for Live; 0 = the rows that Tasks leaves
	Hidden bool `json:"folded,omitempty"` // the column is hidden
	Wide   bool `json:"wide,omitempty"`   // the column takes most of the width
}

// The bounds of a shape, in percent, and the step of one key.
const (
	leastShare = 20
	mostShare  = 80
	shareStep  = 4
)

func share(n int) int { return max(leastShare, min(n, mostShare)) }

// Bound limits the shares to their bounds, because the shape was read from a file.
func (s *Shape) Bound() {
	for _, n := range []*int{&s.Side, &s.Live} {
		if *n != 0 {
			*n = share(*n)
		}
	}
}
