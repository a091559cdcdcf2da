package fence

import (
	"os"
	"path/filepath"
	"strings"

	"buddy/tmux/pane/confine"
)

// repository adds the paths that git needs for a workspace whose history is elsewhere. A repository that contains the
// workspace is read-only. In the repository of a linked work tree, a commit may write objects, branches and the folder
// of the work tree; configuration, hooks and other work trees stay read-only.
func (p plan) repository(root, home string) {
	dirs := confine.Repository(root, home)
	if len(dirs) == 1 {
		p.add(readable, filepath.Dir(dirs[0]))
	}
	if len(dirs) != 2 {
		return
	}
	admin, common := dirs[0], dirs[1]
	p.add(readable, common)
	for _, name := range []string{"objects", "refs", "logs"} {
		p.add(writable, filepath.Join(common, name))
	}
	own := filepath.Join(admin, "config.worktree")
	if b, err := os.ReadFile(filepath.Join(common, "config")); err != nil || strings.Contains(strings.ToLower(string(b)), "worktreeconfig") && !exists(own) {
		return // a configuration could be added to this folder
	}
	p.add(writable, admin)
	for _, path := range []string{own, filepath.Join(admin, "commondir"), filepath.Join(admin, "gitdir")} {
		if exists(path) {
			p.put(mount{path: path, kind: readable})
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
