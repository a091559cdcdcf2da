package rules

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// resultFormat matches code that depends on the format of a result's text: parts of the format, and code that parses
// it.
var resultFormat = regexp.MustCompile(`harness_timestamp|"Tool error: |\[stderr\]|\[exit code|continue with offset|Unmarshal\(\[\]byte\([\w.]+\.(Result|Content)\)|NewDecoder\(strings\.NewReader\([\w.]+\.(Result|Content)\)`)

// Screens, programs and the journal use the fields of a result's event. Only the tools, the reader of old sessions, and
// the code that writes results for models without tools may depend on the format of the text for the model.
func TestOnlyToolsKnowTheFormOfResults(t *testing.T) {
	inTools := 0
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "agent/event/old_results.go" {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if found := resultFormat.Find(text); found != nil {
			switch {
			case strings.HasPrefix(path, "tools/"):
				inTools++
			case path != "agent/model/blocks/render.go":
				t.Errorf("%s knows the form of results: %s", path, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if inTools == 0 {
		t.Error("nothing knows the form of results, so nothing would be found")
	}
}
