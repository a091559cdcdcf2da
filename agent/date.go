package agent

import (
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
)

// dateBefore and dateAfter stand around the date at the end of a prompt.
const (
	dateBefore = "\n\n<system-reminder>Today is "
	dateAfter  = ".</system-reminder>"
)

// today returns the date that a prompt carries, such as "2026-11-22 (UTC)": "" when the
// conversation was told it, or nobody wants it. A compaction may take it away, so that it comes
// again. It is never in the system prompt, which would then change every day. The caller holds r.mu.
func (r *Runtime) today(c *conversation) string {
	if r.opts.Dates == nil || r.model.Info().API == model.Demo {
		return ""
	}
	if now := r.opts.Now().In(r.opts.Dates).Format("2006-01-02 (MST)"); now != c.date {
		return now
	}
	return ""
}

// promptText returns what the model reads of a prompt.
func promptText(p event.PromptSubmitted) string {
	if p.Date == "" {
		return p.Text
	}
	return p.Text + dateBefore + p.Date + dateAfter
}

// undated returns what a person said in a prompt that the model read.
func undated(text string) string {
	if i := strings.LastIndex(text, dateBefore); i >= 0 && strings.HasSuffix(text, dateAfter) {
		return text[:i]
	}
	return text
}
