package ui

import (
	"strings"
	"testing"

	"buddy/app/slash"
)

// Completed commands have help of at most eight words; the most used come first.
func TestOfferedCommandsAreBrief(t *testing.T) {
	all := offeredCommands(nil)
	for i, want := range []string{"/model", "/resume", "/new", "/compact", "/review", "/plan", "/status", "/diff", "/undo"} {
		if all[i].Name != want {
			t.Errorf("command %d is %s, want %s", i, all[i].Name, want)
		}
	}
	if len(all) != len(slash.Commands)+len(slash.AliasNames()) {
		t.Errorf("%d commands are offered", len(all))
	}
	if meant := slash.DidYouMean(nil, "settings"); meant != " (did you mean /config?)" {
		t.Errorf("settings: %q", meant)
	}
	for _, c := range all {
		does, _, _ := strings.Cut(c.Help, " · ")
		if n := len(strings.Fields(does)); n == 0 || n > 8 {
			t.Errorf("%s has %d words: %s", c.Name, n, c.Help)
		}
	}
}
