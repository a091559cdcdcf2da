package fence

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"buddy/texts"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/gitfiles"
)

// environ returns the environment of a command; now is the first environment as earlier commands changed it. If git
// would behave differently in the sandbox than outside, a git setting names a file in closed, an unreadable folder, so
// that git's error message includes the reason.
func (c Config) environ(now, withheld []string, temp string, git gitfiles.Files, closed string) []string {
	env := slices.Concat(confine.Clean(c.Env, now, withheld), confine.Unattended, []string{"TERM=dumb", "PYTHONUNBUFFERED=1", "TMPDIR=" + temp}, c.caches())
	if git.Refused != "" {
		env = confine.GitSettings(env, [][2]string{{"include.path", filepath.Join(closed, "git runs only outside the sandbox: "+git.Refused)}})
	}
	return env
}

// private lists the variables that move a tool's cache into the workspace's caches, so that commands outside of the
// sandbox never use a cache that a command inside has written.
var private = []struct{ variable, folder string }{
	{"XDG_CACHE_HOME", "xdg"},
	{"GOCACHE", "go-build"},
	{"npm_config_cache", "npm"},
	{"PIP_CACHE_DIR", "pip"},
	{"PYTHONPYCACHEPREFIX", "pycache"}, // otherwise tests change __pycache__, which later runs outside would execute
}

// downloads lists the variables that name a tool's folder of downloads. Without a network, they still name the user's
// own folders, which are read-only in the sandbox.
var downloads = []struct{ variable, folder string }{
	{"GOMODCACHE", "go-mod"},
	{"CARGO_HOME", "cargo"},
}

// offline makes tools fail at once for files missing in their cache, instead of waiting for the network.
var offline = []string{"GOPROXY=off", "npm_config_offline=true", "CARGO_NET_OFFLINE=true", "PIP_RETRIES=0"}

// asked replaces offline if a command that wants to reach a host makes buddy ask the user. npm and pip then connect,
// but don't look for newer versions of themselves. Go and Cargo stay offline, because they would need separate folders
// of downloads, which lack the user's earlier downloads.
var asked = []string{"GOPROXY=off", "CARGO_NET_OFFLINE=true", "npm_config_update_notifier=false", "PIP_DISABLE_PIP_VERSION_CHECK=1"}

// caches returns the variables for caches and downloads.
func (c Config) caches() []string {
	var env []string
	switch {
	case c.reaches():
	case c.Asks:
		env = append(env, asked...)
	default:
		env = append(env, offline...)
	}
	if c.Cache == "" {
		return env
	}
	all := private
	if c.reaches() {
		all = slices.Concat(private, downloads)
		get := texts.Lookup(c.Env)
		if proxy := c.goProxy(); proxy != "" {
			// The user's cache comes first, so that its modules are not downloaded again.
			env = append(env, "GOPROXY=file://"+filepath.Join(c.modules(), "cache/download")+","+proxy)
		}
		env = append(env, "GOFLAGS="+strings.TrimSpace(get("GOFLAGS")+" -modcacherw"))
	}
	for _, p := range all {
		env = append(env, p.variable+"="+filepath.Join(c.Cache, p.folder))
	}
	return env
}

// reaches reports whether commands reach more than their own loopback.
func (s Settings) reaches() bool { return s.Network || len(s.Hosts) > 0 }

// modules returns the user's folder of Go modules.
func (c Config) modules() string {
	get := texts.Lookup(c.Env)
	path, _, _ := strings.Cut(cmp.Or(get("GOPATH"), filepath.Join(get("HOME"), "go")), string(os.PathListSeparator))
	return cmp.Or(get("GOMODCACHE"), filepath.Join(path, "pkg/mod"))
}

// goProxy returns the user's GOPROXY. Like go itself it reads the environment, then the file of "go env -w", then the
// defaults next to the program; "" if none sets it.
func (c Config) goProxy() string {
	get := texts.Lookup(c.Env)
	if v := get("GOPROXY"); v != "" {
		return v
	}
	files := []string{cmp.Or(get("GOENV"), filepath.Join(cmp.Or(get("XDG_CONFIG_HOME"), filepath.Join(get("HOME"), ".config")), "go/env"))}
	if root := get("GOROOT"); root != "" {
		files = append(files, filepath.Join(root, "go.env"))
	}
	for _, dir := range filepath.SplitList(get("PATH")) {
		if program, err := filepath.EvalSymlinks(filepath.Join(dir, "go")); err == nil {
			files = append(files, filepath.Join(program, "../../go.env"))
			break
		}
	}
	for _, name := range files {
		if !filepath.IsAbs(name) { // GOENV=off
			continue
		}
		text, _ := os.ReadFile(name) // the user's file usually does not exist
		if v := texts.Lookup(strings.Split(string(text), "\n"))("GOPROXY"); v != "" {
			return v
		}
	}
	return ""
}

// npm returns the user's folder of npm packages, "" if there is none.
func (c Config) npm() string {
	get := texts.Lookup(c.Env)
	dir := filepath.Join(cmp.Or(get("npm_config_cache"), filepath.Join(get("HOME"), ".npm")), "_cacache")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// seedMax limits the size of copied npm packages, in bytes.
const seedMax = 200 << 20

// seed copies the user's npm packages to the workspace's caches, once, because npm can't work with a read-only cache.
// If they are too large, or copying fails, the cache starts empty.
func (c Config) seed() {
	from, to := c.npm(), filepath.Join(c.Cache, "npm")
	if from == "" || exists(to) {
		return
	}
	remaining := int64(seedMax)
	_ = filepath.WalkDir(from, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			remaining -= info.Size()
		}
		if remaining < 0 {
			return filepath.SkipAll
		}
		return nil
	})
	if remaining < 0 {
		return
	}
	part, err := os.MkdirTemp(c.Cache, "npm-")
	if err != nil {
		return
	}
	if err := os.CopyFS(filepath.Join(part, "_cacache"), os.DirFS(from)); err != nil || os.Rename(part, to) != nil {
		_ = os.RemoveAll(part)
	}
}
