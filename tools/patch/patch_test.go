package patch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// apply applies a patch of one file.
func apply(t *testing.T, text, before string) (string, error) {
	t.Helper()
	files, err := Parse(text)
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		t.Fatalf("Parse = %d files", len(files))
	}
	return files[0].Apply(before)
}

const head = "--- a/f\n+++ b/f\n"

func TestApply(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	tests := []struct{ name, patch, before, want string }{
		{"replace", head + "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", "a\nb\nc\n", "a\nx\nc\n"},
		{"two hunks", head + "@@ -1,2 +1,3 @@\n 1\n+1a\n 2\n@@ -9,2 +10,1 @@\n 9\n-10\n", ten, "1\n1a\n2\n3\n4\n5\n6\n7\n8\n9\n"},
		{"insert without context", head + "@@ -2,0 +3,1 @@\n+x\n", "1\n2\n3\n", "1\n2\nx\n3\n"},
		{"insert without context three times", head + "@@ -2,0 +3 @@\n+x\n@@ -4,0 +6 @@\n+y\n@@ -6,0 +9 @@\n+z\n", ten, "1\n2\nx\n3\n4\ny\n5\n6\nz\n7\n8\n9\n10\n"},
		{"insert without context where numbers are off", head + "@@ -4,1 +4,1 @@\n-5\n+x\n@@ -6,0 +7 @@\n+y\n", ten, "1\n2\n3\n4\nx\n6\n7\ny\n8\n9\n10\n"},
		{"numbers are off", head + "@@ -90,3 +90,3 @@\n 4\n-5\n+x\n 6\n", ten, strings.Replace(ten, "5", "x", 1)},
		{"counts are off", head + "@@ -4,30 +4,7 @@\n 4\n-5\n+x\n 6\n", ten, strings.Replace(ten, "5", "x", 1)},
		{"counts are too small", head + "@@ -4,1 +4,1 @@\n 4\n-5\n+x\n 6\n", ten, strings.Replace(ten, "5", "x", 1)},
		{"no numbers", head + "@@\n 4\n-5\n+x\n", ten, strings.Replace(ten, "5", "x", 1)},
		{"dots for numbers", head + "@@ ... @@\n 4\n-5\n+x\n", ten, strings.Replace(ten, "5", "x", 1)},
		{"name for numbers", head + "@@ func b @@\n-x\n+y\n", "func a\nx\nfunc b\nx\n", "func a\nx\nfunc b\ny\n"},
		{"the number chooses", head + "@@ -3,2 +3,2 @@\n a\n-b\n+x\n", "a\nb\na\nb\n", "a\nb\na\nx\n"},
		{"drift chooses", head + "@@ -1,1 +1,3 @@\n-0\n+0\n+new\n+new\n@@ -2,2 +4,2 @@\n a\n-b\n+x\n", "top\n0\na\nb\na\nb\n", "top\n0\nnew\nnew\na\nx\na\nb\n"},
		{"fuzz 1", head + "@@ -1,3 +1,3 @@\n A\n-b\n+x\n c\n", "a\nb\nc\n", "a\nx\nc\n"},
		{"fuzz 2 at both ends", head + "@@ -1,5 +1,5 @@\n A\n B\n-c\n+x\n D\n E\n", "a\nb\nc\nd\ne\n", "a\nb\nx\nd\ne\n"},
		{"blank context without its space", head + "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nb\n", "a\n\nc\n"},
		{"blank lines behind", head + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n\n", "a\nb\n", "a\nc\n"},
		{"text and fences around", "Here it is:\n```diff\n" + head + "@@ -1 +1 @@\n-a\n+b\n```\n", "a\n", "b\n"},
		{"minus minus", head + "@@ -1,2 +1,1 @@\n--- a\n b\n", "-- a\nb\n", "b\n"},
		{"new file", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", "", "a\nb\n"},
		{"new file without end", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n", "", "a\nb"},
		{"deleted file", "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", "a\nb\n", ""},
		{"CRLF file, LF patch", head + "@@ -1,2 +1,3 @@\n a\n-b\n+x\n+y\n", "a\r\nb\r\n", "a\r\nx\r\ny\r\n"},
		{"CRLF file, exact patch", head + "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+x\r\n", "a\r\nb\r\n", "a\r\nx\r\n"},
		{"mixed line ends, each line keeps its own", head + "@@ -1,4 +1,5 @@\n a\n-b\n-c\n+x\n+y\n+z\n d\n", "a\nb\r\nc\nd\n", "a\nx\r\ny\nz\nd\n"},
		{"a line in CRLF becomes two", head + "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n", "a\nb\r\nc\n", "a\nx\r\ny\r\nc\n"},
		{"a last line in CR only", head + "@@ -1,2 +1,2 @@\n a\n-b\n+x\n", "a\nb\r", "a\nx\n"},
		{"CRLF becomes LF", head + "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n", "a\r\nb\r\n", "a\nb\r\n"},
		{"patch in CRLF", strings.ReplaceAll(head+"@@ -1,2 +1,2 @@\n a\n-b\n+x\n", "\n", "\r\n"), "a\nb\n", "a\nx\n"},
		{"end is taken", head + "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb\n", "a\nb"},
		{"end is given", head + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb", "a\nb\n"},
		{"no end stays", head + "@@ -1,2 +1,2 @@\n-a\n+x\n b\n", "a\nb", "x\nb"},
		{"line behind one without end", head + "@@ -2,1 +2,2 @@\n b\n+c\n", "a\nb", "a\nb\nc\n"},
		{"byte order mark", head + "@@ -1 +1 @@\n-a\n+b\n", "\ufeffa\n", "\ufeffb\n"},
		{"bytes that are no text", head + "@@ -1 +1 @@\n-a\n+b\n", "a\n\xff\xfe\n", "b\n\xff\xfe\n"},

		{"section", "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+x\n c\n*** End Patch", "a\nb\nc\n", "a\nx\nc\n"},
		{"section without @@", "*** Begin Patch\n*** Update File: f\n a\n-b\n+x\n*** End Patch\n", "a\nb\nc\n", "a\nx\nc\n"},
		{"section without begin and end", "*** Update File: f\n-b\n+x\n", "a\nb\nc\n", "a\nx\nc\n"},
		{"anchor", "*** Begin Patch\n*** Update File: f\n@@ func b() {\n-  x\n+  y\n*** End Patch", "func a() {\n  x\n}\nfunc b() {\n  x\n}\n", "func a() {\n  x\n}\nfunc b() {\n  y\n}\n"},
		{"anchors in anchors", "*** Begin Patch\n*** Update File: f\n@@ class B\n@@   def g\n-    x\n+    y\n*** End Patch", "class A\n  def g\n    x\nclass B\n  def f\n    x\n  def g\n    x\n", "class A\n  def g\n    x\nclass B\n  def f\n    x\n  def g\n    y\n"},
		{"end of file", "*** Begin Patch\n*** Update File: f\n@@\n x\n+y\n*** End of File\n*** End Patch", "x\nx\nx\n", "x\nx\nx\ny\n"},
		{"append", "*** Begin Patch\n*** Update File: f\n@@\n+y\n*** End Patch", "x\n", "x\ny\n"},
		{"after an anchor", "*** Begin Patch\n*** Update File: f\n@@ import (\n+\t\"os\"\n*** End Patch", "import (\n\t\"fmt\"\n)\n", "import (\n\t\"os\"\n\t\"fmt\"\n)\n"},
		{"add", "*** Begin Patch\n*** Add File: f\n+a\n+\n+b\n*** End Patch", "", "a\n\nb\n"},
		{"add empty", "*** Begin Patch\n*** Add File: f\n*** End Patch", "", ""},
		{"delete", "*** Begin Patch\n*** Delete File: f\n*** End Patch", "a\n", "a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := apply(t, tt.patch, tt.before); err != nil || got != tt.want {
				t.Errorf("apply = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	tests := []struct{ name, patch, before, want string }{
		{"nothing like it", head + "@@ -1 +1 @@\n-x\n+y\n", "a\n", "the hunk at line 3 of the patch does not fit"},
		{"fuzz 3", head + "@@ -1,5 +1,5 @@\n A\n B\n C\n d\n-e\n+x\n", "a\nb\nc\nd\ne\n", "does not fit"},
		{"a removed line is never fuzzy", head + "@@ -1,2 +1,1 @@\n-A\n b\n", "a\nb\n", "does not fit"},
		{"twice", head + "@@ -9 +9 @@\n-a\n+x\n", "a\nb\na\n", "fits at lines 1, 3; add lines of context"},
		{"twice without numbers", "*** Update File: f\n-a\n+x\n", "a\nb\na\n", "fits at lines 1, 3"},
		{"very often", "*** Update File: f\n-a\n+x\n", strings.Repeat("a\n", 99), "9, 10, …"},
		{"wrong order", "*** Update File: f\n@@\n-b\n+x\n@@\n-a\n+y\n", "a\nb\n", "fits at line 1 only, which is above the hunk before it"},
		{"no anchor", "*** Update File: f\n@@ func z\n-a\n+x\n", "a\n", "the line after @@ is not in the file"},
		{"only context left", head + "@@ -1,1 +1,2 @@\n A\n+b\n", "a\n", "does not fit"},
		{"delete leaves lines", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "a\nb\n", "has lines that the patch does not remove"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := apply(t, tt.patch, tt.before); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("apply = %q, %v, want error %q", got, err, tt.want)
			}
		})
	}
	var m *Mismatch
	if _, err := apply(t, head+"@@ -1,2 +0,0 @@\n-a\n-c\n", "a\nb\n"); err == nil || errors.As(err, &m) && m.Want != "a\nc" {
		t.Errorf("mismatch = %+v, %v", m, err)
	}
}

func TestParseFiles(t *testing.T) {
	const patch = `From 0123 Mon Sep 17 00:00:00 2001
Subject: several
---
 a | 2 +-

diff --git a/a b/a
index 1..2 100644
--- a/a	2024-01-01
+++ b/a
@@ -1 +1 @@
-x
+y
diff --git a/old name b/new name
similarity index 100%
rename from old name
rename to new name
diff --git a/m.sh b/n.sh
old mode 100644
new mode 100755
similarity index 90%
rename from m.sh
rename to n.sh
index 1..2
--- a/m.sh
+++ b/n.sh
@@ -1 +1 @@
-x
+y
diff --git a/empty b/empty
new file mode 100755
index 0000000..e69de29
diff --git "a/gr\303\274n" "b/gr\303\274n"
deleted file mode 100644
index 1..0
--- "a/gr\303\274n"
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/run b/run
old mode 100644
new mode 100755
-- 
2.39.5
`
	want := []string{`"a" "a" 0 1`, `"old name" "new name" 0 0`, `"m.sh" "n.sh" 755 1`, `"" "empty" 755 0`, `"grün" "" 0 1`, `"run" "run" 755 0`}
	files, err := Parse(patch)
	if err != nil || len(files) != len(want) {
		t.Fatalf("Parse = %+v, %v", files, err)
	}
	for i, f := range files {
		if got := fmt.Sprintf("%q %q %o %d", f.Old, f.New, f.Mode, len(f.Hunks)); got != want[i] {
			t.Errorf("file %d = %s, want %s", i, got, want[i])
		}
	}
	files, err = Parse("diff --git a/a b/b\nrename from a\nrename to b\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-x\n+y\n")
	if err != nil || len(files) != 2 || files[0].New != "b" || files[0].Hunks != nil || files[1].Old != "c" {
		t.Errorf("Parse = %+v, %v", files, err)
	}
	files, err = Parse("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Add File: c\n+z\n*** Delete File: d\n*** End Patch\n")
	if err != nil || len(files) != 3 || files[0].Old != "a" || files[0].New != "b" || files[1].Old != "" || files[1].New != "c" || files[2].New != "" {
		t.Errorf("Parse = %+v, %v", files, err)
	}
	for _, noPrefix := range []string{"--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "--- a/f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n"} {
		if files, err := Parse(noPrefix); err != nil || files[0].New != "f" {
			t.Errorf("Parse(%q) = %+v, %v", noPrefix, files, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, patch, want string }{
		{"empty", "", "no file header found"},
		{"prose", "change a to b", "no file header found"},
		{"hunk without file", "@@ -1 +1 @@\n-a\n+b\n", `line 1: expected the header of a file, got "@@ -1 +1 @@"`},
		{"lines without hunk", head + "-a\n+b\n", `line 3: expected a hunk that begins with @@, got "-a"`},
		{"lines behind a hunk", head + "@@ -1 +1 @@\n-a\n+b\noops\n", `line 6: expected the header of a file, got "oops"`},
		{"no names", "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n", "both names are /dev/null"},
		{"merge", head + "@@@ -1 -1 +1 @@@\n--a\n", "a diff of a merge"},
		{"binary", "diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 3\n", `"GIT binary patch" is not supported`},
		{"copy", "diff --git a/f b/g\ncopy from f\ncopy to g\n", `"copy from" is not supported`},
		{"link", "diff --git a/f b/f\nnew file mode 120000\n", `only regular files can be made, the mode is "120000"`},
		{"empty hunk", head + "@@ -1 +1 @@\n", "the hunk at line 3 is empty"},
		{"unclear names", "diff --git x y\nindex 1..2\n", "the names of the file are not clear"},
		{"section: no path", "*** Begin Patch\n*** Update File:\n-a\n", "line 2: the path is missing"},
		{"section: no move path", "*** Begin Patch\n*** Update File: a\n*** Move to: \n-a\n", "the path is missing"},
		{"section: no hunk", "*** Begin Patch\n*** Update File: a\n*** End Patch", `no hunk for "a"`},
		{"section: odd line", "*** Begin Patch\n*** Update File: a\n-a\nb\n*** End Patch", `line 4: expected a line that begins with a space, + or -, got "b"`},
		{"section: new file without plus", "*** Begin Patch\n*** Add File: a\nb\n*** End Patch", `each line of a new file begins with +, got "b"`},
		{"section: unknown", "*** Begin Patch\n*** Update File: a\n-b\n+c\n*** Copy File: b\n", `expected "*** Add File:"`},
		{"files", strings.Repeat(head+"@@ -1 +1 @@\n-a\n+b\n", MaxFiles+1), "it changes 101 files, at most 100 are possible"},
		{"hunks", head + strings.Repeat("@@ -1 +1 @@\n-a\n+b\n", MaxHunks+1), "the file has 1001 hunks, at most 1000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if files, err := Parse(tt.patch); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse = %+v, %v, want error %q", files, err, tt.want)
			}
		})
	}
}

// Applying git's diff of two texts to the first gives the second.
func FuzzGitDiff(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is missing")
	}
	f.Add("a\nb\nc\n", "a\nx\nc")
	f.Add("", "a\r\nb\r\n")
	f.Add("a\r\nb", "a\nb\r\n")
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9\n1\n2\n3\n", "1\n2\n3\n4\n1\n2\n3\n")
	f.Add("-- a\n++ b\n\n", "++ b\n-- a\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if before == after || strings.ContainsRune(before+after, 0) || strings.HasPrefix(before+after, byteOrderMark) || strings.HasPrefix(after, byteOrderMark) {
			return
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"a": before, "b": after} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("git", "diff", "--no-index", "--no-color", "--no-ext-diff", "-a", "a", "b")
		cmd.Dir = dir
		out, _ := cmd.Output() // 1 = they differ
		files, err := Parse(strings.Replace(string(out), "+++ b/b", "+++ b/a", 1))
		if err != nil || len(files) != 1 {
			t.Fatalf("Parse(%q) = %v, %v", out, files, err)
		}
		if got, err := files[0].Apply(before); err != nil || got != after {
			t.Errorf("Apply(%q) to %q = %q, %v, want %q", out, before, got, err, after)
		}
	})
}

// Parse and Apply handle any text: they succeed or return an error.
func FuzzParse(f *testing.F) {
	f.Add(head+"@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", "a\nb\nc\n")
	f.Add("*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@ a\n@@ b\n-c\n+d\n*** End of File\n*** Add File: h\n+i\n", "a\nb\nc\n")
	f.Add("diff --git a/f b/f\nold mode 100644\nnew mode 100755\nrename from f\nrename to g\n", "")
	f.Add("@@", "\r")
	f.Fuzz(func(t *testing.T, text, before string) {
		files, err := Parse(text)
		if err != nil {
			return
		}
		for _, file := range files {
			if file.Old == "" && file.New == "" {
				t.Errorf("Parse(%q) has a file without names", text)
			}
			if after, err := file.Apply(before); err != nil && after != "" {
				t.Errorf("Apply = %q, %v", after, err)
			}
		}
	})
}
