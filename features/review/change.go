package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"buddy/texts"
	"buddy/texts/secretfile"
	"buddy/tools/fs"
)

// Folder names the folder in which a review works.
type Folder struct {
	Git    Git
	Files  fs.FS
	Dir    string // absolute, on the target
	Target string // its name, "" for this machine
}

// Git runs git with arguments in the folder of the review and returns what it prints, at most one byte more
// than [MaxDiff]. Its error is a [GitError] if git could be asked.
type Git func(ctx context.Context, args ...string) ([]byte, error)

// GitError holds what git said when it failed.
type GitError string

func (e GitError) Error() string { return "git: " + string(e) }

// MaxDiff bounds, in bytes, how much of a diff is read: a byte less than is kept of a command's output.
const MaxDiff = 4<<20 - 1

// Change holds what a review looks at.
type Change struct {
	Target string // where the files are, "" for this machine
	Commit string // with which the files are compared
	Of     string // for people: what it is
	Files  []File
	Diff   string // of the files, in their order; those whose names are of secrets are left out
	Cut    bool   // git said more than is read: Diff lacks its end, or Files lacks files
}

// File is a file that differs.
type File struct {
	Path    string // relative to the folder of the review
	Secret  bool   // its name is one of files with secrets: its text is not shown
	New     bool   // git does not know it: the diff does not have it
	Cut     bool   // what the diff says of it is cut off, or left out
	section string // of the diff
}

// emptyTree is the name of a tree without files, which git knows everywhere.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Find finds out what differs from base. Base "" is what is not committed; when that is nothing, what the
// branch adds to the default branch. The base is the name of a commit and nothing else.
func Find(ctx context.Context, in Folder, base string) (Change, error) {
	git := in.Git
	out, err := git(ctx, "rev-parse", "--is-inside-work-tree")
	_, said := errors.AsType[GitError](err)
	switch {
	case said:
		return Change{}, fmt.Errorf("%s is in no git repository (%w); review in the folder of one", in.Dir, err)
	case err != nil:
		return Change{}, fmt.Errorf("%s can't be reviewed: %w", in.Dir, err)
	case strings.TrimSpace(string(out)) == "false":
		return Change{}, fmt.Errorf("%s can't be reviewed: its git repository says that its files are elsewhere", in.Dir)
	}
	c := Change{Target: in.Target}
	head := commit(ctx, git, "HEAD")
	switch {
	case base != "":
		err = c.from(ctx, git, base, head)
	case head == "":
		c.Commit, c.Of = emptyTree, "all files, because nothing is committed"
	default:
		err = c.choose(ctx, git, head)
	}
	if err != nil {
		return c, err
	}
	if err := c.read(ctx, git); err != nil {
		return c, err
	}
	return c, nil
}

// commit returns the name of the commit that a text means, "" if it means none.
func commit(ctx context.Context, git Git, name string) string {
	out, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// from takes the base that a person named.
func (c *Change) from(ctx context.Context, git Git, base, head string) error {
	named := commit(ctx, git, base)
	if named == "" {
		return fmt.Errorf("%q is no commit, branch or tag here", texts.Clip(base, 200))
	}
	c.Commit = named
	if head != "" {
		out, err := git(ctx, "merge-base", named, head)
		if err != nil {
			return fmt.Errorf("%q and HEAD have no commit in common: %w", texts.Clip(base, 200), err)
		}
		c.Commit = strings.TrimSpace(string(out))
	}
	c.Of = fmt.Sprintf("what HEAD and the files here add to %s (from %s)", texts.Clip(base, 80), short(c.Commit))
	return nil
}

// choose takes what is not committed, else what the branch adds.
func (c *Change) choose(ctx context.Context, git Git, head string) error {
	status, err := git(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty")
	if err != nil {
		return fmt.Errorf("what is not committed is not known: %w", err)
	}
	if len(status) > 0 {
		c.Commit, c.Of = head, "what is not committed"
		return nil
	}
	for _, name := range defaultBranches(ctx, git) {
		named := commit(ctx, git, name)
		if named == "" {
			continue
		}
		out, err := git(ctx, "merge-base", named, head)
		if from := strings.TrimSpace(string(out)); err == nil && from != head {
			c.Commit, c.Of = from, fmt.Sprintf("what this branch adds to %s (from %s)", shortRef(name), short(from))
			return nil
		}
	}
	return errors.New("there is nothing to review: all is committed, and this branch adds nothing to the default branch; name a BASE, such as HEAD~1")
}

// defaultBranches returns the branches that may be the default one, the likeliest first.
func defaultBranches(ctx context.Context, git Git) []string {
	var all []string
	if out, err := git(ctx, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"); err == nil {
		all = append(all, strings.TrimSpace(string(out)))
	}
	return append(all, "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master")
}

func shortRef(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "refs/remotes/"), "refs/heads/")
}

func short(commit string) string { return commit[:min(len(commit), 8)] }

// read reads which files differ, and how. Of a submodule only its commit counts: its files would be read with the
// filters and drivers that its own settings name.
func (c *Change) read(ctx context.Context, git Git) error {
	quiet := []string{"--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--relative", "--submodule=short", "--ignore-submodules=dirty"}
	names, err := git(ctx, append(append([]string{"diff", "--name-only", "-z"}, quiet...), c.Commit, "--")...)
	if err != nil {
		return fmt.Errorf("the files that differ are not known: %w", err)
	}
	all := splitNames(c.whole(names))
	patch, err := git(ctx, append(append([]string{"diff", "--src-prefix=a/", "--dst-prefix=b/"}, quiet...), append([]string{c.Commit, "--", "."}, withoutSecrets(all)...)...)...)
	if err != nil {
		return fmt.Errorf("the diff can't be read: %w", err)
	}
	others, err := git(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return fmt.Errorf("the new files are not known: %w", err)
	}
	c.take(all, c.whole(patch), len(patch) > MaxDiff)
	for _, name := range splitNames(c.whole(others)) {
		f := newFile(name)
		f.New = true
		c.Files = append(c.Files, f)
	}
	return nil
}

// whole returns at most [MaxDiff] bytes of what git printed, and notes whether that is all.
func (c *Change) whole(out []byte) []byte {
	c.Cut = c.Cut || len(out) > MaxDiff
	return out[:min(len(out), MaxDiff)]
}

// withoutSecrets returns the arguments that keep git from files whose names are of secrets: the sandbox does not
// let it read them, and it would say nothing of the others.
func withoutSecrets(names []string) []string {
	var all []string
	for _, name := range names {
		if newFile(name).Secret {
			all = append(all, ":(exclude,literal)"+name)
		}
	}
	return all
}

// take takes the files that git knows with their diff, which lacks those with secrets. What is cut lacks its end.
func (c *Change) take(names []string, patch []byte, cut bool) {
	sections := sectionsOf(strings.ToValidUTF8(string(patch), "\uFFFD"))
	var diff strings.Builder
	i := 0
	for _, name := range names {
		f := newFile(name)
		if !f.Secret {
			if i < len(sections) {
				f.section = sections[i]
			}
			i++
		}
		f.Cut = cut && i >= len(sections)
		c.Files = append(c.Files, f)
		diff.WriteString(f.section)
	}
	c.Diff = diff.String()
}

func newFile(name string) File {
	part, _ := secretfile.Find(name)
	return File{Path: name, Secret: part != ""}
}

// splitNames splits names that end with a NUL each; one that was cut off is left out.
func splitNames(out []byte) []string {
	var all []string
	for _, name := range bytes.SplitAfter(out, []byte{0}) {
		if n := len(name); n > 1 && name[n-1] == 0 {
			all = append(all, path.Clean(strings.ToValidUTF8(string(name[:n-1]), "\uFFFD")))
		}
	}
	return all
}

// sectionsOf splits a diff into its files. Lines of a file have a sign before them, so nothing in one looks
// like the head of another.
func sectionsOf(diff string) []string {
	var all []string
	from, at := 0, 0
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "diff --git ") && at > from {
			all, from = append(all, diff[from:at]), at
		}
		at += len(line)
	}
	if at > from {
		all = append(all, diff[from:])
	}
	return all
}
