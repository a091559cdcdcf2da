package ui

// Shape holds how a person arranged the screen. Whoever runs the screen keeps it for each
// folder.
type Shape struct {
	Side   int  `json:"side,omitempty"`   // percent of the width for the column; 0 = as drawn
	Live   int  `json:"live,omitempty"`   // percent of its rows for Live; 0 = what the tasks leave
	Hidden bool `json:"folded,omitempty"` // the column is not to be seen
	Wide   bool `json:"wide,omitempty"`   // the column takes most of the width
}

// The bounds of a shape, in percent, and how far one key goes.
const (
	leastShare = 20
	mostShare  = 80
	shareStep  = 4
)

func share(n int) int { return max(leastShare, min(n, mostShare)) }

// Bound brings the shares of a shape that was read within their bounds.
func (s *Shape) Bound() {
	for _, n := range []*int{&s.Side, &s.Live} {
		if *n != 0 {
			*n = share(*n)
		}
	}
}
