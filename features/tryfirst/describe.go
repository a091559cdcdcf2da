package tryfirst

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/texts/secretfile"
	"buddy/tmux/pane/try"
	"buddy/tools/file"
)

// Limits of what a person sees of a command that was tried. The counts include everything.
const (
	maxDiffs  = 64 << 10  // bytes of diffs
	maxFiles  = 1000      // listed changes
	maxText   = 256 << 10 // bytes of a file that is compared
	maxOutput = 40        // lines
)

// describe describes a result for the person.
func describe(r *try.Result) action.Tried {
	t := action.Tried{Code: r.Code, TookMS: r.Took.Milliseconds(), Names: r.Names, Doubts: doubts(r), Stopped: r.Stopped, Output: end(r.Output)}
	size, git := 0, 0
	for _, c := range r.Changes {
		switch {
		case c.Kind == try.Touched:
			continue
		case gitsOwn(c.Path):
			git++
			continue
		}
		if !c.OldMode.IsDir() && !c.NewMode.IsDir() {
			t.Count++
		}
		if len(t.Files) == maxFiles {
			t.More++
			continue
		}
		facts, diff, _ := strings.Cut(preview(c), "\n")
		added, deleted := lines(diff)
		t.Added, t.Deleted = t.Added+added, t.Deleted+deleted
		if size += len(diff); size > maxDiffs {
			diff = ""
		}
		t.Files = append(t.Files, action.TriedFile{Path: strings.ToValidUTF8(c.Path, "?"), Preview: facts + "\n" + diff})
	}
	if t.More > 0 {
		t.Doubts = append(t.Doubts, fmt.Sprintf("%d changed paths are not listed", t.More))
	}
	if git > 0 {
		t.Count += git
		t.Files = append(t.Files, action.TriedFile{Path: ".git", Preview: texts.Plural(git, "file") + " that git has written for itself\n"})
	}
	return t
}

// doubts returns why a real run, or keeping the changes of the trial, may have effects that the trial did not show.
func doubts(r *try.Result) []string {
	all := r.Doubts()
	if r.Stopped != "" {
		all = all[1:] // the reason of the stop is shown elsewhere
	}
	for i, l := range r.Losses {
		if i == 3 {
			return append(all, fmt.Sprintf("%d more paths differ from a real run", len(r.Losses)-i))
		}
		all = append(all, l.Path+": "+l.Why)
	}
	return all
}

// gitsOwn reports whether git itself writes a path. Its settings and the programs that it executes do not count.
func gitsOwn(path string) bool {
	rest, ok := strings.CutPrefix(path, ".git/")
	return path == ".git" || ok && !strings.HasPrefix(rest, "hooks") && !strings.HasPrefix(rest, "config") && !strings.HasPrefix(rest, "info") && !strings.HasPrefix(rest, "modules")
}

// preview returns a line about a change, and the diff of a text that does not seem to hold secrets.
func preview(c try.Change) string {
	regular := func(path string, mode fs.FileMode) bool { return path == "" || mode.IsRegular() }
	part, _ := secretfile.Find(c.Path)
	switch {
	case c.Kind == try.ModeChanged:
		return fmt.Sprintf("%v → %v\n", c.OldMode, c.NewMode)
	case !regular(c.Old, c.OldMode) || !regular(c.New, c.NewMode):
		return word(c.Old, c.OldMode) + " → " + word(c.New, c.NewMode) + "\n"
	case c.Old == "" && c.NewSize == 0:
		return "new and empty\n"
	case part != "":
		return fmt.Sprintf("%s, may hold secrets: %d → %d bytes\n", c.Kind, c.OldSize, c.NewSize)
	}
	mode := ""
	if c.Old != "" && c.New != "" && c.OldMode != c.NewMode {
		mode = fmt.Sprintf("%v → %v, ", c.OldMode, c.NewMode)
	}
	return mode + file.Difference(c.Path, content(c.Old, c.OldSize), content(c.New, c.NewSize))
}

// word names the kind of a file.
func word(path string, mode fs.FileMode) string {
	switch {
	case path == "":
		return "nothing"
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		to, _ := os.Readlink(path) // "" if it is gone
		return "a link to " + to
	}
	return "a special file"
}

// content reads a file for a comparison.
func content(path string, size int64) file.Content {
	c := file.Content{Exists: path != "", Size: size}
	if path == "" || size > maxText {
		return c
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return c
	}
	defer func() { _ = f.Close() }() // only read
	c.Data, _ = io.ReadAll(io.LimitReader(f, maxText))
	c.Size = int64(len(c.Data))
	return c
}

// lines counts the added and deleted lines of a diff.
func lines(diff string) (added, deleted int) {
	for l := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "--- "):
		case strings.HasPrefix(l, "+"):
			added++
		case strings.HasPrefix(l, "-"):
			deleted++
		}
	}
	return added, deleted
}

// end returns the last lines of an output without escape sequences.
func end(output []byte) string {
	all := strings.Split(strings.TrimRight(ansi.Strip(strings.ToValidUTF8(string(output), "?")), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-maxOutput):], "\n")
}
