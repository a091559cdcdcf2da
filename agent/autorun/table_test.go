package autorun

import (
	"strings"
	"testing"
)

// Every pattern is in lower case, valid, has a reason and matches the path that it was written for.
func TestPatternsMatch(t *testing.T) {
	for _, p := range patterns() {
		name := "/w/" + strings.ReplaceAll(strings.Join(p.elements, "/"), "*", "x")
		if why := Reason(name); why == "" || p.by == "" || p.what == "" || strings.ToLower(name) != name || strings.ContainsAny(name, `[]?\`) {
			t.Errorf("%s: %q", name, why)
		}
		if p.folder && Reason(name+"/sub/file.txt") == "" {
			t.Errorf("%s: what is below it is free", name)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		Reason("/home/ann/projects/shop/internal/very/deep/folder/of/code/main_test.go")
	}
}
