package commands

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
)

// A number goes back to before that prompt, with what was named; the list numbers the newest first and has what goes back
// with a prompt next to it.
func TestRewind(t *testing.T) {
	all := []state.Border{{Seq: 1, ID: 1, Text: "first"}, {Seq: 5, ID: 2, Text: "fix it", Joined: []state.Border{{ID: 3, Text: "and\nthe docs"}}}}
	for line, want := range map[string]string{
		"2":               fmt.Sprintf("%+v", event.Rewind{ToSeq: 1, Conversation: true, Files: true}),
		"1 files --force": fmt.Sprintf("%+v", event.Rewind{ToSeq: 5, Files: true, Force: true}),
		"1  conversation": fmt.Sprintf("%+v", event.Rewind{ToSeq: 5, Conversation: true}),
		"@1 both":         fmt.Sprintf("%+v", event.Rewind{ToSeq: 1, Conversation: true, Files: true}),
		"@2":              "that prompt no longer exists",
		"3":               "you can rewind at most 2 prompts",
		"0":               `unknown argument "0"`,
		"everything":      `unknown argument "everything"`,
		"files":           "/rewind needs the number of prompts",
	} {
		got := ""
		s := &Session{Now: &slash.Now{Prompts: all}, Send: func(c event.Command) { got = fmt.Sprintf("%+v", c) }}
		if _, err := Run(t.Context(), s, append([]string{"rewind"}, slash.Words(line)...)...); err != nil {
			got = err.Error()
		}
		if line != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	text := show.Answer{List: promptList(all, func(int) string { return "no file" })}.String()
	if !strings.Contains(text, "1  fix it ↳ and the docs") || !strings.Contains(text, "2  first") || !strings.Contains(text, uncovered) {
		t.Error(text)
	}
}
