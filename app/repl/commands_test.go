package repl

import (
	"strings"
	"testing"

	"buddy/app/show"
	"buddy/app/slash"
)

// Every command of the table can run line by line, or explains why not.
func TestEveryCommandRunsLineByLine(t *testing.T) {
	for _, c := range slash.Commands {
		here := own[c.Name] != nil || c.Events != nil || c.Answers
		switch {
		case !here && c.ScreenOnly == "":
			t.Errorf("/%s does nothing in plain mode: set its ScreenOnly, or add it to own in app/repl/commands.go", c.Name)
		case own[c.Name] != nil && c.ScreenOnly != "":
			t.Errorf("/%s is in own of app/repl/commands.go, but its ScreenOnly is %q", c.Name, c.ScreenOnly)
		}
	}
	for name := range own {
		if _, ok := slash.Find(name); !ok {
			t.Errorf("/%s is not in the table of commands", name)
		}
	}
}

// Commands that start or query parallel work do not wait for the running task.
func TestCommandsThatRunAtOnce(t *testing.T) {
	for line, want := range map[string]bool{
		"/review": true, "/review main": true, " /REVIEW main": true, "/bg look": true, "/workflow runs": true,
		"/workflow code_review": false, "/findings": false, "/model x": false, "review": false, "/reviewer": false,
	} {
		if got := atOnce(line, immediate); got != want {
			t.Errorf("%q runs at once: %v, want %v", line, got, want)
		}
	}
}

// A number refers to a row of the last printed list where an id is expected, and nowhere in a text.
func TestNumbersStandForRows(t *testing.T) {
	rows := []show.Row{{ID: "all", Whole: true}, {ID: "a1", Whole: true}, {ID: "b2", Whole: true}, {ID: "c3"}}
	r := &repl{listed: map[string][]show.Row{"memory": rows, "session": rows, "trust": rows, "model": rows}}
	for line, want := range map[string]string{
		"memory forget 2": "memory forget a1", "memory edit #2 Use 3 blanks.": "memory edit a1 Use 3 blanks.", "memory add 2 tabs": "memory add 2 tabs",
		"memory why 9": "memory why 9", "session resume 4": "session resume c3", "session fork 2": "session fork 2", "session rename 2 things": "session rename 2 things",
		"session search 3": "session search 3", "trust 2 3": "trust a1 b2", "trust forget 4": "trust forget c3", "trust all": "trust a1 b2", "model 2": "model a1",
		"style 2": "style 2", "memory": "memory",
	} {
		if got := strings.Join(withRowIDs(r, strings.Split(line, " ")), " "); got != want {
			t.Errorf("/%s: %s, want %s", line, got, want)
		}
	}
}
