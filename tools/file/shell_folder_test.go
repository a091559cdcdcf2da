package file

import (
	"os"
	"strings"
	"testing"
)

// inFolder puts the shell of a bench into a folder of the workspace.
func (b *bench) inFolder(rel string) { FollowShell(b.ws, func() string { return b.path(rel) }) }

const addPackage = "*** Begin Patch\n*** Add File: package.json\n+{}\n*** End Patch"

// TestChangesAskWhichOneAfterCd: a relative path that names different files in the first folder and in the shell's
// folder changes neither.
func TestChangesAskWhichOneAfterCd(t *testing.T) {
	b := newBench(t)
	b.put("package.json", "root\n", "packages/foo/package.json", "foo\n", "packages/foo/own.txt", "own\n")
	b.link("packages/foo", "linked")
	for _, name := range []string{"package.json", "packages/foo/package.json"} {
		b.OK("read_file", args{"path": name})
	}
	both := []string{"which one", b.path("package.json"), b.path("packages/foo/package.json"), "absolute path"}
	edit := args{"path": "package.json", "old_string": "o", "new_string": "0", "replace_all": true}
	calls := []struct {
		tool string
		a    args
		want []string
	}{
		{"edit_file", edit, both},
		{"write_file", args{"path": "./package.json", "content": "x"}, both},
		{"apply_patch", args{"patch": "--- a/package.json\n+++ b/package.json\n@@ -1 +1 @@\n-root\n+x\n"}, both},
		{"apply_patch", args{"patch": addPackage}, both},
		{"write_file", args{"path": "own.txt", "content": "x"}, []string{b.path("own.txt") + `", which does not exist`, b.path("packages/foo/own.txt")}},
		{"edit_file", args{"path": "own.txt", "old_string": "o", "new_string": "0"}, []string{"which one", b.path("packages/foo/own.txt")}},
	}
	for _, folder := range []string{"packages/foo", "linked"} {
		b.inFolder(folder)
		for _, c := range calls {
			b.Fails(c.tool, c.a, c.want...)
		}
	}
	if got := b.content("package.json") + b.content("packages/foo/package.json") + b.content("packages/foo/own.txt"); got != "root\nfoo\nown\n" {
		t.Errorf("the files are %q now", got)
	}
	if _, err := os.Stat(b.path("own.txt")); err == nil {
		t.Error("a file was made")
	}
	edit["path"] = b.path("packages/foo/package.json")
	b.OK("edit_file", edit)
	if got := b.content("packages/foo/package.json"); got != "f00\n" {
		t.Errorf("by its absolute path it is %q", got)
	}
	b.inFolder(".")
	edit["path"] = "package.json"
	b.OK("edit_file", edit)
	if got := b.content("package.json"); got != "r00t\n" {
		t.Errorf("with the shell in the first folder it is %q", got)
	}
}

// TestNewFilesSayWhereTheyAreAfterCd: a path that exists in neither folder is created in the first one, and the result
// names it.
func TestNewFilesSayWhereTheyAreAfterCd(t *testing.T) {
	b := newBench(t)
	b.put("packages/foo/x", "")
	for _, tt := range []struct{ folder, note string }{
		{".", ""}, {"packages/foo", "relative paths start in the first folder, not where the shell is"},
	} {
		b.inFolder(tt.folder)
		for tool, a := range map[string]args{
			"write_file":  {"path": "index.ts", "content": "x\n"},
			"apply_patch": {"patch": "*** Begin Patch\n*** Add File: index.ts\n+x\n*** End Patch"},
		} {
			out := b.OK(tool, a)
			if !strings.Contains(out.Note, tt.note) || tt.note != "" && !strings.Contains(out.Note, b.path("index.ts")) || tt.note == "" && out.Note != "" {
				t.Errorf("%s with the shell in %s: note %q", tool, tt.folder, out.Note)
			}
			must(t, os.Remove(b.path("index.ts")))
		}
	}
	b.inFolder("packages/foo")
	if out := b.OK("write_file", args{"path": b.path("abs.ts"), "content": "x\n"}); out.Note != "" {
		t.Errorf("an absolute path: note %q", out.Note)
	}
}
