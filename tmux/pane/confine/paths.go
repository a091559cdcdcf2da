package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"buddy/texts"
)

// unreadable lists entries of /etc that hold secrets even if every user may read them.
var unreadable = []string{
	"shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "sudoers.d", "ssh", "wireguard", "NetworkManager", "netplan",
	"openvpn", "ipsec.d", "ipsec.secrets", "letsencrypt", "krb5.keytab", "ppp", "docker", "kubernetes", "rancher", "ssl/private", "pki/tls/private",
}

// tools lists the folders of toolchains. variable is the environment variable that names the folder; home is the
// folder's default, relative to the home folder.
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

// settings lists files and folders in the home folder that tools read and that hold no secrets.
var settings = []string{
	".config/go", ".config/bat", ".config/ripgrep", ".config/fd", ".ripgreprc",
	".cargo/config", ".cargo/config.toml", ".cargo/env", ".terminfo", ".config/locale.conf",
}

// personal returns the folders of toolchains, which variables may name, and the files in the home folder that tools
// read. It excludes the workspace folders, roots.
func personal(get func(string) string, roots []string) (run, read []string) {
	home := get("HOME")
	ours := func(dir string) bool { // a tool's folder, which contains neither the home nor the workspace
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

// toolchain returns the paths that programs of a PATH folder need: the folder, the targets of its links, and the
// neighbours of a bin folder, unless they are the user's own.
func toolchain(bin, home string) []string {
	all := []string{bin}
	bin = texts.RealPath(bin)
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

// Repository returns the folders outside of root that git needs for root, in the form for [Config]: none, the .git of a
// folder above root, or the folders of a linked work tree and of its repository.
func Repository(root, home string) []string {
	return slices.DeleteFunc(repository(root, home), func(dir string) bool { return texts.Below(dir, root) })
}

// repository returns the paths that git needs for a work tree whose history is outside of root: root is a folder inside
// a work tree, or a linked work tree. A link to a repository counts only if the repository links back, because anybody
// can write links.
func repository(root, home string) []string {
	for dir := root; ; dir = filepath.Dir(dir) {
		if dir != root && (texts.Below(home, dir) || dir == "/") {
			return nil // the home folder is not a project
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

// pointer returns the path that follows a word in a small file, relative to the file's folder, or "".
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
