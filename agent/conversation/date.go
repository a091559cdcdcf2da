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

// dateBefore and dateAfter stand around the date at the end of a prompt.
const (
	dateBefore = "\n\n<system-reminder>Today is "
	dateAfter  = ".</system-reminder>"
)

// PromptText returns what the model reads of a prompt.
func PromptText(p event.PromptSubmitted) string {
	if p.Date == "" {
		return p.Text
	}
	return p.Text + dateBefore + p.Date + dateAfter
}

// Undated returns what a person said in a prompt that the model read.
func Undated(text string) string {
	if i := strings.LastIndex(text, dateBefore); i >= 0 && strings.HasSuffix(text, dateAfter) {
		return text[:i]
	}
	return text
}
