package file

import (
	"strings"
	"testing"

	"buddy/tools"
)

func TestRestore(t *testing.T) { // /undo
	b := newBench(t)
	b.put("edited.txt", "one\n", "removed.txt", "old\n", "bin", "a\x00b", "same.txt", "same\n")
	var kept []tools.Before
	do := func(name string, a args) {
		t.Helper()
		call, err := b.Plan(name, a)
		if err != "" {
			t.Fatal(err)
		}
		call.Keep = func(files []tools.Before) error { kept = append(kept, files...); return nil }
		if _, err := b.Finish(call); err != "" {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"edited.txt", "removed.txt", "same.txt"} {
		b.OK("read_file", args{"path": f})
	}
	do("edit_file", args{"path": "edited.txt", "old_string": "one", "new_string": "two"})
	do("write_file", args{"path": "deep/made.txt", "content": "made\n"})
	do("apply_patch", args{"patch": "--- a/removed.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"})
	do("apply_patch", args{"patch": "diff --git a/same.txt b/moved.txt\nsimilarity index 100%\nrename from same.txt\nrename to moved.txt\n"})
	if len(kept) != 5 {
		t.Fatalf("kept %+v", kept)
	}
	text, files, err := b.ws.Difference(t.Context(), kept, "# ")
	for _, want := range []string{"# edited.txt  +1 -1 lines", "-one\n+two\n", "# deep/made.txt  new file", "# removed.txt  deleted", "# same.txt  deleted", "# moved.txt  new file"} {
		if err != nil || files != 5 || !strings.Contains(text, want) {
			t.Errorf("%d files, %v, without %q:\n%s", files, err, want, text)
		}
	}

	b.put("deep/made.txt", "mine\n")
	changed, err := b.ws.Restore(t.Context(), kept, false)
	if err != nil || len(changed) != 1 || !strings.HasSuffix(changed[0], "deep/made.txt") || b.content("edited.txt") != "two\n" {
		t.Fatalf("changed %v, %v; edited.txt has %q", changed, err, b.content("edited.txt"))
	}
	if changed, err = b.ws.Restore(t.Context(), kept, true); err != nil || len(changed) > 0 {
		t.Fatalf("forced: %v, %v", changed, err)
	}
	for name, want := range map[string]string{"edited.txt": "one\n", "removed.txt": "old\n", "same.txt": "same\n"} {
		if got := b.content(name); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	b.Fails("edit_file", args{"path": "edited.txt", "old_string": "one", "new_string": "two"}, "read") // it has to be read again
	if _, files, err := b.ws.Difference(t.Context(), kept, "# "); err != nil || files != 0 {
		t.Errorf("%d files differ, %v", files, err)
	}
	if changed, err := b.ws.Restore(t.Context(), kept, false); err != nil || len(changed) > 0 { // again
		t.Errorf("a second time: %v, %v", changed, err)
	}
	if _, err := b.ws.Restore(t.Context(), []tools.Before{{Path: kept[0].Path, Existed: true, Lost: true}}, true); err == nil || !strings.Contains(err.Error(), "no longer stored") {
		t.Errorf("a lost one: %v", err)
	}
}

func TestNothingIsWrittenThatCannotBeKept(t *testing.T) { // /undo
	b := newBench(t)
	for name, a := range map[string]args{
		"write_file":  {"path": "new.txt", "content": "x"},
		"apply_patch": {"patch": "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n"},
	} {
		call, err := b.Plan(name, a)
		if err != "" {
			t.Fatal(err)
		}
		call.Keep = func([]tools.Before) error { return errTest }
		if _, err := b.Finish(call); !strings.Contains(err, "nothing was written") || !strings.Contains(err, errTest.Error()) {
			t.Errorf("%s: %q", name, err)
		}
		b.Fails("read_file", args{"path": "new.txt"}, "")
	}
}

type testError string

func (e testError) Error() string { return string(e) }

const errTest = testError("the disk is full")
