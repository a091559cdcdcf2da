//go:build linux && (amd64 || arm64)

package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"buddy/texts"
)

// pathRule lists the accesses of commands to a file, or to a folder with all below it.
type pathRule struct {
	path   string
	access uint64
	noLink bool // a link at path is not followed
}

// The system: programs and what they need. None of it belongs to the person.
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

// unreadable lists entries of /etc that hold secrets even if everybody may read them.
var unreadable = []string{
	"shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "sudoers.d", "ssh", "wireguard", "NetworkManager", "netplan",
	"openvpn", "ipsec.d", "ipsec.secrets", "letsencrypt", "krb5.keytab", "ppp", "docker", "kubernetes", "rancher", "ssl/private", "pki/tls/private",
}

// tools lists the folders of toolchains: the variable that names one, and its default in the
// home folder.
var tools = []struct{ variable, home string }{
	{"GOROOT", "sdk"},
	{"GOMODCACHE", "go/pkg/mod"},
	{"GOCACHE", ".cache/go-build"},
	{"RUSTUP_HOME", ".rustup"},
	{"PYENV_ROOT", ".pyenv"},
	{"NVM_DIR", ".nvm"},
	{"FNM_DIR", ".local/share/fnm"},
	{"VOLTA_HOME", ".volta"},
	{"BUN_INSTALL", ".bun"},
	{"DENO_INSTALL", ".deno"},
	{"RBENV_ROOT", ".rbenv"},
	{"ASDF_DATA_DIR", ".asdf"},
	{"MISE_DATA_DIR", ".local/share/mise"},
	{"SDKMAN_DIR", ".sdkman"},
	{"JAVA_HOME", ""},
	{"VIRTUAL_ENV", ""},
	{"CONDA_PREFIX", ""},
	{"", ".local/lib"},
	{"", ".local/share/uv"},
	{"", ".local/pipx"},
	{"", ".cargo/registry"},
	{"", ".nix-profile"},
}

// settings lists files and folders of the home that tools read and that hold no secrets.
var settings = []string{
	".config/go", ".config/bat", ".config/ripgrep", ".config/fd", ".ripgreprc",
	".cargo/config", ".cargo/config.toml", ".cargo/env", ".terminfo", ".config/locale.conf",
}

// pathRules returns everything that commands of c may use but for the secrets in its folders, and the folders of which
// entries are listed because others must not be read. git lists files of the person that git reads.
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
	add(ll.AccessFSReadDir, "/etc") // names are no secret
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
	add(toRun, run...)
	add(toRead, read...)
	return all, listed
}

// personal returns the folders of toolchains that the variables name, and the files of the home folder
// that tools read. roots are the folders to work in, to which none of them belongs.
func personal(get func(string) string, roots []string) (run, read []string) {
	home := get("HOME")
	ours := func(dir string) bool { // a tool's folder, which contains neither the home nor the work
		return filepath.IsAbs(dir) && !texts.Below(home, dir) && !slices.ContainsFunc(roots, func(root string) bool { return texts.Below(dir, root) || texts.Below(root, dir) })
	}
	for _, t := range tools {
		dir := get(t.variable)
		if dir == "" && t.home != "" && home != "" {
			dir = filepath.Join(home, t.home)
		}
		if ours(dir) {
			run = append(run, dir)
		}
	}
	if filepath.IsAbs(home) {
		for _, s := range settings {
			read = append(read, filepath.Join(home, s))
		}
	}
	for _, dir := range filepath.SplitList(get("PATH")) {
		if ours(dir) {
			run = append(run, toolchain(dir, home)...)
		}
	}
	return run, read
}

// System returns what commands need besides their workspace, and may read: the system's programs and
// data, toolchains that env names, and settings in the home folder that hold no secrets. secret are the parts of it that do. It has
// neither /proc nor /dev.
func System(env, roots []string) (read, secret []string) {
	run, settings := personal(lookup(env), roots)
	read = slices.Concat(programs, readable, []string{"/etc", "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"}, run, settings)
	read = slices.DeleteFunc(read, func(path string) bool {
		return texts.Below(path, "/dev") || texts.Below(path, "/proc") || slices.Contains(lookedAt, path)
	})
	return read, etcSecrets()
}

// lookedAt lists entries of readable that nothing is built with. In the fence each costs a mount, and in the last
// one a service listens.
var lookedAt = []string{"/boot", "/var/lib/apt", "/var/cache/apt", "/var/cache/man", "/var/lib/systemd/catalog", "/var/log", "/run/utmp", "/run/systemd/resolve"}

// etcSecrets returns the entries of /etc that public leaves out and that exist.
var etcSecrets = sync.OnceValue(func() (all []string) {
	_ = filepath.WalkDir("/etc", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what can't be read needs no hiding
		}
		rel, _ := filepath.Rel("/etc", path)
		secret := slices.Contains(unreadable, rel)
		if info, err := e.Info(); err == nil && e.Type()&fs.ModeSymlink == 0 && path != "/etc" {
			secret = secret || e.IsDir() && info.Mode().Perm()&0o005 != 0o005 || !e.IsDir() && info.Mode().Perm()&0o004 == 0
		}
		if !secret {
			return nil
		}
		if unix.Access(path, unix.R_OK) == nil { // else it is hidden already
			all = append(all, path)
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return all
})

// toolchain returns the paths that programs of a folder of PATH need: the folder, the files
// that links in it lead to, and the neighbours of a bin folder, unless they are the person's
// own.
func toolchain(bin, home string) []string {
	all := []string{bin}
	if real, err := filepath.EvalSymlinks(bin); err == nil {
		bin = real
	}
	if top := filepath.Dir(bin); filepath.Base(bin) == "bin" && !texts.Below(home, top) {
		if rel, err := filepath.Rel(home, top); err != nil || !slices.Contains([]string{".local", ".cargo", "go"}, rel) {
			all = append(all, top)
		}
	}
	if !texts.Below(bin, home) {
		return all
	}
	entries, _ := os.ReadDir(bin) // unreadable programs cannot run either
	for _, e := range entries[:min(len(entries), 500)] {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(bin, e.Name())); err == nil {
			all = append(all, real)
		}
	}
	return all
}

// Repository returns the folders outside of root that git needs for it, as [Config] allows them: none,
// the .git of a folder above it, or the folder of a linked work tree and that of its repository.
func Repository(root, home string) []string {
	return slices.DeleteFunc(repository(root, home), func(dir string) bool { return texts.Below(dir, root) })
}

// repository returns the paths that git needs for a work tree whose history is elsewhere: root
// is a folder in one, or another work tree of a repository. A link to a repository counts only
// if the repository links back, because everybody can write links.
func repository(root, home string) []string {
	for dir := root; ; dir = filepath.Dir(dir) {
		if dir != root && (texts.Below(home, dir) || dir == "/") {
			return nil // the whole home is not a project
		}
		link := filepath.Join(dir, ".git")
		info, err := os.Lstat(link)
		switch {
		case err != nil:
			continue
		case info.IsDir():
			return []string{link}
		case !info.Mode().IsRegular():
			return nil
		}
		admin := pointer(link, "gitdir: ")
		if back := pointer(filepath.Join(admin, "gitdir"), ""); back == "" || back != link {
			return nil
		}
		common := pointer(filepath.Join(admin, "commondir"), "")
		if filepath.Dir(admin) != filepath.Join(common, "worktrees") {
			return nil
		}
		return []string{admin, common}
	}
}

// pointer returns the path that a small file holds after a word, relative to its folder, or
// "".
func pointer(file, word string) string {
	b, err := os.ReadFile(file)
	path, ok := strings.CutPrefix(strings.TrimSuffix(string(b), "\n"), word)
	if err != nil || !ok || path == "" || len(b) > 4096 {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.Clean(path)
}

// etc returns /etc without secrets. Landlock can't exclude anything from an allowed folder, so
// folders that contain secrets are listed entry by entry. What not everybody may read counts
// as secret.
var etc = sync.OnceValue(func() []string {
	all, _ := public("/etc")
	return all
})

// public returns the part of dir that everybody may read, as few paths as possible; whole
// means that it is all of dir.
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
