package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHardNames: names with newlines, quotes and characters special to a shell are listed unambiguously, and readable
// and searchable where an argument can express them.
func TestHardNames(t *testing.T) {
	b := newBench(t)
	names := []string{`it's "quoted" $HOME`, "`id` *?[x]", "-rf", `back\slash`, "ünï 漢", "two  blanks ", "#{x};&|<>"}
	for _, name := range names {
		b.put(name, "needle in "+name+"\n")
	}
	b.put("new\nline", "needle\n")
	list := b.OK("list_dir", args{}).Text
	found := b.OK("grep", args{"pattern": "^needle"}).Text
	for _, name := range names {
		if got := b.OK("read_file", args{"path": "./" + name}); got.Text != "needle in "+name+"\n" {
			t.Errorf("read_file(%q) = %v", name, got)
		}
		if !strings.Contains(found, "needle in "+name) {
			t.Errorf("grep does not find %q:\n%s", name, found)
		}
	}
	for _, text := range []string{found} {
		if strings.Contains(text, "new\nline") {
			t.Errorf("a newline of a name is one of the list (%v):\n%s", list, text)
		}
	}
	b.Fails("read_file", args{"path": "new\nline"}, "control character")
}

// TestLinkLoops: links to themselves or to a parent folder end in an error or are skipped, without delay.
func TestLinkLoops(t *testing.T) {
	b := newBench(t)
	b.put("d/file", "needle\n")
	must(t, os.Symlink("b", b.path("a")))
	must(t, os.Symlink("a", b.path("b")))
	must(t, os.Symlink(".", b.path("d/self")))
	must(t, os.Symlink("..", b.path("d/up")))
	for _, tool := range []string{"read_file", "list_dir"} {
		b.Fails(tool, args{"path": "a"}, "")
	}
	b.Fails("write_file", args{"path": "a", "content": "x"}, "")
	if got := b.OK("grep", args{"pattern": "needle"}).Text; strings.Count(got, "needle") != 1 {
		t.Errorf("grep = %q", got)
	}
	if got := b.OK("read_file", args{"path": filepath.Join("d", strings.Repeat("self/", 10), "file")}); got.Text != "needle\n" {
		t.Errorf("through the loop: %v", got)
	}
	if got := b.OK("glob", args{"pattern": "**/file"}); strings.Count(got.Text, "file") != 1 {
		t.Errorf("glob = %v", got)
	}
}
