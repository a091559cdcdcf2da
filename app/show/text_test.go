package show

import (
	"encoding/json"
	"testing"
)

// Each shape is plain text for a terminal that is read line by line, with numbers to choose by and without a control
// character.
func TestPlainText(t *testing.T) {
	for _, tt := range []struct {
		name string
		a    Answer
		want string
	}{
		{"nothing", Answer{}, ""},
		{"text", Say("two\nlines \x1b[31m\n"), "two\nlines ␛[31m"},
		{"named rows", Answer{List: &List{Title: "Memory", Note: "one was skipped", Usage: "forget takes an ID", Rows: []Row{
			{ID: "r-1", Cells: []string{"Use tabs.", "rule"}, Mark: true, Whole: true, More: []string{"from s1\x07"}},
			{ID: "r-22", Cells: []string{"a\nb", ""}},
		}}}, "Memory:\n* 1  r-1   Use tabs.  rule\n       from s1␇\n  2  r-22  a b\none was skipped\nforget takes an ID"},
		{"rows whose first cell is the name", Answer{List: &List{Title: "Targets", Rows: []Row{{ID: "web", Cells: []string{"web · production", "away"}}}}}, "Targets:\n  1  web · production  away"},
		{"rows that are called by their number, the first two of them", Answer{List: &List{Title: "Prompts", Most: 2, Unfold: true, Rows: []Row{
			{ID: "1", Cells: []string{"last"}, More: []string{"all of it"}}, {ID: "2", Cells: []string{"before"}}, {ID: "3", Cells: []string{"first"}},
		}}}, "Prompts:\n  1  last\n       all of it\n  2  before\nand 1 more"},
		{"no row", Answer{List: &List{Title: "Memory", Empty: "memory is empty", Usage: "add writes one"}}, "memory is empty\nadd writes one"},
		{"document", Answer{Document: &Document{Title: "Settings", Sections: []Section{
			{Title: "Agent", Values: []Value{{Label: "model", Text: "m", From: "~/c.toml"}, {Label: "max turns", Text: "9"}, {Label: "the longest label", BuiltIn: true}}},
			{Title: "UI", Values: []Value{{BuiltIn: true}}},
		}, Usage: "/config set"}}, "Settings\n\nAgent\n  model      m  (~/c.toml)\n  max turns  9\n\n2 more have their defaults\n/config set"},
		{"question", Answer{Question: &Question{Title: "Leave?", Lines: []string{"one task runs"}, Choices: []Deed{{Label: "leave", Run: []string{"quit", "--kill"}}, {Label: "stay"}}}}, "Leave?\n  one task runs\n  /quit --kill  leave"},
	} {
		if got := tt.a.String(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A list is an array for programs, whose objects have the columns as keys; what goes to a screen comes back as it was.
func TestJSON(t *testing.T) {
	a := Answer{List: &List{Title: "Servers", Columns: []string{"name", "last error"}, Rows: []Row{{ID: "x", Cells: []string{"x", "gone"}, Deeds: []Deed{{Label: "start it", Run: []string{"mcp", "on", "x"}}}}}}}
	value, err := json.Marshal(a.Value())
	if want := `[{"id":"x","last_error":"gone","name":"x"}]`; err != nil || string(value) != want {
		t.Errorf("%s, %v, want %s", value, err, want)
	}
	wire, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Answer
	if err := json.Unmarshal(wire, &back); err != nil || back.String() != a.String() || len(back.List.Rows[0].Deeds) != 1 {
		t.Errorf("%+v, %v", back, err)
	}
}
