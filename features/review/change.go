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

// Folder is the folder of a review.
type Folder struct {
	Git    Git
	Files  fs.FS
	Dir    string // absolute, on the target
	Target string // name of the target, "" for this machine
}

// Git runs git in the folder of the review and returns its output, at most MaxDiff+1 bytes. The error is a [GitError]
// if git ran and failed.
type Git func(ctx context.Context, args ...string) ([]byte, error)

// GitError is git's error output.
type GitError string

func (e GitError) Error() string { return "git: " + string(e) }

// MaxDiff limits a diff, in bytes. It is one less than the limit of a command's output, so that a cut is detected.
const MaxDiff = 4<<20 - 1

// Change is the change to review.
type Change struct {
	Target string // name of the target, "" for this machine
	Commit string // the base of the comparison
	Of     string // describes the change for people
	Files  []File
	Diff   string // of the files, in their order, without files that may hold secrets
	Cut    bool   // output was cut, so the end of Diff or some Files are missing
}

// File is a changed file.
type File struct {
	Path    string // relative to the folder of the review
	Secret  bool   // its name suggests secrets, so its text is not shown
	New     bool   // untracked, so it is not in the diff
	Cut     bool   // its part of the diff is cut or missing
	section string // its part of the diff
}

// emptyTree is the id of an empty tree, which every git knows.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Find returns the difference from base, which must name a commit. If base is "", it returns the uncommitted changes,
// or else the commits of this branch that the default branch lacks.
func Find(ctx context.Context, in Folder, base string) (Change, error) {
	git := in.Git
	out, err := git(ctx, "rev-parse", "--is-inside-work-tree")
	_, failed := errors.AsType[GitError](err)
	switch {
	case failed:
		return Change{}, fmt.Errorf("%s is not in a git repository (%w); run the review in one", in.Dir, err)
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

// commit returns the id of a commit, or "".
func commit(ctx context.Context, git Git, name string) string {
	out, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// from compares with the base that a person named.
func (c *Change) from(ctx context.Context, git Git, base, head string) error {
	named := commit(ctx, git, base)
	if named == "" {
		return fmt.Errorf("%q is not a commit, branch or tag here", texts.Clip(base, 200))
	}
	c.Commit = named
	if head != "" {
		out, err := git(ctx, "merge-base", named, head)
		if err != nil {
			return fmt.Errorf("%q and HEAD have no commit in common: %w", texts.Clip(base, 200), err)
		}
		c.Commit = strings.TrimSpace(string(out))
	}
	c.Of = fmt.Sprintf("changes since %s (from %s)", texts.Clip(base, 80), short(c.Commit))
	return nil
}

// choose selects the uncommitted changes, or else the commits of the branch.
func (c *Change) choose(ctx context.Context, git Git, head string) error {
	status, err := git(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty")
	if err != nil {
		return fmt.Errorf("the uncommitted changes can't be listed: %w", err)
	}
	if len(status) > 0 {
		c.Commit, c.Of = head, "uncommitted changes"
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
	return errors.New("there is nothing to review: everything is committed, and this branch adds nothing to the default branch; name a BASE, such as HEAD~1")
}

// defaultBranches returns candidates for the default branch, the likeliest first.
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

// read reads the changed files and the diff. It compares only the commit of a submodule, because reading the
// submodule's files would run filters and drivers from its settings.
func (c *Change) read(ctx context.Context, git Git) error {
	quiet := []string{"--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--relative", "--submodule=short", "--ignore-submodules=dirty"}
	names, err := git(ctx, append(append([]string{"diff", "--name-only", "-z"}, quiet...), c.Commit, "--")...)
	if err != nil {
		return fmt.Errorf("the changed files can't be listed: %w", err)
	}
	all := splitNames(c.whole(names))
	patch, err := git(ctx, append(append([]string{"diff", "--src-prefix=a/", "--dst-prefix=b/"}, quiet...), append([]string{c.Commit, "--", "."}, withoutSecrets(all)...)...)...)
	if err != nil {
		return fmt.Errorf("the diff can't be read: %w", err)
	}
	others, err := git(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return fmt.Errorf("the new files can't be listed: %w", err)
	}
	c.add(all, c.whole(patch), len(patch) > MaxDiff)
	for _, name := range splitNames(c.whole(others)) {
		f := newFile(name)
		f.New = true
		c.Files = append(c.Files, f)
	}
	return nil
}

// whole returns at most [MaxDiff] bytes of output, and sets Cut if there are more.
func (c *Change) whole(out []byte) []byte {
	c.Cut = c.Cut || len(out) > MaxDiff
	return out[:min(len(out), MaxDiff)]
}

// withoutSecrets returns git arguments that exclude files that may hold secrets. The sandbox hides these files, and git
// would fail for all files.
func withoutSecrets(names []string) []string {
	var all []string
	for _, name := range names {
		if newFile(name).Secret {
			all = append(all, ":(exclude,literal)"+name)
		}
	}
	return all
}

// add adds the tracked files with their parts of a diff, which lacks files with secrets. cut means that the end of the
// diff is missing.
func (c *Change) add(names []string, patch []byte, cut bool) {
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

// splitNames splits NUL-terminated names and drops an incomplete last one.
func splitNames(out []byte) []string {
	var all []string
	for _, name := range bytes.SplitAfter(out, []byte{0}) {
		if n := len(name); n > 1 && name[n-1] == 0 {
			all = append(all, path.Clean(strings.ToValidUTF8(string(name[:n-1]), "\uFFFD")))
		}
	}
	return all
}

// sectionsOf splits a diff by files. Content lines have a prefix, so none of them looks like a header.
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
