package ui

import (
	"slices"

	"buddy/app/layout"
)

// Shape holds how a person arranged the panes. Whoever runs the screen keeps it for each
// folder.
type Shape struct {
	Left   int      `json:"left,omitempty"`   // percent of the width for the conversation; 0 = as drawn
	Upper  int      `json:"upper,omitempty"`  // percent of the rows of output and panes for the output; 0 = as drawn
	Hidden []string `json:"hidden,omitempty"` // names of panes
}

// The bounds of a shape, in percent, and how far one key goes.
const (
	leastShare = 20
	mostShare  = 80
	shareStep  = 4
)

func share(n int) int { return max(leastShare, min(n, mostShare)) }

// hides reports whether a pane is not shown though there is something in it.
func (s *Shape) hides(p layout.Pane) bool {
	return slices.Contains(s.Hidden, p.String())
}

func (s *Shape) toggle(p layout.Pane) {
	others := slices.DeleteFunc(slices.Clone(s.Hidden), func(h string) bool { return h == p.String() })
	if len(others) == len(s.Hidden) {
		others = append(others, p.String())
	}
	s.Hidden = others
}

// Bound brings the shares of a shape that was read within their bounds.
func (s *Shape) Bound() {
	for _, n := range []*int{&s.Left, &s.Upper} {
		if *n != 0 {
			*n = share(*n)
		}
	}
}
