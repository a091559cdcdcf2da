package event

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocs checks that docs/events.md, the reference of the public stream, matches the types.
func TestDocs(t *testing.T) {
	const file = "../../docs/events.md"
	got := reference()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s is not what the types say (%v); run: go test ./agent/event -update", file, err)
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString("# Events\n\n" +
		"`buddy exec --json` prints one event a line, and a session file holds the durable ones. Each is an object:\n" +
		"`{\"seq\", \"ts_unix_ms\", \"session\", \"branch\"?, \"task\"?, \"turn\"?, \"type\", \"payload\"}`. `seq` increases, with gaps.\n" +
		"Durable events are stored before anyone sees them; transient ones may be merged, and only those of text and\n" +
		"of tool output are printed. Unknown types are to be skipped. A `?` marks what may be left out.\n" +
		"Costs are in micro-dollars (1,000,000 is one dollar); one that is left out is not known.\n\n" +
		"This page is generated: `go test ./agent/event -update`.\n\n| type | durable | payload |\n|---|---|---|\n")
	for _, e := range All {
		durable := "yes"
		if !Durable(e) {
			durable = "no"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", Type(e), durable, strings.Join(members(reflect.TypeOf(e)), ", "))
	}
	return b.String()
}

func members(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if strings.Contains(opts, "omitempty") {
			name += "?"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return []string{"–"}
	}
	return names
}
