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
		t.Errorf("%s is stale: run make generate", file)
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString("# Events\n\n" +
		"`buddy exec --json` prints one event per line; a session file holds the durable ones. Each event is an object:\n" +
		"`{\"seq\", \"ts_unix_ms\", \"session\", \"branch\"?, \"task\"?, \"turn\"?, \"type\", \"payload\"}`. A `?` marks a field that may be\n" +
		"missing. Skip types that you don't know.\n\n" +
		"`seq` increases, with gaps. Durable events are stored before anyone sees them. Transient events may be merged; `exec`\n" +
		"prints only those with text and tool output. Costs are in micro-dollars (1,000,000 is one dollar); a missing cost is unknown.\n\n" +
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
