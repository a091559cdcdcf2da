// Package searchpath finds the programs that are started without a question, so that none of them comes from the folders
// that are worked in: a repository can hold a program of any name, and a PATH may lead there.
//
//	searchpath.Avoid("/home/ann/shop")
//	cmd := searchpath.Command(ctx, "git", "status")
package searchpath

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"buddy/texts"
)

// system holds the folders of the system's programs, which only root writes. They stay in a PATH, also where somebody
// works in /usr, and are what is left when nothing else is.
const system = "/usr/bin:/bin:/usr/sbin:/sbin"

// Outside returns a PATH without the entries that depend on the folder in which a command runs, which are empty or
// relative, and without those in one of folders, by their names or behind links. A folder that has the home folder in it
// excludes none: what is there is the person's, and all programs of some systems are. The system's folders stay.
func Outside(path string, folders ...string) string {
	home, err := os.UserHomeDir()
	if err == nil {
		home = real(home)
	}
	var excluded []string // by their names and where they are
	for _, f := range folders {
		if at := real(f); err != nil || !texts.Below(home, at) {
			excluded = append(excluded, f, at)
		}
	}
	in := func(dir string) bool {
		return slices.ContainsFunc(excluded, func(f string) bool { return texts.Below(dir, f) })
	}
	ofSystem := filepath.SplitList(system)
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || !slices.Contains(ofSystem, dir) && (in(dir) || in(real(dir)))
	})
	if len(dirs) == 0 {
		return system
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// Environ returns an environment with its PATH as [Outside] leaves it.
func Environ(env []string, folders ...string) []string {
	return append(slices.Clone(env), "PATH="+Outside(texts.Lookup(env)("PATH"), folders...)) // of two the last counts
}

// real returns a folder with its links resolved, as it is if it does not exist.
func real(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// avoided are the folders of Avoid.
var avoided atomic.Pointer[[]string]

// Avoid sets the folders in which this process looks for no program, beside its working directory.
func Avoid(folders ...string) { avoided.Store(&folders) }

// toAvoid returns the folders in which this process looks for no program.
func toAvoid() []string {
	var folders []string
	if given := avoided.Load(); given != nil {
		folders = slices.Clone(*given)
	}
	if dir, err := os.Getwd(); err == nil {
		folders = append(folders, dir)
	}
	return folders
}

// Look is [exec.LookPath] outside of the folders to avoid. A name with a slash is that file.
func Look(name string) (string, error) {
	return LookIn(Outside(os.Getenv("PATH"), toAvoid()...), name)
}

// LookIn is [exec.LookPath] in another PATH than that of this process.
func LookIn(path, name string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(path) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Command is [exec.CommandContext] with a program that [Look] finds. What that starts by a name is looked for in the
// same folders.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path, err := Look(name)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0] = name
	if cmd.Err = err; err != nil {
		cmd.Path = name
	}
	cmd.Env = Environ(os.Environ(), toAvoid()...)
	return cmd
}
