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
	"strconv"
	"strings"
	"syscall"
	"time"

	"buddy/texts"
)

// State holds what a removal of a worktree would lose.
type State struct {
	Commits int      // that neither its base nor the main checkout's branch has
	Changed []string // files with uncommitted changes
	Ignored []string // ignored entries that buddy did not put there, or that were changed
	Branch  string   // the checked-out branch, if it is not the worktree's own
	Filled  bool     // a submodule is initialised, so git can't remove the worktree
	Running []int    // processes in its folder
}

// clean reports whether a removal loses nothing.
func (s State) clean() bool {
	return s.Commits == 0 && len(s.Changed) == 0 && len(s.Ignored) == 0 && s.Branch == "" && !s.Filled && len(s.Running) == 0
}

// String describes the state in a few words, "" for a clean one.
func (s State) String() string {
	var all []string
	add := func(n int, one string) {
		if n > 0 {
			all = append(all, texts.Plural(n, one))
		}
	}
	add(s.Commits, "commit")
	add(len(s.Changed), "changed file")
	add(len(s.Ignored), "ignored file")
	add(len(s.Running), "running program")
	if s.Branch != "" {
		all = append(all, "on "+s.Branch)
	}
	if s.Filled {
		all = append(all, "a filled submodule, which git can't remove")
	}
	return strings.Join(all, ", ")
}

// state reads the state of a worktree. On an error nothing may be removed.
func (t *Tree) state(ctx context.Context) (s State, err error) {
	changed, ignored, err := t.status(ctx)
	if err != nil {
		return s, err
	}
	s.Changed = changed
	now := t.sums(ignored)
	for name, sum := range now {
		if sum == "" || t.Put[name] != sum {
			s.Ignored = append(s.Ignored, name)
		}
	}
	if on, err := t.git.line(ctx, "symbolic-ref", "--short", "-q", "HEAD"); err != nil || on != t.Branch {
		s.Branch = "another branch"
		if on != "" {
			s.Branch = "the branch " + on
		}
	}
	known := []string{"HEAD", "--not", t.Base}
	if main, err := t.git.in(t.Main).line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err == nil {
		known = append(known, main)
	}
	if t.git.ok(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+t.Branch) {
		known = append([]string{"refs/heads/" + t.Branch}, known...)
	}
	count, err := t.git.line(ctx, append([]string{"rev-list", "--count"}, known...)...)
	if err == nil {
		s.Commits, err = strconv.Atoi(count)
	}
	if modules, _ := os.ReadDir(t.git.path(ctx, "modules")); len(modules) > 0 {
		s.Filled = true
	}
	s.Running = processesIn(t.Dir())
	return s, err
}

// status returns the changed files, and the ignored entries, in which a folder counts as one.
func (t *Tree) status(ctx context.Context) (changed, ignored []string, err error) {
	all, err := t.git.list(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignored=traditional", "--ignore-submodules=all", "--no-renames")
	for _, one := range all {
		if len(one) < 4 {
			continue
		}
		if name := one[3:]; strings.HasPrefix(one, "!!") {
			ignored = append(ignored, name)
		} else {
			changed = append(changed, name)
		}
	}
	return changed, ignored, err
}

// ignored returns the ignored entries of the worktree with their checksums.
func (t *Tree) ignored(ctx context.Context) (map[string]string, error) {
	_, names, err := t.status(ctx)
	return t.sums(names), err
}

func (t *Tree) sums(names []string) map[string]string {
	all := make(map[string]string, len(names))
	left := maxVisited
	for _, name := range names {
		all[name] = sumOf(filepath.Join(t.Dir(), name), &left)
	}
	return all
}

// sumOf returns a checksum of the names, sizes, modes and times of all files at a path, "" if there are too many.
func sumOf(path string, left *int) string {
	h := sha256.New()
	err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if *left--; *left < 0 {
			return errors.New("too many")
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size, when := info.Size(), info.ModTime().UnixNano()
		if e.IsDir() {
			size, when = 0, 0 // its entries count
		}
		_, _ = fmt.Fprintf(h, "%q %d %d %v\n", at[len(path):], size, when, info.Mode())
		return nil
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// processesIn returns the processes of this user that work in a folder. Only Linux shows them. Processes of this
// program do not count, because a session's screen is in the folder, too. Neither does the server of tmux, which stays
// where it was started.
func processesIn(dir string) (all []int) {
	own, _ := os.Readlink("/proc/self/exe")
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		of := filepath.Dir(link)
		at, err := os.Readlink(link)
		if err != nil || !texts.Below(at, dir) {
			continue
		}
		if exe, _ := os.Readlink(filepath.Join(of, "exe")); exe == own || filepath.Base(exe) == "tmux" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(of))
		all = append(all, pid)
	}
	return all
}

// calm waits at most a second until no process works in a folder any more, and returns the processes that still do.
func calm(ctx context.Context, dir string) (left []int) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		if left = processesIn(dir); len(left) == 0 || wait > time.Second || ctx.Err() != nil {
			return left
		}
		time.Sleep(wait)
	}
}

// Leave releases a worktree at the end of a session and removes it if nothing is lost. It returns a line for the person
// about a kept or removed worktree, "" if another session still uses it. mayRemove is false if something of the session
// keeps running.
func (t *Tree) Leave(ctx context.Context, trusted bool, mayRemove bool) string {
	defer t.Release()
	if err := t.hold(syscall.LOCK_EX | syscall.LOCK_NB); err != nil {
		return ""
	}
	if !exists(t.Dir()) {
		return fmt.Sprintf("The folder of the worktree %s is gone. Its branch is %s; buddy --worktree %s makes the folder again.", t.Name, t.Branch, t.Name)
	}
	t.git = newGit(ctx, t.Dir(), trusted)
	_ = calm(ctx, t.Dir())
	s, err := t.state(ctx)
	switch {
	case err != nil:
		return fmt.Sprintf("The worktree %s is kept: %v. buddy worktrees lists it.", t.Name, err)
	case !s.clean():
		next := "/merge brings it back."
		if s.Commits == 0 {
			next = "buddy --worktree " + t.Name + " opens it again."
		}
		return fmt.Sprintf("The worktree %s is kept: %s. buddy worktrees lists it; %s", t.Name, s, next)
	case !mayRemove:
		return fmt.Sprintf("The worktree %s is kept, because commands of the session are still running. buddy worktrees lists it.", t.Name)
	}
	if err := t.remove(ctx); err != nil {
		return fmt.Sprintf("The worktree %s is kept: %v. buddy worktrees lists it.", t.Name, err)
	}
	return fmt.Sprintf("The worktree %s had no changes and was removed.", t.Name)
}

// remove removes a clean worktree, its branch if that has no commit of its own, and the notes. The caller holds the
// exclusive lock.
func (t *Tree) remove(ctx context.Context) error {
	if at, err := os.Getwd(); err != nil || texts.Below(texts.RealPath(at), texts.RealPath(t.Dir())) {
		if err := os.Chdir(t.Main); err != nil {
			return err
		}
	}
	main := t.git.in(t.Main)
	if _, err := main.run(ctx, "worktree", "remove", "--", t.Dir()); err != nil {
		return err
	}
	if err := t.dropBranch(ctx, main); err != nil {
		return err
	}
	return t.forget()
}

// dropBranch deletes the branch if its commits are in its base or in the main checkout's branch.
func (t *Tree) dropBranch(ctx context.Context, main *git) error {
	ref := "refs/heads/" + t.Branch
	tip, err := main.line(ctx, "rev-parse", "--verify", "-q", ref)
	if err != nil {
		return nil // it is gone
	}
	for _, in := range []string{t.Base, "HEAD"} {
		if main.ok(ctx, "merge-base", "--is-ancestor", tip, in) {
			_, err := main.run(ctx, "update-ref", "-d", ref, tip)
			return err
		}
	}
	return nil
}

// Deliver is Leave for the worktree of a subagent. The line is for the subagent's caller, with the branch, the commits
// and the size of the difference.
func (t *Tree) Deliver(ctx context.Context, trusted, mayRemove bool) string {
	dir, branch := t.Dir(), t.Branch
	g := newGit(ctx, dir, trusted)
	size, _ := g.line(ctx, "diff", "--shortstat", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", t.Base) // "" if unknown
	line := t.Leave(ctx, trusted, mayRemove)
	if !exists(dir) {
		return "[worktree] The subagent changed nothing in its worktree, so the worktree was removed."
	}
	t.git = g
	s, err := t.state(ctx)
	text := s.String()
	if err != nil {
		text = err.Error()
	}
	if size = strings.TrimSpace(size); size != "" {
		text += "; tracked files: " + size
	}
	if text == "" {
		text = line
	}
	return fmt.Sprintf("[worktree] Its work is in %s, on the branch %s: %s.", dir, branch, text)
}
