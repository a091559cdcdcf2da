package file

import (
	"fmt"
	"strings"
	"testing"
)

func TestGrepModes(t *testing.T) {
	b := newBench(t)
	b.put("a.go", "x\nx\ny\n", "b.go", "y\n", "c.go", "x\n")
	for mode, want := range map[string]string{"lines": "a.go:1:x\na.go:2:x\nc.go:1:x\n", "files": "a.go\nc.go\n", "count": "a.go:2\nc.go:1\n"} {
		if got := b.OK("grep", args{"pattern": "x", "mode": mode}); got.Text != want {
			t.Errorf("%s: %q, want %q", mode, got.Text, want)
		}
	}
	b.Fails("grep", args{"pattern": "x", "mode": "paths"}, "expected one of lines, files, count")
	for i := range fileLimit + 3 {
		b.put(fmt.Sprintf("many/%d.txt", i), "z\n")
	}
	got := b.OK("grep", args{"pattern": "z", "mode": "files"})
	if n := strings.Count(got.Text, "\n"); n != fileLimit || !strings.Contains(got.Note, "there are more") {
		t.Errorf("%d files, note %v", n, got.Note)
	}
}

func TestReadFileListsAFolder(t *testing.T) {
	b := newBench(t)
	b.put("src/a.go", "x\n", "src/deep/b.go", "y\n")
	for depth, want := range map[int]string{1: "a.go 2\ndeep/\n", 2: "a.go 2\ndeep/\ndeep/b.go 2\n"} {
		if got := b.OK("read_file", args{"path": "src", "depth": depth}); got.Text != want {
			t.Errorf("depth %d: %v", depth, got)
		}
	}
}
