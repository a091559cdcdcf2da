package slash

import (
	"errors"
	"fmt"
	"iter"
	"strconv"

	"buddy/agent/event"
	"buddy/app/state"
)

// Findings returns the last review of a conversation that found something, and which of its findings the arguments of /findings
// mean, from 0; -1 is all of them.
func Findings(newest iter.Seq[*state.Block], args string) (*event.ReviewFinished, int, error) {
	for b := range newest {
		if b.Review == nil {
			continue
		}
		if args == "" {
			return b.Review, -1, nil
		}
		n, err := strconv.Atoi(args)
		if err != nil || n < 1 || n > len(b.Review.Findings) {
			return nil, 0, fmt.Errorf("%q is not the number of a finding (have: 1 to %d)", args, len(b.Review.Findings))
		}
		return b.Review, n - 1, nil
	}
	return nil, 0, errors.New("no review of this session has found anything; /review reviews what is not committed")
}

// Place finds the place of a finding. What is on another machine can't be opened.
func (c Catalog) Place(folder string, r *event.ReviewFinished, n int) (path string, line int, why string) {
	f := r.Findings[n]
	if r.Target != "" {
		return "", 0, fmt.Sprintf("%s is on %s, where your editor is not: open it there", f.Place(), r.Target)
	}
	s := c.Locate(folder, f)
	return s.Path, s.Line, s.Why
}
