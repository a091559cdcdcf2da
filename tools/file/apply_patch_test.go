package file

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"buddy/agent/action"
	"buddy/tools"
)

func (b *bench) know(files ...string) {
	b.T.Helper()
	for _, f := range files {
		b.OK("read_file", args{"path": f})
	}
}

func TestApplyPatchSeveralFiles(t *testing.T) {
	b := newBench(t)
	b.put("a.go", "one\ntwo\n", "gone", "x\n", "old/name", "moved\n", "crlf", "a\r\nb\r\n")
	must(t, os.Chmod(b.path("old/name"), 0o640))
	b.know("a.go", "gone", "old/name", "crlf")
	const text = `diff --git a/a.go b/a.go
old mode 100644
new mode 100755
--- a/a.go
+++ b/a.go
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old/name b/new/dir/name
rename from old/name
rename to new/dir/name
diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+echo
--- a/crlf
+++ b/crlf
@@ -2 +2 @@
-b
+c
`
	call, err := b.Plan("apply_patch", args{"patch": text})
	if err != "" {
		t.Fatal(err)
	}
	act := call.Planned
	wantPaths := []string{b.path("a.go"), b.path("gone"), b.path("old/name"), b.path("new/dir/name"), b.path("run.sh"), b.path("crlf")}
	if act.Kind != action.FileDelete || act.Path != b.path("a.go") || !reflect.DeepEqual(act.Paths, wantPaths) || act.Risk != action.Medium || !act.Mutation {
		t.Errorf("Plan = %+v", act)
	}
	for _, want := range []string{
		"edit a.go: mode 644 → 755, +1 -1 lines, 8 → 6 bytes\n", "delete gone: deletes the file, +0 -1 lines, 2 bytes\n",
		"rename old/name → new/dir/name: renamed from old/name, no change: the file has this content already\n",
		"new run.sh: new file, can be run, new file, +1 -0 lines, 5 bytes\n", "\n-two\n+2\n", "\n-x\n", "\n+echo\n",
	} {
		if !strings.Contains(act.Preview, want) {
			t.Errorf("the preview lacks %q:\n%s", want, act.Preview)
		}
	}
	if b.content("a.go") != "one\ntwo\n" {
		t.Error("the plan wrote something")
	}
	payload, err := b.Finish(call)
	if err != "" || payload.Text != "Patched 5 files:\nedit a.go\ndelete gone\nrename old/name → new/dir/name\nnew run.sh\nedit crlf" {
		t.Errorf("apply_patch = %v, %s", payload, err)
	}
	for path, want := range map[string]string{"a.go": "one\n2\n", "new/dir/name": "moved\n", "run.sh": "echo\n", "crlf": "a\r\nc\r\n"} {
		if got := b.content(path); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]os.FileMode{"a.go": 0o755, "new/dir/name": 0o640, "run.sh": 0o755} {
		if info, err := os.Stat(b.path(path)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %o", path, info, err, want)
		}
	}
	for _, path := range []string{"gone", "old/name"} {
		if _, err := os.Lstat(b.path(path)); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	b.OK("edit_file", args{"path": "new/dir/name", "old_string": "moved", "new_string": "known"}) // a write counts as a read
}

func TestApplyPatchSections(t *testing.T) {
	b := newBench(t)
	b.put("a", "x\ny\n")
	b.know("a")
	b.OK("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n x\n-y\n+z\n*** Add File: c/d\n+new\n*** End Patch"})
	if b.content("b") != "x\nz\n" || b.content("c/d") != "new\n" {
		t.Errorf("b = %q, c/d = %q", b.content("b"), b.content("c/d"))
	}
}

// Nothing is written unless everything fits, and the error names what does not.
func TestApplyPatchAllOrNothing(t *testing.T) {
	const first = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n"
	tests := []struct {
		name, patch string
		want        []string
	}{
		{"a hunk does not fit", first + "--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n two\n-three!\n+3\n", []string{
			"execution failed", `"b": the hunk at line 8 of the patch does not fit: the nearest text differs at line 2, "three"; the patch has "three!" there`,
		}},
		{"a hunk fits twice", first + "--- a/c\n+++ b/c\n@@ -9 +9 @@\n-x\n+y\n", []string{`"c": the hunk at line 8 of the patch fits at lines 1, 3`}},
		{"not read", first + "--- a/unread\n+++ b/unread\n@@ -1 +1 @@\n-x\n+y\n", []string{`"unread" was not read since this session began or was resumed, nothing was written; read it first`}},
		{"delete not read", first + "*** junk", []string{"invalid arguments: patch: line 6: expected the header of a file"}},
		{"missing", first + "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n", []string{`"none" does not exist; write_file creates it`}},
		{"exists", first + "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n", []string{`"b" exists already`}},
		{"rename onto a file", first + "diff --git a/b b/c\nrename from b\nrename to c\n", []string{`"c" exists already`}},
		{"twice", first + first, []string{"invalid arguments: patch: line 6:", "is in the patch twice"}},
		{"a path with control characters", first + "--- /dev/null\n+++ \"b/a\\033[2J\"\n@@ -0,0 +1 @@\n+x\n", []string{"contains a control character"}},
		{"a folder", first + "--- a/dir\n+++ b/dir\n@@ -1 +1 @@\n-x\n+y\n", []string{"is a folder, not a regular file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.put("a", "one\n", "b", "two\nthree\n", "c", "x\n-\nx\n", "unread", "x\n", "dir/x", "")
			b.know("a", "b", "c")
			b.Fails("apply_patch", args{"patch": tt.patch}, tt.want...)
			if b.content("a") != "one\n" {
				t.Errorf("a has %q", b.content("a"))
			}
		})
	}
}

func TestApplyPatchNotWhatWasShown(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\n", "b", "two\n")
	b.know("a", "b")
	text := args{"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-two\n+2\n"}
	call, err := b.Plan("apply_patch", text)
	if err != "" {
		t.Fatal(err)
	}
	b.put("b", "two\nand theirs\n")
	payload, err := b.Finish(call)
	b.WantError("apply_patch", payload, err, "changed since you last read it")
	b.know("b")
	payload, err = b.Finish(call)
	b.WantError("apply_patch", payload, err, "changed after this edit was planned")
	must(t, os.Rename(b.path("b"), b.path("real")))
	b.link("real", "b")
	payload, err = b.Finish(call)
	b.WantError("apply_patch", payload, err)
	if b.content("a") != "one\n" || b.content("real") != "two\nand theirs\n" {
		t.Errorf("a = %q, real = %q", b.content("a"), b.content("real"))
	}
}

// A failed commit undoes the changes that were already made.
func TestApplyPatchTakesBack(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\n", "b", "two\n", "c", "three\n", "d/e", "four\n")
	must(t, os.Chmod(b.path("b"), 0o711))
	b.know("a", "b", "c", "d/e")
	call, err := b.Plan("apply_patch", args{"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n" +
		"--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\ndiff --git a/c b/moved\nrename from c\nrename to moved\n--- a/d/e\n+++ /dev/null\n@@ -1 +0,0 @@\n-four\n"})
	if err != "" {
		t.Fatal(err)
	}
	tool, _ := b.Tools.Lookup("apply_patch")
	changes, changesErr := tool.(*applyPatch).changes(t.Context(), 0, decodePatch(t, call))
	must(t, changesErr)
	changes[4].from = b.path("d") // can't be removed like a file
	if _, commitErr := b.ws.commit(t.Context(), changes); commitErr == nil || !strings.Contains(commitErr.Error(), "nothing was written") {
		t.Errorf("commit = %v", commitErr)
	}
	for path, want := range map[string]string{"a": "one\n", "b": "two\n", "c": "three\n", "d/e": "four\n"} {
		if got := b.content(path); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	if info, err := os.Stat(b.path("b")); err != nil || info.Mode() != 0o711 {
		t.Errorf("b: %v, %v", info, err)
	}
	b.nothingBeside("a", "b", "c", "d")
}

func decodePatch(t *testing.T, call tools.Call) string {
	t.Helper()
	a, err := tools.Decode[patchArgs](call)
	must(t, err)
	return a.Patch
}

// nothingBeside checks that the workspace has these entries and no others.
func (b *bench) nothingBeside(names ...string) {
	b.T.Helper()
	entries, err := filepath.Glob(b.path("*"))
	must(b.T, err)
	hidden, err := filepath.Glob(b.path(".*"))
	must(b.T, err)
	var got []string
	for _, e := range append(entries, hidden...) {
		got = append(got, filepath.Base(e))
	}
	if !reflect.DeepEqual(got, names) {
		b.T.Errorf("the workspace has %v, want %v", got, names)
	}
}

// A full disk in the middle of a patch leaves all files unchanged.
func TestApplyPatchOnFullDisk(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\n")
	b.know("a")
	call, err := b.Plan("apply_patch", args{"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+" + strings.Repeat("x", 1<<20) + "\n"})
	if err != "" {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &limit))
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 19, Max: limit.Max}))
	payload, err := b.Finish(call)
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
	b.WantError("apply_patch", payload, err, "nothing was written", "file too large")
	if b.content("a") != "one\n" {
		t.Errorf("a has %q", b.content("a"))
	}
	b.nothingBeside("a")
}

// Links in the paths of a patch are followed when it is planned, so that the displayed files are the changed ones.
func TestApplyPatchThroughLink(t *testing.T) {
	b := newBench(t)
	outside := b.outside()
	must(t, os.WriteFile(filepath.Join(outside, "x"), []byte("one\n"), 0o600))
	b.link(outside, "dir")
	b.know("dir/x")
	call, err := b.Plan("apply_patch", args{"patch": "--- a/dir/x\n+++ b/dir/x\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b/../up\n@@ -0,0 +1 @@\n+x\n"})
	want := []string{filepath.Join(realOf(t, outside), "x"), filepath.Join(filepath.Dir(b.root), "up")}
	if err != "" || !reflect.DeepEqual(call.Planned.Paths, want) || !strings.Contains(call.Planned.Preview, "edit "+want[0]) || !strings.Contains(call.Planned.Preview, "new "+want[1]) {
		t.Errorf("Plan = %+v, %s, want %v", call.Planned, err, want)
	}
	if links := []string{b.path("dir/x")}; !reflect.DeepEqual(call.Planned.Links, links) {
		t.Errorf("Plan says the links %q, want %q", call.Planned.Links, links)
	}
	b.link("none", "dangling")
	b.Fails("apply_patch", args{"patch": "--- /dev/null\n+++ b/dangling\n@@ -0,0 +1 @@\n+x\n"}, "leads to nothing")
}

func TestApplyPatchRisk(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\n")
	b.know("a")
	call, err := b.Plan("apply_patch", args{"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n"})
	if err != "" || call.Planned.Risk != action.High || call.Planned.Kind != action.FileWrite {
		t.Errorf("Plan = %+v, %s", call.Planned, err)
	}
	call, err = b.Plan("apply_patch", args{"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n"})
	if err != "" || call.Planned.Paths != nil || !strings.HasPrefix(call.Planned.Preview, "+1 -1 lines, 4 → 2 bytes\n--- a\n+++ a\n") {
		t.Errorf("Plan = %+v, %s", call.Planned, err)
	}
}
