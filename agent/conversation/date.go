package conversation

import (
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Today returns the date that prompts carry for a model, such as "2026-11-22 (UTC)"; "" for the demo,
// and without a zone. It is never in the system prompt, which would then change every day.
func Today(m model.Info, now func() time.Time, zone *time.Location) string {
	if zone == nil || m.API == model.Demo {
		return ""
	}
	return now().In(zone).Format("2006-01-02 (MST)")
}

// dateBefore and dateAfter stand around the date before a prompt.
const (
	dateBefore = "<system-reminder>Today is "
	dateAfter  = ".</system-reminder>\n\n"
)

// PromptText returns what the model reads of a prompt.
func PromptText(p event.PromptSubmitted) string {
	if p.Date == "" {
		return p.Text
	}
	return dateBefore + p.Date + dateAfter + p.Text
}

// Undated returns what a person said in a prompt that the model read.
func Undated(text string) string {
	if dated, ok := strings.CutPrefix(text, dateBefore); ok {
		if _, said, ok := strings.Cut(dated, dateAfter); ok {
			return said
		}
	}
	return text
}
