package acp

import (
	"reflect"
	"testing"

	"buddy/agent/action"
)

// Each hunk of a change is a diff of its own, with the file that it belongs to.
func TestDiffs(t *testing.T) {
	type hunk struct{ path, old, now string }
	for name, tt := range map[string]struct {
		act  action.Action
		want []hunk
	}{
		"two hunks": {
			action.Action{Kind: action.FileWrite, Path: "/w/a.txt", Preview: "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n@@ -9,1 +9,2 @@\n last\n+--- more\n"},
			[]hunk{{"/w/a.txt", "old\nsame\n", "new\nsame\n"}, {"/w/a.txt", "last\n", "last\n--- more\n"}},
		},
		"a new file": {
			action.Action{Kind: action.FileWrite, Path: "b.txt", Preview: "--- /dev/null\n+++ b.txt\n@@ -0,0 +1 @@\n+hi\n"},
			[]hunk{{"/w/b.txt", "none", "hi\n"}},
		},
		"two files": {
			action.Action{Kind: action.FileWrite, Paths: []string{"/w/a.txt", "/w/sub/b.txt"}, Preview: "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-x\n+y\n--- sub/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"},
			[]hunk{{"/w/a.txt", "x\n", "y\n"}, {"/w/sub/b.txt", "gone\n", ""}},
		},
		"a command": {action.Action{Kind: action.Shell, Preview: "@@ -1 +1 @@\n-x\n+y\n"}, nil},
	} {
		var got []hunk
		for _, c := range diffs(tt.act, "/w") {
			h := hunk{c.Path, "none", *c.NewText}
			if c.OldText != nil {
				h.old = *c.OldText
			}
			got = append(got, h)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
