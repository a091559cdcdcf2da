package workflow_test

import (
	"os"
	"path/filepath"
	"testing"

	"buddy/extensions/workflow"
)

// tools lists the tools in the files of these tests.
var tools = workflow.Tools{
	"run_shell":  {{Name: "command", Type: "string", Required: true}, {Name: "mutation", Type: "boolean"}, {Name: "wait"}},
	"agent":      {{Name: "type", Type: "string", Required: true}, {Name: "prompt", Type: "string", Required: true}, {Name: "title", Type: "string", Required: true}},
	"ask_user":   {{Name: "question", Type: "string", Required: true}, {Name: "choices", Type: "array"}},
	"write_file": {{Name: "path", Type: "string", Required: true}, {Name: "content", Type: "string", Required: true}},
	"read_file":  {{Name: "path", Type: "string", Required: true}, {Name: "limit", Type: "integer"}},
	"send-keys":  {{Name: "pane", Type: "string", Required: true}, {Name: "literal_text", Type: "string"}},
	"fetch_url":  {{Name: "url", Type: "string", Required: true}},
}

// parse parses a valid file.
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

// TestWholeFilesHaveNoMistakes checks the examples of the format.
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
