package conversation

import (
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Today returns the date to send with prompts, such as "2026-11-22 (UTC)"; "" for the demo model and without a time
// zone. The date is not in the system prompt, because the prompt would then change every day and be cached in vain.
func Today(m model.Info, now func() time.Time, zone *time.Location) string {
	if zone == nil || m.API == model.Demo {
		return ""
	}
	return now().In(zone).Format("2006-01-02 (MST)")
}

// dateBefore and dateAfter enclose the date before a prompt.
const (
	dateBefore = "<system-reminder>Today is "
	dateAfter  = ".</system-reminder>\n\n"
)

// PromptText returns a prompt's text for the model.
func PromptText(p event.PromptSubmitted) string {
	if p.Date == "" {
		return p.Text
	}
	return dateBefore + p.Date + dateAfter + p.Text
}

// Undated removes the date from a prompt's text for the model.
func Undated(text string) string {
	if dated, ok := strings.CutPrefix(text, dateBefore); ok {
		if _, prompt, ok := strings.Cut(dated, dateAfter); ok {
			return prompt
		}
	}
	return text
}
