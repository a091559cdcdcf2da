package workflow_test

import (
	"os"
	"path/filepath"
	"testing"

	"buddy/extensions/workflow"
)

// tools are those that the files of these tests use.
var tools = workflow.Tools{
	"run_shell":  {{"command", "string", true}, {"mutation", "boolean", false}, {"wait", "", false}},
	"agent":      {{"type", "string", true}, {"prompt", "string", true}, {"title", "string", true}},
	"ask_user":   {{"question", "string", true}, {"choices", "array", false}},
	"write_file": {{"path", "string", true}, {"content", "string", true}},
	"read_file":  {{"path", "string", true}, {"limit", "integer", false}},
	"send-keys":  {{"pane", "string", true}, {"literal_text", "string", false}},
}

// parse reads a file without mistakes.
func parse(t *testing.T, text string) workflow.Workflow {
	t.Helper()
	w, mistakes := workflow.Parse([]byte(text))
	for _, m := range append(mistakes, w.Check(tools)...) {
		t.Error(m)
	}
	if t.Failed() {
		t.FailNow()
	}
	return w
}

// TestWholeFilesHaveNoMistakes: the examples of the format are read, with what the text around them says.
func TestWholeFilesHaveNoMistakes(t *testing.T) {
	files, _ := filepath.Glob("../builtin/workflows/*.yaml")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w := parse(t, string(data))
		if w.Name != filepath.Base(file[:len(file)-len(".yaml")]) || len(w.Steps) == 0 {
			t.Errorf("%s: %s has %d steps", file, w.Name, len(w.Steps))
		}
	}
}
