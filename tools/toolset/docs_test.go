package toolset

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/texts"
)

var update = flag.Bool("update", false, "write docs/tools.md and the names for hooks")

// TestDocs checks that docs/tools.md has the tools' own descriptions, and that hooks know the names.
func TestDocs(t *testing.T) {
	var defs []model.ToolDef
	all, deferred := offered(t, "")
	for _, tool := range append(all, deferred.All()...) {
		defs = append(defs, tool.Definition())
	}
	names := texts.Join(defs, "\n", func(d model.ToolDef) string { return d.Name }) + "\n"
	for file, got := range map[string]string{"../../docs/tools.md": reference(defs), "../../agent/hooks/tools.txt": names} {
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
}

func reference(defs []model.ToolDef) string {
	var b strings.Builder
	b.WriteString("# Tools\n" +
		"\n" +
		"These are the tools of a model, with the descriptions that the model reads. [safety.md](safety.md) says which calls need\n" +
		"approval.\n" +
		"\n" +
		"If `[targets]` lists other machines, the tools for commands, panes and files also take `target`, the name of one, and\n" +
		"`run_shell` takes `targets`, several machines on which the command runs at the same time.\n" +
		"\n" +
		"**Paths.** A relative path of a file tool starts in the session's folder, whatever `cd` did in the shell. Results of\n" +
		"`run_shell` name the shell's folder if it is another one. If a change names a file that exists in both folders, the\n" +
		"model has to give its absolute path. The folder of a shell on another machine is not known.\n" +
		"\n" +
		"**Similar names.** If a file to read does not exist, and only one name looks the same (accents, spaces, quotes, dashes,\n" +
		"case, another ending, a line as in `main.go:12`), buddy reads that file and says so. A change never does that: its error\n" +
		"names the file. If `edit_file` finds only a text that looks the same, the error shows the difference and the exact text.\n" +
		"\n" +
		"**Files left out.** `glob` and `grep` name in one line the files that they skip: files ignored by git, links, files with\n" +
		"possible secrets, binary and large files. A pattern that starts with the path of a skipped folder searches it, and an exact\n" +
		"path is always found. A file behind a link that leads out of the folder needs the same approval as under its own name.\n" +
		"\n" +
		"**Language servers.** If a language server runs, the model can ask it about a symbol: `tool_search` finds the tool `code`.\n" +
		"[extensions.md](extensions.md#language-servers) describes it.\n" +
		"\n" +
		"This page is generated: `go test ./tools/toolset -run Docs -update`.\n")
	for _, d := range defs {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", d.Name, d.Description)
	}
	return b.String()
}
