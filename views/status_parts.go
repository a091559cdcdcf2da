package views

import (
	"slices"
	"time"

	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
)

// statusParts are the parts of the line, joined with dots.
type statusParts [][]draw.Span

func (p *statusParts) add(r themes.Role, text string) { p.addSpans(r, draw.Untrusted(r, text)) }

func (p *statusParts) addSpans(r themes.Role, spans []draw.Span) {
	if len(*p) > 0 {
		spans = slices.Concat([]draw.Span{draw.Text(r, " · ")}, spans)
	}
	*p = append(*p, spans)
}

// fitting returns as many of the first parts as fit into w cells, at least one.
func (p statusParts) fitting(w int) statusParts {
	for len(p) > 1 && p.width() > w {
		p = p[:len(p)-1]
	}
	return p
}

func (p statusParts) width() int { return draw.Width(p.spans()) }

func (p statusParts) spans() []draw.Span { return slices.Concat(p...) }

// addDeadline adds the remaining time of a task.
func (p *statusParts) addDeadline(t *state.Task, now time.Time) {
	if t.Deadline > 0 && t.State != state.TaskDone {
		p.add(themes.Muted, draw.Clock(max(0, t.Deadline-now.UnixMilli()))+" left")
	}
}
