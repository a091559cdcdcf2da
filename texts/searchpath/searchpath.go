// Package searchpath finds the programs that buddy starts without asking the user, such as git, in PATH. It ignores
// programs in workspace folders: PATH may include such a folder, and a repository can contain a program of any name.
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

// system lists the folders of the system's programs, which only root can write. They stay in a PATH, even for a
// workspace in /usr, and are the fallback when no other folder remains.
const system = "/usr/bin:/bin:/usr/sbin:/sbin"

// Outside returns a PATH without empty and relative entries, which depend on the folder of a command, and without
// entries in the given folders, be it by their names or through links. A folder that contains the home folder excludes
// nothing: programs there belong to the person, and some systems keep all programs there. The system's folders stay.
func Outside(path string, folders ...string) string {
	home, err := os.UserHomeDir()
	if err == nil {
		home = real(home)
	}
	var excluded []string // as named, and with links resolved
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

// Environ returns an environment with the PATH of [Outside].
func Environ(env []string, folders ...string) []string {
	return append(slices.Clone(env), "PATH="+Outside(texts.Lookup(env)("PATH"), folders...)) // of duplicates the last counts
}

// real resolves the links of a folder. It returns a folder that does not exist as it is.
func real(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// avoided holds the folders of Avoid.
var avoided atomic.Pointer[[]string]

// Avoid sets the folders, besides the working directory, in which this process looks for no program.
func Avoid(folders ...string) { avoided.Store(&folders) }

// toAvoid returns all folders in which this process looks for no program.
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

// Look is [exec.LookPath] without the folders to avoid. A name with a slash is a path, which is not searched for.
func Look(name string) (string, error) {
	return LookIn(Outside(os.Getenv("PATH"), toAvoid()...), name)
}

// LookIn is [exec.LookPath] with another PATH than this process's.
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

// Command is [exec.CommandContext] with a program that [Look] finds. The program itself looks for programs in the same
// folders.
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
