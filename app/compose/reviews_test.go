package compose

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/review"
)

// TestGitOfAReviewRunsNoProgramOfTheRepository: filters, diff drivers and watchers that the repository's
// settings name do not run, though plain git runs one.
func TestGitOfAReviewRunsNoProgramOfTheRepository(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	plain := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain("init", "-q", "-b", "main")
	put("a.txt", "one\n")
	plain("add", "a.txt")
	plain("commit", "-q", "-m", "one")
	run := "sh -c 'touch " + mark + "; cat'"
	plain("config", "filter.evil=x.clean", run)
	plain("config", "filter.evil=x.required", "true")
	plain("config", "diff.evil.command", "touch "+mark)
	plain("config", "diff.evil.textconv", "touch "+mark+"; cat")
	plain("config", "core.fsmonitor", "touch "+mark+"; false")
	plain("config", "diff.external", "touch "+mark)
	put(".git/info/attributes", "*.txt filter=evil=x diff=evil\n")
	put("a.txt", "one\ntwo\n")
	c, err := review.Find(t.Context(), gitIn(dir), "")
	if err != nil || !strings.Contains(c.Diff, "+two") {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
	control := exec.Command("git", "diff", "HEAD")
	control.Dir = dir
	_ = control.Run() // what it ran may be all that it does
	if _, err := os.Stat(mark); err != nil {
		t.Error("positive control: plain git ran none either")
	}
}

// TestPlaceOfAFinding: names are those of files in the folder, or what is wrong with them is said.
func TestPlaceOfAFinding(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out.txt")); err != nil {
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
		{"../a.txt", 1, "../a.txt", "the file is outside of this folder"},
		{"/etc/passwd", 1, "/etc/passwd", "the file is outside of this folder"},
		{"out.txt", 1, "out.txt", "there is no such file"},
		{"none.txt", 1, "none.txt", "there is no such file"},
		{"", 0, "", ""},
	} {
		got := placeIn(dir, event.Finding{File: c.file, Line: c.line})
		if got.File != c.want || got.Note != c.note {
			t.Errorf("%s:%d is %q (%q), want %q (%q)", c.file, c.line, got.File, got.Note, c.want, c.note)
		}
	}
}
