package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"buddy/texts"
)

// repository is the repository around a folder.
type repository struct {
	git    *git   // in top
	top    string // the folder of the checkout around the given folder
	main   string // the main checkout
	common string // git's own folder, which all worktrees share
	folder string // of buddy's worktrees of this repository
}

// Root returns the folder of all worktrees that buddy makes.
func Root() string { return filepath.Join(xdg.DataHome, "buddy", "worktrees") }

// find returns the repository around a folder.
func find(ctx context.Context, dir string, trusted func(main string) bool) (*repository, error) {
	g := newGit(ctx, dir, false)
	out, err := g.line(ctx, "rev-parse", "--is-bare-repository", "--git-common-dir", "--git-dir")
	switch {
	case err != nil && strings.Contains(err.Error(), "not a git repository"):
		return nil, fmt.Errorf("%s is not in a git repository; --worktree needs one (git init makes one)", dir)
	case err != nil:
		return nil, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) < 3 {
		return nil, fmt.Errorf("%s: git does not say where its repository is", dir)
	}
	common, own := realIn(dir, lines[1]), realIn(dir, lines[2])
	r := &repository{common: common}
	if lines[0] == "true" {
		return nil, fmt.Errorf("%s is a bare repository, which has no files to work on; clone it first", dir)
	}
	if r.top, err = g.line(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return nil, err
	}
	r.main = r.top
	if own != common {
		if r.main, err = mainOf(ctx, g); err != nil {
			return nil, err
		}
	}
	r.git = newGit(ctx, r.top, trusted != nil && trusted(r.main))
	return r, nil
}

// mainOf returns the main checkout of a linked worktree.
func mainOf(ctx context.Context, g *git) (string, error) {
	all, err := g.list(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil || len(all) == 0 {
		return "", fmt.Errorf("the main checkout can't be found: %w", err)
	}
	if len(all) > 1 && all[1] == "bare" {
		return "", errors.New("the repository of this worktree is bare: it has no main checkout to come back to")
	}
	return strings.TrimPrefix(all[0], "worktree "), nil
}

// realIn returns the real path of a path that may be relative to a folder.
func realIn(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return texts.RealPath(path)
}

// head returns the commit that HEAD names and its branch, "" for none.
func (r *repository) head(ctx context.Context) (commit, branch string, err error) {
	branch, _ = r.git.line(ctx, "symbolic-ref", "--short", "-q", "HEAD") // no branch is no error
	commit, err = r.git.line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err == nil {
		return commit, branch, nil
	}
	if any, _ := r.git.line(ctx, "for-each-ref", "--count=1", "refs/heads"); any != "" {
		return "", "", fmt.Errorf("the branch %q of %s has no commit yet; switch to a branch with commits first", branch, r.top)
	}
	return "", "", fmt.Errorf("the repository %s has no commit yet; a worktree starts from a commit, so commit something first", r.top)
}

// records is the folder of buddy's notes about worktrees. No worktree has its name.
const records = ".records"

// pathFile is the file with the main checkout's path.
const pathFile = "path"

// claim finds or makes the folder of the repository's worktrees. The folder is named like the main checkout, with a
// hash if another repository has that name.
func (r *repository) claim() error {
	sum := sha256.Sum256([]byte(r.main))
	base := texts.ClipBytes(filepath.Base(r.main), 80)
	for _, name := range []string{base, base + "-" + hex.EncodeToString(sum[:4])} {
		r.folder = filepath.Join(Root(), name)
		dir := filepath.Join(r.folder, records)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("the folder for worktrees: %w", err)
		}
		path := filepath.Join(dir, pathFile)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = f.WriteString(r.main + "\n")
			return errors.Join(err, f.Close())
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("the folder for worktrees: %w", err)
		}
		if owner := ownerOf(r.folder); owner == r.main || owner == "" || r.moved(owner) {
			return os.WriteFile(path, []byte(r.main+"\n"), 0o600)
		}
	}
	return fmt.Errorf("the folder %s belongs to another repository", r.folder)
}

// known is claim for a repository that may have no worktrees; it makes nothing.
func (r *repository) known() bool {
	all, _ := os.ReadDir(Root())
	for _, e := range all {
		r.folder = filepath.Join(Root(), e.Name())
		if owner := ownerOf(r.folder); owner == r.main || owner != "" && r.moved(owner) {
			return true
		}
	}
	return false
}

// ownerOf returns the main checkout of a folder of worktrees, "" if it is not known.
func ownerOf(folder string) string {
	return strings.TrimSuffix(small(filepath.Join(folder, records, pathFile)), "\n")
}

// moved reports whether the main checkout was at the path from before: nothing is there now, and the repository has a
// worktree in the folder of buddy's worktrees.
func (r *repository) moved(from string) bool {
	if _, err := os.Lstat(from); err == nil {
		return false
	}
	all, _ := filepath.Glob(filepath.Join(escapeGlob(r.common), "worktrees", "*", "gitdir"))
	for _, file := range all {
		if texts.Below(strings.TrimSpace(small(file)), r.folder) {
			return true
		}
	}
	return false
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// small returns the content of a small regular file, else "".
func small(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSmall {
		return ""
	}
	text, _ := os.ReadFile(path) // "" if it is gone
	return string(text)
}

const maxSmall = 4 << 20
