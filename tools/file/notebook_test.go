package file

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"buddy/tools"
)

// aNotebook returns the JSON of a notebook with five cells and a picture below each.
func aNotebook(t *testing.T) string {
	t.Helper()
	picture := base64.StdEncoding.EncodeToString(make([]byte, 90_000))
	var cells []any
	for i := range 5 {
		cells = append(cells, map[string]any{"cell_type": "code", "execution_count": 1, "metadata": map[string]any{}, "source": []string{fmt.Sprintf("print(%d)\n", i)}, "outputs": []any{
			map[string]any{"output_type": "display_data", "data": map[string]any{"image/png": picture}, "metadata": map[string]any{}},
		}})
	}
	data, err := json.MarshalIndent(map[string]any{"cells": cells, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 5}, "", " ")
	must(t, err)
	return string(data) + "\n"
}

func TestNotebook(t *testing.T) {
	b := newBench(t)
	file := aNotebook(t)
	b.put("n.ipynb", file)
	const note = `5 cells of a notebook, outputs shortened; edits are made in this text, in which "=== cell, code ===" begins a new cell`
	read := b.OK("read_file", args{"path": "n.ipynb"})
	if !strings.HasPrefix(read.Text, "=== cell 1, code ===\nprint(0)\n=== output of cell 1 ===\n  (image/png, 120000 bytes, not shown)\n=== cell 2") || read.Note != note || read.Outcome != "lines 1-20 of 20" {
		t.Errorf("read = %v", read)
	}
	if got := b.OK("read_file", args{"path": "n.ipynb", "offset": 5, "limit": 2}); got.Text != "=== cell 2, code ===\nprint(1)\n" || got.Note != "lines 5-6 of 20; continue with offset 7" {
		t.Errorf("page = %v", got)
	}

	call, planErr := b.Plan("edit_file", args{"path": "n.ipynb", "old_string": "print(3)", "new_string": "print(\"é\")\nx"})
	if planErr != "" {
		t.Fatal(planErr)
	}
	if want := "-    \"print(3)\\n\"\n+    \"print(\\\"é\\\")\\n\",\n+    \"x\\n\"\n"; !strings.Contains(call.Planned.Preview, want) {
		t.Errorf("preview:\n%.2000s", call.Planned.Preview)
	}
	var kept []tools.Before
	call.Keep = func(files []tools.Before) error { kept = files; return nil }
	if got, err := b.Finish(call); err != "" || got.Text != "Edited n.ipynb: 1 replacement" {
		t.Fatal(got, err)
	}
	edited := strings.Replace(file, `"print(3)\n"`, "\"print(\\\"é\\\")\\n\",\n    \"x\\n\"", 1)
	if got := b.content("n.ipynb"); got != edited {
		t.Errorf("edited: %s", got)
	}
	if _, err := b.ws.Restore(t.Context(), kept, false); err != nil || b.content("n.ipynb") != file {
		t.Errorf("restored: %v", err)
	}
	b.OK("read_file", args{"path": "n.ipynb"})
	b.Fails("edit_file", args{"path": "n.ipynb", "old_string": "print(", "new_string": "echo("}, "old_string occurs 5 times, at lines 2, 6, 10, 14, 18;")
	b.Fails("edit_file", args{"path": "n.ipynb", "old_string": "not shown", "new_string": "x"}, "old_string was not found")
	b.Fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: n.ipynb\n@@\n === output of cell 1 ===\n-  (image/png, 120000 bytes, not shown)\n*** End Patch\n"}, "=== output of cell 1 ===: outputs can't be changed")
	b.OK("edit_file", args{"path": "n.ipynb", "old_string": `"nbformat_minor": 5`, "new_string": `"nbformat_minor": 4`}) // edits the JSON
	b.OK("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: n.ipynb\n@@\n === cell 2, code ===\n-print(1)\n+print(11)\n*** End Patch\n"})
	want := strings.NewReplacer(`"nbformat_minor": 5`, `"nbformat_minor": 4`, "print(1)", "print(11)").Replace(file)
	if got := b.content("n.ipynb"); got != want {
		t.Errorf("patched: %s", got)
	}
	b.OK("edit_file", args{"path": "n.ipynb", "old_string": "=== cell 2, code ===\nprint(11)\n", "new_string": "=== cell, markdown ===\n# Two\n=== cell 2, code ===\nprint(11)\n"})
	if got := b.OK("read_file", args{"path": "n.ipynb", "offset": 5, "limit": 4}); got.Text != "=== cell 2, markdown ===\n# Two\n=== cell 3, code ===\nprint(11)\n" {
		t.Errorf("with a new cell: %v", got)
	}
}

// grep finds the lines of a notebook that read_file shows. Text outside the cells is found in the JSON.
func TestGrepInANotebook(t *testing.T) {
	b := newBench(t)
	b.put("n.ipynb", aNotebook(t))
	if got := b.OK("grep", args{"pattern": `print\(3\)$`}); got.Text != "n.ipynb:14:print(3)\n" {
		t.Errorf("grep = %v", got)
	}
	if got := b.OK("grep", args{"pattern": "nbformat_minor"}); got.Text != "n.ipynb:91: \"nbformat_minor\": 5\n" {
		t.Errorf("grep = %v", got)
	}
}

func TestNotebookThatIsWritten(t *testing.T) {
	b := newBench(t)
	b.OK("write_file", args{"path": "n.ipynb", "content": "=== cell, markdown ===\n# One\n=== cell, code ===\nprint(1)\n"})
	if got := b.OK("read_file", args{"path": "n.ipynb"}); got.Text != "=== cell 1, markdown ===\n# One\n=== cell 2, code ===\nprint(1)\n" {
		t.Errorf("read = %v", got)
	}
	const raw = `{"cells": [], "nbformat": 4}`
	b.OK("write_file", args{"path": "n.ipynb", "content": raw})
	if got := b.content("n.ipynb"); got != raw {
		t.Errorf("the file has %q", got)
	}
	b.OK("write_file", args{"path": "n.ipynb", "content": `{"cells": [`}) // an invalid notebook is shown as JSON
	if got := b.OK("read_file", args{"path": "n.ipynb"}); got.Text != `{"cells": [` || got.Note != "" {
		t.Errorf("read = %v", got)
	}
	b.OK("edit_file", args{"path": "n.ipynb", "old_string": "[", "new_string": `[], "nbformat": 4}`})
	if got := b.content("n.ipynb"); got != raw {
		t.Errorf("the file has %q", got)
	}
}
