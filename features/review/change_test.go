package review

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
)

// repository makes a git repository with a commit on main, and returns its folder and its Git.
func repository(t *testing.T) (string, Git) {
	dir := t.TempDir()
	git := func(ctx context.Context, args ...string) ([]byte, error) {
		c := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		c.Dir = dir
		return c.Output()
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"commit", "-q", "--allow-empty", "-m", "one"}} {
		if _, err := git(t.Context(), args...); err != nil {
			t.Fatal(args, err)
		}
	}
	return dir, git
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFindTakesWhatIsMeant: uncommitted changes, or else the commits of the branch, or an error.
func TestFindTakesWhatIsMeant(t *testing.T) {
	dir, git := repository(t)
	find := func(base, of string) Change {
		t.Helper()
		c, err := Find(t.Context(), Folder{Git: git, Dir: dir}, base)
		if err != nil {
			c.Of = err.Error()
		}
		if !strings.Contains(c.Of, of) {
			t.Errorf("base %q: %q, want %q", base, c.Of, of)
		}
		return c
	}
	find("", "there is nothing to review")
	write(t, dir, "a.txt", "one\n")
	write(t, dir, ".env", "KEY=1\n")
	c := find("", "uncommitted changes")
	if len(c.Files) != 2 || !c.Files[0].Secret || !c.Files[1].New || c.Diff != "" {
		t.Errorf("%+v", c)
	}
	for _, args := range [][]string{{"checkout", "-q", "-b", "work"}, {"add", "-A"}, {"commit", "-q", "-m", "two"}} {
		if _, err := git(t.Context(), args...); err != nil {
			t.Fatal(args, err)
		}
	}
	c = find("", "adds to main")
	if len(c.Files) != 2 || !strings.Contains(c.Diff, "+one") || strings.Contains(c.Diff, "KEY") {
		t.Errorf("the diff of a branch: %q", c.Diff)
	}
	if c = find("HEAD", "changes since HEAD"); len(c.Files) != 0 {
		t.Errorf("nothing differs from HEAD, got %+v", c.Files)
	}
	for _, hostile := range []string{"--output=x", ";touch x", "$(touch x)", "main..work", "-h", "no\x1b[31mcolour"} {
		find(hostile, "is not a commit, branch or tag here")
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a base was run")
	}
}

// TestPromptIsBounded: the prompt has the start of a long diff and names the file with all of it.
func TestPromptIsBounded(t *testing.T) {
	c := Change{Of: "it", Commit: strings.Repeat("a", 40)}
	text := c.Prompt(strings.Repeat("+line\n", 100_000), "/all.diff")
	if len(text) > maxInline+4096 || !strings.Contains(text, "More of it is in /all.diff") {
		t.Errorf("%d bytes", len(text))
	}
	if text = c.Prompt(strings.Repeat("+line\n", 100_000), ""); !strings.Contains(text, "Read the files in the list for the rest") {
		t.Error("without a file it is not said where the rest is")
	}
	if text = c.Prompt("+short\n", "/all.diff"); strings.Contains(text, "/all.diff") {
		t.Error("a short diff needs no file")
	}
}

// TestFindSaysWhatIsCut: the person and the reviewer learn that the end of a long change is missing, and for which
// files; a change of exactly the limit is not reported.
func TestFindSaysWhatIsCut(t *testing.T) {
	section := func(name string, size int) string {
		head := "diff --git a/" + name + " b/" + name + "\n"
		return head + strings.Repeat("+\n", (size-len(head))/2)
	}
	first := section("a", 1000)
	for _, c := range []struct {
		name   string
		second int // bytes of b's section
		cut    bool
		files  string // cut files
	}{
		{"all is read", MaxDiff - len(first), false, ""},
		{"b is cut", MaxDiff - len(first) + 100, true, "b c "},
	} {
		patch := first + section("b", c.second) + section("c", 100)
		if !c.cut {
			patch = first + section("b", c.second-100) + section("c", 100)
		}
		git := func(_ context.Context, args ...string) ([]byte, error) {
			switch {
			case args[0] == "diff" && args[1] == "--name-only":
				return []byte("a\x00b\x00c\x00"), nil
			case args[0] == "diff":
				return []byte(patch[:min(len(patch), MaxDiff+1)]), nil
			case args[0] == "ls-files":
				return nil, nil
			}
			return []byte(strings.Repeat("a", 40)), nil
		}
		got, err := Find(t.Context(), Folder{Git: git}, "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		files := ""
		for _, f := range got.Files {
			if f.Cut {
				files += f.Path + " "
			}
		}
		text := got.Prompt(got.Diff, "")
		reported := strings.Contains(text, "longer than the 4 MB") && strings.Contains(text, "- c (the diff of it is cut off or left out: read it)")
		if got.Cut != c.cut || files != c.files || reported != c.cut || len(got.Diff) > MaxDiff {
			t.Errorf("%s: cut %v, files %q, the reviewer is told: %v, %d bytes", c.name, got.Cut, files, reported, len(got.Diff))
		}
	}
	if !strings.Contains(event.DiffWasCut, fmt.Sprintf("%d MB", (MaxDiff+1)>>20)) {
		t.Errorf("the limit in %q is another one", event.DiffWasCut)
	}
}
