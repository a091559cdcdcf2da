package workflow_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"buddy/extensions/workflow"
)

var update = flag.Bool("update", false, "write generated documents anew")

// TestReferenceSchema checks that docs/workflow.schema.json is current, and agrees with the parser.
func TestReferenceSchema(t *testing.T) {
	const doc = "../../docs/" + workflow.SchemaFile
	if *update {
		if err := os.WriteFile(doc, workflow.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(doc); err != nil || string(got) != string(workflow.Schema()) {
		t.Errorf("%s is stale: run make generate", doc)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(workflow.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	fits, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text []byte) error {
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		_ = json.Unmarshal(data, &plain) // generated above
		return fits.Validate(plain)
	}
	files, _ := filepath.Glob("../builtin/workflows/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(data); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, wrong := range []string{
		"name: x\ndescription: d\n",
		head + "steps: []\n",
		head + "steps:\n  - {id: a, tool: t, param: {}}\n",
		head + "inputs: {a: {type: text}}\nsteps:\n  - {id: a, tool: t}\n",
		head + "steps:\n  - {id: a, tool: t, on_error: ignore}\n",
		head + "steps:\n  - {id: a, tool: t, gate: {type: sometimes, message: m}}\n",
	} {
		if valid([]byte(wrong)) == nil {
			t.Errorf("the schema takes %q", wrong)
		}
	}
}
