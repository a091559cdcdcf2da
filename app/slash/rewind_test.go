package slash

import (
	"strings"
	"testing"
	"time"

	"buddy/agent/undo"
	"buddy/app/state"
	"buddy/texts"
)

// TestRewindListShowsJoinedPrompts: below the prompt with which they go back, without a number of their own.
func TestRewindListShowsJoinedPrompts(t *testing.T) {
	all := []state.Border{{Seq: 1, ID: 1, Text: "first"}, {Seq: 5, ID: 2, Text: "fix it", Joined: []state.Border{{ID: 3, Text: "and\nthe docs"}}}}
	text, err := rewindList(all, func() ([]undo.Change, error) { return nil, nil }, time.UnixMilli(0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, texts.OneLine(line))
	}
	if got, want := strings.Join(rows[1:4], "|"), "1 00:00 no file fix it|goes with it ↳ and the docs|2 00:00 no file first"; got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
}
