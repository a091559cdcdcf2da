package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/tools/fs"
)

// TestPlaceOfAFinding: names become those of files in the folder, or get a note.
func TestPlaceOfAFinding(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "1\n2\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "large.txt", "")
	if err := os.Truncate(filepath.Join(dir, "large.txt"), fs.MaxText+1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file       string
		line       int
		want, note string
	}{
		{"a.txt", 2, "a.txt", ""},
		{"b/a.txt", 2, "a.txt", ""},
		{filepath.Join(dir, "a.txt"), 1, "a.txt", ""},
		{"a.txt", 3, "a.txt", "the file has 2 lines"},
		{"../a.txt", 1, "../a.txt", "the file is outside this folder"},
		{"/etc/passwd", 1, "/etc/passwd", "the file is outside this folder"},
		{"out.txt", 1, "out.txt", "a link leads to a file outside this folder"},
		{"large.txt", 1, "large.txt", "the file is larger than 10 MB"},
		{"a.txt/x", 1, "a.txt/x", "the file can't be read: not a directory"},
		{"none.txt", 1, "none.txt", "there is no such file"},
		{"", 0, "", ""},
	} {
		got := Place(t.Context(), fs.Local, dir, time.Time{}, event.Finding{File: c.file, Line: c.line})
		if got.File != c.want || got.Note != c.note {
			t.Errorf("%s:%d is %q (%q), want %q (%q)", c.file, c.line, got.File, got.Note, c.want, c.note)
		}
		if known := got.FileSum != ""; known != (c.note == "" && c.line > 0) {
			t.Errorf("%s:%d: the line is known again: %v", c.file, c.line, known)
		}
	}
	got := Place(t.Context(), fs.Local, dir, time.Now().Add(-time.Hour), event.Finding{File: "a.txt", Line: 1})
	if got.Note != "the file changed during the review" || got.FileSum != "" {
		t.Errorf("a file that was written since: %+v", got)
	}
}

// TestLocateOnlyTheLineThatWasMeant: after a review, files change, vanish or become links. A line is returned only if
// it is the one that the reviewer read; otherwise there is a reason.
func TestLocateOnlyTheLineThatWasMeant(t *testing.T) {
	const was = "package a\n\nfunc a() {\n\tbad()\n}\n"
	for _, c := range []struct {
		name, now string // "" for no file
		line      int
		found     int
		why       string
	}{
		{"as it was", was, 4, 4, ""},
		{"no line", "other\n", 0, 0, ""},
		{"changed behind it", was + "\nfunc b() {}\n", 4, 4, ""},
		{"lines came before it", "// a\n// b\n" + was, 4, 6, "line 4 is line 6 now"},
		{"the line changed", strings.Replace(was, "bad", "good", 1), 4, 0, "line 4 can't be found any more"},
		{"the line is there twice", was + was, 4, 0, "line 4 can't be found any more"},
		{"shorter than it was", "package a\n", 4, 0, "line 4 can't be found any more"},
		{"empty", "\n", 4, 0, "line 4 can't be found any more"},
		{"gone", "", 4, 0, "a.go: there is no such file"},
		{"there never was such a line", was, 99, 0, "line 99 of a.go is not certain: the file has 5 lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.go", was)
			f := Place(t.Context(), fs.Local, dir, time.Time{}, event.Finding{File: "a.go", Line: c.line})
			if write(t, dir, "a.go", c.now); c.now == "" {
				if err := os.Remove(filepath.Join(dir, "a.go")); err != nil {
					t.Fatal(err)
				}
			}
			s := Locate(t.Context(), fs.Local, dir, f)
			if s.Line != c.found || !strings.Contains(s.Why, c.why) || c.why == "" && s.Why != "" || (s.Path == "") != (c.now == "") {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestLocateStaysInTheFolder: names and links that lead outside are not opened; a name that looks like an option is a
// file.
func TestLocateStaysInTheFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "in")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "secret", "x\n")
	write(t, inside, "-o", "x\n")
	if err := os.Symlink("../secret", filepath.Join(inside, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret", "/etc/passwd", "link", "in/../../secret", "."} {
		if s := Locate(t.Context(), fs.Local, inside, event.Finding{File: name}); s.Path != "" || s.Why == "" {
			t.Errorf("%s leads to %+v", name, s)
		}
	}
	if data, err := os.ReadFile(filepath.Join(inside, "link")); err != nil || string(data) != "x\n" {
		t.Error("positive control: the link leads nowhere")
	}
	if s := Locate(t.Context(), fs.Local, inside, event.Finding{File: "-o"}); s.Path != filepath.Join(inside, "-o") {
		t.Errorf("-o is %+v, want an absolute path", s)
	}
}
