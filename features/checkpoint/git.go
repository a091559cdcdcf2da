package checkpoint

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// gitState holds what HEAD of a repository names. No git process runs, because a hostile repository can make git run
// programs.
type gitState struct {
	dir    string // of git's files
	common string // of the refs that all worktrees share
	ref    string // of the branch; "" if HEAD is a commit
	commit string
}

// gitOf returns the state of the repository around a folder; nil if there is none.
func gitOf(folder string) *gitState {
	for at := folder; ; at = filepath.Dir(at) {
		dir := filepath.Join(at, ".git")
		if info, err := os.Lstat(dir); err == nil {
			if info.Mode().IsRegular() { // a worktree or a submodule
				dir = strings.TrimSpace(strings.TrimPrefix(small(dir), "gitdir: "))
				if !filepath.IsAbs(dir) {
					dir = filepath.Join(at, dir)
				}
			}
			return readGit(dir)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func readGit(dir string) *gitState {
	g := &gitState{dir: dir, common: dir}
	if common := strings.TrimSpace(small(filepath.Join(dir, "commondir"))); common != "" {
		if g.common = common; !filepath.IsAbs(common) {
			g.common = filepath.Join(dir, common)
		}
	}
	head := strings.TrimSpace(small(filepath.Join(dir, "HEAD")))
	ref, isRef := strings.CutPrefix(head, "ref: ")
	if !isRef {
		g.commit = head
		return g
	}
	g.ref = ref
	if strings.Contains(ref, "..") {
		return g
	}
	if g.commit = strings.TrimSpace(small(filepath.Join(g.common, ref))); g.commit == "" {
		for line := range bytes.Lines([]byte(large(filepath.Join(g.common, "packed-refs")))) {
			if commit, name, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && name == ref {
				g.commit = commit
			}
		}
	}
	return g
}

// moved describes how HEAD or its branch has moved since g was read, and how to move it back. It returns "" if neither
// has moved or if g or the present state can't be read.
func (g *gitState) moved() string {
	if g == nil || g.commit == "" {
		return ""
	}
	now := readGit(g.dir)
	if now.commit == "" || now.commit == g.commit && now.ref == g.ref {
		return ""
	}
	if now.ref != g.ref {
		back := "git switch " + branch(g.ref)
		if g.ref == "" {
			back = "git switch --detach " + short(g.commit)
		}
		return fmt.Sprintf("HEAD was at %s and is now at %s; %s moves it back", name(g), name(now), back)
	}
	by := ""
	if lines := strings.Split(strings.TrimSpace(tail(filepath.Join(g.dir, "logs", "HEAD"))), "\n"); len(lines) > 0 {
		_, what, _ := strings.Cut(lines[len(lines)-1], "\t")
		if what, _, _ = strings.Cut(what, ":"); what != "" && len(what) < 40 {
			by = " (" + what + ")"
		}
	}
	return fmt.Sprintf("%s was at %s and is now at %s%s; git reset %s moves it back and leaves your files as they are", cmp.Or(branch(g.ref), "HEAD"), short(g.commit), short(now.commit), by, short(g.commit))
}

func branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func name(g *gitState) string { return cmp.Or(branch(g.ref), short(g.commit)) }

func short(commit string) string { return commit[:min(len(commit), 7)] }

const (
	smallFile = 4 << 10
	largeFile = 4 << 20
)

func small(path string) string { return read(path, smallFile) }
func large(path string) string { return read(path, largeFile) }

// read returns a regular file of at most limit bytes, else "".
func read(path string, limit int64) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return ""
	}
	text, _ := os.ReadFile(path) // "" if it is gone
	return string(text)
}

// tail returns the end of a file.
func tail(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	buf := make([]byte, smallFile)
	n, _ := f.ReadAt(buf, max(0, info.Size()-smallFile)) // io.EOF at the end
	return string(buf[:n])
}
