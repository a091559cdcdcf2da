package fence

import (
	"path/filepath"
	"slices"

	"buddy/texts"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/gitfiles"
	"buddy/tmux/pane/seatbelt"
)

// seatbelt returns the rules of macOS for commands of c. git is the set of files that the user's git reads. Commands
// may not listen, because unlike on Linux they share the machine's loopback. Git's hooks and configuration in the
// workspace are read-only, because a process that leaves its command's group survives the command, and could change
// them before git next runs outside of the sandbox.
func (c Config) seatbelt(git gitfiles.Files, hidden []string) seatbelt.Rules {
	run, read, secret := confine.SystemOfMacOS(c.Env, c.Work)
	r := seatbelt.Rules{
		Run: slices.Concat(run, git.Hooks), Read: slices.Concat(read, git.Read, git.Worked), Write: slices.Concat(c.Work, c.Write, []string{c.Temp}), Temp: c.Temp,
		Hidden: slices.Concat(secret, hidden, git.Hide), Shown: c.Show, Kept: c.Keep,
		Fixed: slices.Concat(git.Read, git.Worked, git.Hooks), Network: c.Network,
	}
	if c.Cache != "" {
		r.Write = append(r.Write, c.Cache)
	}
	within := func(dir string, names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(dir, name))
		}
		return all
	}
	for _, dir := range c.Work {
		switch dirs := confine.Repository(dir, texts.Lookup(c.Env)("HOME")); len(dirs) {
		case 0:
			r.Fixed = append(r.Fixed, within(dir, ".git/hooks", ".git/config", ".git/config.worktree")...)
		case 1:
			r.Read = append(r.Read, filepath.Dir(dirs[0]))
		case 2:
			admin, common := dirs[0], dirs[1]
			r.Read = append(r.Read, common)
			r.Write = append(append(r.Write, within(common, "objects", "refs", "logs")...), admin)
			r.Fixed = append(r.Fixed, within(admin, "config.worktree", "commondir", "gitdir")...)
		}
	}
	return r
}
