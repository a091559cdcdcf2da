package texts

import "strings"

// Fenced returns a text in a fenced code block of Markdown, with info after the opening fence. The fence is longer than
// any run of backticks in the text.
func Fenced(info, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + info + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
