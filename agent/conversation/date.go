package conversation

import (
	"strings"

	"buddy/agent/event"
)

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
