package rules

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// resultFormat matches what knows the form of a result's text: parts of that form, and reading of it.
var resultFormat = regexp.MustCompile(`harness_timestamp|"Tool error: |\[stderr\]|\[exit code|continue with offset|Unmarshal\(\[\]byte\([\w.]+\.(Result|Content)\)|NewDecoder\(strings\.NewReader\([\w.]+\.(Result|Content)\)`)

// What the screen, programs and the journal need of a result are fields of its event: only the tools, the reader of
// old sessions, and what words results for models without tools know the form of the text that a model reads.
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
