package conversation

import (
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Today returns the date to send with prompts, such as "2026-11-22 (UTC)", or "" for the demo model or if the time zone
// is unknown. The system prompt does not contain the date, because providers cache the prompt only while it does not
// change.
func Today(m model.Info, now func() time.Time, zone *time.Location) string {
	if zone == nil || m.API == model.Demo {
		return ""
	}
	return now().In(zone).Format("2006-01-02 (MST)")
}

// dateBefore and dateAfter enclose the date that precedes a prompt's text.
const (
	dateBefore = "<system-reminder>Today is "
	dateAfter  = ".</system-reminder>\n\n"
)

// PromptText returns a prompt as the model gets it, with the date before the text.
func PromptText(p event.PromptSubmitted) string {
	if p.Date == "" {
		return p.Text
	}
	return dateBefore + p.Date + dateAfter + p.Text
}

// Undated returns a text from PromptText without the date.
func Undated(text string) string {
	if dated, ok := strings.CutPrefix(text, dateBefore); ok {
		if _, prompt, ok := strings.Cut(dated, dateAfter); ok {
			return prompt
		}
	}
	return text
}
