package agent

import (
	"buddy/agent/model"
)

// calibrate corrects the estimate by what the provider counted. A fallback counts in other
// tokens.
func (r *Runtime) calibrate(t *task, from model.Info, u *model.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u != nil && from.Model == r.model.Info().Model {
		t.talk.hist.Calibrate(u.Prompt)
	}
}
