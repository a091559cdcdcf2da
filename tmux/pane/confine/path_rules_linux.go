//go:build linux && (amd64 || arm64)

package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"buddy/texts"
)

// pathRule is the access of commands to a file, or to a folder with everything below it.
type pathRule struct {
	path   string
	access uint64
	noLink bool // a link at path is not followed
}

// The system: programs and their data. None of it is the user's.
var (
	programs = []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/snap", "/nix/store", "/nix/var/nix/profiles",
		"/run/current-system", "/gnu/store", "/home/linuxbrew/.linuxbrew",
	}
	readable = []string{
		"/proc", "/sys", "/boot", "/var/lib/dpkg", "/var/lib/apt", "/var/lib/rpm", "/var/lib/pacman", "/var/lib/apk", "/lib/apk",
		"/var/cache/apt", "/var/cache/man", "/var/cache/fontconfig", "/var/lib/systemd/catalog", "/var/log",
		"/run/utmp", "/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf",
		"/dev/zero", "/dev/random", "/dev/urandom",
	}
	writable = []string{"/dev/null", "/dev/full"}
)

// pathRules returns the rules for the commands of c, which exclude the secrets in its folders, and the folders that are
// listed entry by entry. git lists the files of the user that git reads.
func pathRules(c Config, git []string, secrets map[string][]string) (all []pathRule, listed []listing) {
	get := lookup(c.Env)
	home := get("HOME")
	add := func(access uint64, paths ...string) {
		for _, p := range paths {
			all = append(all, pathRule{path: p, access: access})
		}
	}
	add(toRun, programs...)
	add(toRead, readable...)
	add(toRead, etc()...)
	add(ll.AccessFSReadDir, "/etc") // names are not secret
	add(toWrite, writable...)
	add(toFill, c.Temp)
	for _, root := range c.Read {
		rules, folders := visible(root, secrets[root])
		all, listed = append(all, rules...), append(listed, folders...)
		add(toRead, repository(root, home)...)
	}
	for _, path := range slices.Concat(c.Given, git) {
		all = append(all, pathRule{path: path, access: toRead, noLink: true})
	}
	run, read := personal(get, c.Read)
	add(toRun, slices.Concat(run, c.Run)...)
	add(toRead, read...)
	return all, listed
}

// System returns the paths outside of the workspace that commands need and may read: the system's programs and data,
// the toolchains that env names, and settings in the home folder without secrets. secret holds the secret parts of
// these paths. /proc and /dev are not included.
func System(env, roots []string) (read, secret []string) {
	run, settings := personal(lookup(env), roots)
	read = slices.Concat(programs, readable, []string{"/etc", "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"}, run, settings)
	read = slices.DeleteFunc(read, func(path string) bool {
		return texts.Below(path, "/dev") || texts.Below(path, "/proc") || slices.Contains(lookedAt, path)
	})
	return read, etcSecrets()
}

// lookedAt lists entries of readable that no build needs. The workspace sandbox omits them, because each would cost a
// mount; besides, a service listens in the last one.
var lookedAt = []string{"/boot", "/var/lib/apt", "/var/cache/apt", "/var/cache/man", "/var/lib/systemd/catalog", "/var/log", "/run/utmp", "/run/systemd/resolve"}

// etcSecrets returns the existing entries of /etc that public omits.
var etcSecrets = sync.OnceValue(func() (all []string) {
	_ = filepath.WalkDir("/etc", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // unreadable files need no hiding
		}
		rel, _ := filepath.Rel("/etc", path)
		secret := slices.Contains(unreadable, rel)
		if info, err := e.Info(); err == nil && e.Type()&fs.ModeSymlink == 0 && path != "/etc" {
			secret = secret || e.IsDir() && info.Mode().Perm()&0o005 != 0o005 || !e.IsDir() && info.Mode().Perm()&0o004 == 0
		}
		if !secret {
			return nil
		}
		if unix.Access(path, unix.R_OK) == nil { // otherwise it is hidden already
			all = append(all, path)
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return all
})

// etc returns /etc without secrets. Landlock can't exclude anything from an allowed folder, so folders with secrets are
// listed entry by entry. Files that not every user may read count as secrets.
var etc = sync.OnceValue(func() []string {
	all, _ := public("/etc")
	return all
})

// public returns the part of dir that every user may read, in as few paths as possible, and whether that is all of dir.
func public(dir string) (paths []string, whole bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	whole = true
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		rel, _ := filepath.Rel("/etc", path)
		info, err := e.Info()
		if err != nil || slices.Contains(unreadable, rel) {
			whole = false
			continue
		}
		switch mode := info.Mode(); {
		case mode&fs.ModeSymlink != 0: // its target has its own rule
		case mode.IsDir() && mode.Perm()&0o005 == 0o005:
			below, all := public(path)
			paths, whole = append(paths, below...), whole && all
		case mode.IsRegular() && mode.Perm()&0o004 != 0:
			paths = append(paths, path)
		default:
			whole = false
		}
	}
	if whole && dir != "/etc" {
		return []string{dir}, true
	}
	return paths, whole
}
