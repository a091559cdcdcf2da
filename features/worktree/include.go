package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"buddy/texts"
	toolfs "buddy/tools/fs"
)

const (
	includeFile = ".worktreeinclude"

	maxIncluded      = 1000      // files
	maxIncludedBytes = 100 << 20 // of all files
	maxIncludeFile   = 64 << 10  // bytes of the file with the patterns
)

// include copies the ignored files that .worktreeinclude of the main checkout lists. The notes list what was left out.
func (r *repository) include(ctx context.Context, t *Tree) (notes []string, err error) {
	from, err := os.OpenRoot(r.main)
	if err != nil {
		return nil, err
	}
	defer from.Close() //nolint:errcheck // only read
	info, err := from.Lstat(includeFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxIncludeFile:
		return nil, fmt.Errorf("it is larger than %d KB", maxIncludeFile>>10)
	}
	patterns, err := from.ReadFile(includeFile)
	if err != nil {
		return nil, err
	}
	to, err := os.OpenRoot(t.Dir())
	if err != nil {
		return nil, err
	}
	defer to.Close() //nolint:errcheck // each file was closed
	ignored, err := newGit(ctx, r.main, r.git.trusted).list(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, err
	}
	c := copier{from: from, to: to, rules: toolfs.ParseIgnore(string(patterns), "/")}
	for _, entry := range ignored {
		if c.err == nil && ctx.Err() == nil {
			c.visit(strings.TrimSuffix(entry, "/"), false)
		}
	}
	return c.notes(), errors.Join(c.err, ctx.Err())
}

// copier copies files from one folder to another. It follows no link out of either folder.
type copier struct {
	from, to *os.Root
	rules    toolfs.IgnoreRules
	files    int
	bytes    int64
	seen     int
	skipped  []string // too many, or too large
	links    int      // listed entries that are no regular files
	err      error
}

// maxVisited limits the entries that are looked at.
const maxVisited = 200_000

// visit copies a listed file, or the listed files in a folder. above means that a folder around it is listed.
func (c *copier) visit(name string, above bool) {
	if c.seen++; c.seen > maxVisited {
		c.err = fmt.Errorf("the ignored folders have more than %d entries", maxVisited)
	}
	if c.err != nil || !filepath.IsLocal(name) {
		return
	}
	info, err := c.from.Lstat(name)
	if err != nil {
		return // it is gone
	}
	listed := c.listed(name, info.IsDir(), above)
	switch {
	case info.IsDir():
		if exists, err := c.from.Lstat(path.Join(name, ".git")); err == nil && exists != nil {
			return // another repository
		}
		c.within(name, listed)
	case !listed:
	case !info.Mode().IsRegular():
		c.links++
	case c.files >= maxIncluded || c.bytes+info.Size() > maxIncludedBytes:
		c.skipped = append(c.skipped, name)
	default:
		if err := c.copy(name, info); err != nil && c.err == nil {
			c.err = fmt.Errorf("%s: %w", name, err)
		}
	}
}

// listed reports whether the patterns list an entry: itself, or a folder around it.
func (c *copier) listed(name string, isDir, above bool) bool {
	if above {
		return true
	}
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if c.rules.Ignored("/"+at, true) {
			return true
		}
	}
	return c.rules.Ignored("/"+name, isDir)
}

// within visits the entries of a folder.
func (c *copier) within(name string, listed bool) {
	dir, err := c.from.Open(name)
	if err != nil {
		return
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close() // only read
	if err != nil {
		return
	}
	for _, e := range entries {
		c.visit(path.Join(name, e.Name()), listed)
	}
}

// copy copies a regular file, unless the destination has it already.
func (c *copier) copy(name string, was fs.FileInfo) error {
	in, err := c.from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	if now, err := in.Stat(); err != nil || !os.SameFile(was, now) {
		return errors.New("it was replaced while it was copied")
	}
	if err := c.to.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, was.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return nil // the commit has it
	}
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, was.Size()))
	c.files, c.bytes = c.files+1, c.bytes+n
	return errors.Join(err, out.Close())
}

func (c *copier) notes() (all []string) {
	if n := len(c.skipped); n > 0 {
		all = append(all, fmt.Sprintf("buddy did not copy %s of .worktreeinclude, because it copies at most %d files and %d MB: %s", texts.Plural(n, "file"), maxIncluded, maxIncludedBytes>>20, texts.Some(c.skipped)))
	}
	if c.links > 0 {
		all = append(all, fmt.Sprintf("buddy did not copy %s of .worktreeinclude, because it copies only regular files", texts.Plural(c.links, "entry")))
	}
	return all
}
