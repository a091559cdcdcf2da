package agent

import (
	"fmt"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model/limits"
)

// How full the context is when something happens, in percent of the model's window
// (SPEC, decision 3, and B22).
const (
	microAt      = 70 // old results that no longer matter are cleared
	warnAt       = 80 // a person is told
	hardAt       = 95 // nothing is sent
	autoTarget   = 82 // what is compacted to when hardAt is reached
	manualTarget = 60 // what is compacted to when a person asks
)

// gauge tells the history what it needs for its estimate.
func (r *Runtime) gauge() {
	chars := 0
	for _, d := range r.opts.Tools.Definitions() {
		chars += len(d.Name) + len(d.Description) + len(d.Parameters)
	}
	r.hist.SetFixed(chars)
	r.hist.SetModel(r.opts.Model.Info().Model)
}

// window returns the model's window in tokens, and whether it is known or only assumed.
// The caller holds r.mu.
func (r *Runtime) window() (tokens int, known bool) {
	if w := r.model.Info().Window; w > 0 {
		return w, true
	}
	return limits.Default, false
}

// percent returns a part of a window, at least one token (B02).
func percent(window, part int) int { return max(1, window/100*part+window%100*part/100) }

// fit makes room for the next request and reports whether it may be sent (B02, B03). A
// window that is only assumed stops nothing: the model may well take more.
func (r *Runtime) fit(task int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	window, known := r.window()
	if r.hist.Tokens() >= percent(window, microAt) {
		if ids := r.hist.MicroCompact(); len(ids) > 0 {
			r.emit(task, 0, event.MicroCompacted{CallIDs: ids})
		}
	}
	if r.hist.Tokens() >= percent(window, hardAt) {
		r.compact(task, percent(window, autoTarget))
	}
	used := r.hist.Tokens()
	if used >= percent(window, hardAt) && known {
		r.emit(task, 0, event.Error{
			Text: "the context is full, nothing was sent: " + fill(used, window), Code: "context_limit", Task: task,
			NextStep: "/session new, or context_limit in the profile if the model takes more",
		})
		return false
	}
	if used >= percent(window, warnAt) && r.ids.warned != task {
		r.ids.warned = task
		w := event.Warning{Text: "the context is filling up: " + fill(used, window), Code: "context", NextStep: "/compact or /session new"}
		if !known {
			w.Text += ", which is assumed"
			w.NextStep = "set context_limit in the profile of the model"
		}
		r.emit(task, 0, w)
	}
	r.hist.Sent()
	return true
}

func fill(used, window int) string {
	return fmt.Sprintf("%.1f %%, about %d of %d tokens", float64(used)*100/float64(window), used, window)
}

// compact replaces old exchanges by a summary and reports whether there were any. The
// caller holds r.mu.
func (r *Runtime) compact(task, target int) bool {
	c := r.hist.Compact(target)
	if c.Messages == 0 {
		return false
	}
	r.emit(task, 0, event.ContextCompacted{
		Summary: c.Summary, Before: c.Before, After: c.After,
		Removed: c.Messages, Turns: c.Turns, Boundary: c.Boundary, Kept: c.Kept,
	})
	return true
}

// compactNow does what a person asked for: below the target it goes on to the same part
// of what is there (B08).
func (r *Runtime) compactNow() {
	if err := r.stream.readOnly(); err != nil {
		r.reject("nothing was compacted, because it can't be recorded: %v", err)
		return
	}
	r.mu.Lock()
	window, _ := r.window()
	task := 0
	if r.main != nil {
		task = r.main.id
	}
	did := r.compact(task, percent(min(window, r.hist.Tokens()), manualTarget))
	r.mu.Unlock()
	if !did {
		r.emit(0, 0, event.Notice{Text: "nothing to compact: the newest exchanges, recent failures and what is pinned stay", Code: "compact"})
		return
	}
	r.emitUsage(0, 0)
}

// replayContext repeats a decision of an earlier process (DECISIONS 11). One that does
// not fit, from a file that someone changed, leaves the history longer and valid. The
// caller holds r.mu.
func (r *Runtime) replayContext(e event.Event) {
	switch p := e.(type) {
	case event.ContextCompacted:
		_ = r.hist.Apply(history.Cut{Summary: p.Summary, Boundary: p.Boundary, Kept: p.Kept})
	case event.MicroCompacted:
		r.hist.ApplyMicro(p.CallIDs)
	}
}
