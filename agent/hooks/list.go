package hooks

import "slices"

// Listed is a hook with its last run.
type Listed struct {
	Handler
	Ran    Run
	Passes bool // a person lets its failures pass in this session
}

// List returns the hooks in order, and the problems of the hooks that were left out. Any goroutine may call it.
func (r *Runner) List() (listed []Listed, left []Problem) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.list.Load()
	for i, h := range all.Handlers {
		if h.Lost == "" { // lost hooks are among the problems
			listed = append(listed, Listed{h, all.ran[i], r.passed[h.Name()] && h.Event.guards()})
		}
	}
	return listed, slices.Clone(all.Problems)
}
