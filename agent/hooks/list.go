package hooks

import (
	"fmt"
	"strings"
	"time"

	"buddy/texts"
)

// List describes the hooks for people: each with its matcher, whose it is, and how it ran last; and
// what was left out.
func (r *Runner) List() string {
	const none = "no hooks; docs/extensions.md says how to write one"
	if r == nil {
		return none
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.list.Load()
	if len(all.Handlers)+len(all.Problems) == 0 {
		return none
	}
	var lines []string
	for i, h := range all.Handlers {
		if h.Lost != "" {
			continue // a problem says it
		}
		what := string(h.Event)
		if h.Matcher != "" {
			what += " " + texts.Clip(h.Matcher, 60)
		}
		if h.If != "" {
			what += " if " + texts.Clip(h.If, 60)
		}
		where := fmt.Sprintf("%s:%d", h.Origin.File, h.Line)
		if h.Origin.Part != "" {
			where = h.Origin.File + ", trusted as " + h.Origin.Part
		}
		lines = append(lines, fmt.Sprintf("%s  %s  (%s, %s)", what, texts.Clip(texts.OneLine(h.What()), 120), h.Origin.Source, where))
		if h.Outside {
			lines = append(lines, "    runs outside the fence in mode auto, too (outside)")
		}
		lines = append(lines, "    "+all.ran[i].text())
		if r.passed[h.Name()] && h.Event.guards() {
			lines = append(lines, "    its failures pass in this session")
		}
	}
	for _, p := range all.Problems {
		lines = append(lines, "not run: "+p.String())
	}
	return strings.Join(lines, "\n")
}

// text says how a hook ran.
func (r Run) text() string {
	if r.Times == 0 {
		return "has not run"
	}
	if r.Outcome == "" {
		return "runs"
	}
	text := fmt.Sprintf("runs: %d, last: %s in %s", r.Times, r.Outcome, r.Took.Round(time.Millisecond))
	if r.Failure != "" && !strings.Contains(r.Outcome, r.Failure) {
		text += "; last failure: " + r.Failure
	}
	return text
}
