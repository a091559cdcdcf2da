package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"buddy/agent/model/modeltest"
)

// TestLibrary builds and runs a program in another module, which uses the runtime as docs/scripts.md describes.
func TestLibrary(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, path := range []string{"testdata/library/main.go", "testdata/library/durable.go", filepath.Join(root, "go.sum")} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command("go", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GONOSUMDB=*")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("mod", "init", "example.com/library")
	run("mod", "edit", "-require=buddy@v0.0.0", "-replace=buddy="+root)
	const want = `RunText: It is sunny in Rome. 2 turns
Run: stopped after 1 turn
RunText: cancelled true 0 turns
RunStream: I look.
RunStream: sunny in Oslo
RunStream: It is sunny in Oslo.
RunStream: completed
RunStep: called weather
RunStep: It is sunny in Rome.
RunStep: compacted to 4 messages
RunStep: called weather
RunStep: compacted to 5 messages
RunStep: It is sunny in Rome.
Durable: It is sunny in Rome. [model tool model]
Durable: It is sunny in Rome. [model tool model]
`
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Chunks{}, modeltest.Text("I look."), modeltest.Call{ID: "1", Name: "weather", Arguments: `{"city":"Oslo"}`}},
		modeltest.Answer{modeltest.Chunks{}, modeltest.Text("It is sunny in Oslo.")},
	))
	if got := run("run", ".", srv.URL); got != want {
		t.Errorf("it printed\n%s", got)
	}
}
