package confine

import (
	"path/filepath"
	"slices"

	"buddy/tmux/pane/gitfiles"
	"buddy/tmux/pane/seatbelt"
)

// cachesOfMacOS lists folders of tools in a home folder of macOS.
var cachesOfMacOS = []string{"Library/Caches/go-build", "Library/Caches/Homebrew"}

// SystemOfMacOS returns the paths that commands on macOS need besides their workspace and macOS itself: toolchains in
// env, and settings in the home folder without secrets. secret holds the secret parts of the system.
func SystemOfMacOS(env, roots []string) (run, read, secret []string) {
	get := lookup(env)
	run, read = personal(get, roots)
	for _, name := range cachesOfMacOS {
		if home := get("HOME"); filepath.IsAbs(home) {
			read = append(read, filepath.Join(home, name))
		}
	}
	for _, name := range slices.Concat(unreadable, []string{"master.passwd", "security"}) {
		secret = append(secret, filepath.Join("/private/etc", name))
	}
	return run, read, secret
}

// seatbelt returns the rules of macOS for commands of c. git lists the user's files that git reads; secrets holds the
// hidden paths of the workspace folders.
func (c Config) seatbelt(git []string, secrets map[string][]string) seatbelt.Rules {
	run, read, secret := SystemOfMacOS(c.Env, c.Read)
	r := seatbelt.Rules{Run: slices.Concat(run, c.Run), Read: slices.Concat(c.Read, read), Hidden: slices.Concat(secret, c.Hidden), Shown: slices.Concat(c.Given, c.Run, git), Temp: c.Temp, Limited: true}
	for _, root := range c.Read {
		r.Read = append(r.Read, repository(root, lookup(c.Env)("HOME"))...)
		r.Hidden = append(r.Hidden, secrets[root]...)
	}
	return r
}

// gitFiles returns the real paths of the files that the user's git reads. Folders of hooks are not needed, because no
// hook runs.
func (c Config) gitFiles() (all []string) {
	s := gitfiles.Search{Env: c.Env, Work: slices.Concat(c.Read, c.Work), Own: c.Hidden}
	for _, root := range c.Read {
		s.Git = append(s.Git, Repository(root, lookup(c.Env)("HOME"))...)
	}
	for _, path := range s.Find().Read {
		_, real := gitfiles.Links(path)
		all = append(all, real)
	}
	return all
}
