package toolset

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"buddy/agent/model"
)

var update = flag.Bool("update", false, "write docs/tools.md")

// TestDocs keeps docs/tools.md as the tools describe themselves.
func TestDocs(t *testing.T) {
	var defs []model.ToolDef
	all, deferred := offered(t, "")
	for _, tool := range append(all, deferred.All()...) {
		defs = append(defs, tool.Definition())
	}
	const file = "../../docs/tools.md"
	got := reference(defs)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s is not what the tools say (%v); run: go test ./tools/toolset -run Docs -update", file, err)
	}
}

func reference(defs []model.ToolDef) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nWhat a model can do, in the words that it reads. What needs approval is in [safety.md](safety.md).\n\n" +
		"Where `[targets]` lists other machines, the tools for commands, panes and files also take `target`, the name of one, and\n`run_shell` takes `targets`, several on which the command runs side by side.\n\n" +
		"A relative path of a file tool starts in the first folder, whatever `cd` did in the shell. Results of `run_shell` say where the\nshell is when that is another one, and a change of a file that both folders have asks which one is meant.\nOf a shell on another machine the folder is not known.\n\n" +
		"A read of a name that does not exist reads the only file whose name looks the same (accents, spaces, quotes, dashes, case, another\nending, a line behind it as in `main.go:12`) and says so. A change never does: its error names the file. Where `edit_file` does not\nfind a text but one that looks the same, the error names the difference and has the exact text.\n\n" +
		"`glob` and `grep` say in one line what they left out: what git ignores, links, files with possible secrets, binary and large\nones. A pattern that begins with the path of such a folder searches it, and an exact path is always found. What a link outside\nof the folder leads to needs approval as it does by its own name.\n\n" +
		"This page is generated: `go test ./tools/toolset -run Docs -update`.\n")
	for _, d := range defs {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", d.Name, d.Description)
	}
	return b.String()
}
