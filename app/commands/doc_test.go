package commands

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"buddy/app/slash"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

// TestDoc keeps docs/commands.md the same as the table of commands.
func TestDoc(t *testing.T) {
	const file = "../../docs/commands.md"
	var b strings.Builder
	b.WriteString("# Commands\n\nType these at the prompt, in upper or lower case; `/` lists them while you type. This page is generated from the table in\n" +
		"`app/commands`: `make generate`.\n\n| command | |\n|---|---|\n")
	for _, c := range slash.Commands {
		line := "/" + c.Name
		if c.Args != "" {
			line += " " + c.Args
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(line, "|", `\|`), c.Help)
	}
	b.WriteString("\nOther names:")
	var names []string
	for _, other := range slash.AliasNames() {
		names = append(names, fmt.Sprintf(" `/%s` is `/%s`", other, slash.Aliases[other]))
	}
	b.WriteString(strings.Join(names, ",") + ". After an `@`, buddy completes the name of a file\n" +
		"and sends the file's text with the prompt ([what models get](reminders.md#files-in-prompts)), or at most eight pictures\n" +
		"(`@docs/screen.png`).\n")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != b.String() {
		t.Errorf("%s is stale: run make generate", file)
	}
}
