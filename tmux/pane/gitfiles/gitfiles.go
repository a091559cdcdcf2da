// Package gitfiles finds the files that the system's and the user's git configuration refers to. A sandbox has to
// make these files readable, or git would behave differently inside.
//
//	files := gitfiles.Search{Env: os.Environ(), Work: []string{"/home/ann/shop"}}.Find()
//	// files.Read: /home/ann/.gitconfig, /home/ann/.gitignore_global; files.Hooks: /home/ann/hooks
//
// The configuration of a repository in the workspace makes no file readable: the model may have written it, and must
// not choose the files that its commands can read. The package only reads files.
package gitfiles

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/texts/secretfile"
)

// Search holds the parameters of a search. All paths are absolute.
type Search struct {
	Env  []string // of the first command: HOME, and the variables with configurations
	Work []string // workspace folders
	Git  []string // further folders of the repositories, for conditions of includes
	Own  []string // files and folders that must stay unreadable
}

// Files lists the files that git reads, if they exist. The paths are as written; they may contain links.
type Files struct {
	Read   []string // files: configurations, ignores, attributes, templates of messages
	Worked []string // such files in the workspace
	Hooks  []string // folders of hooks
	Hide   []string // files with secrets in Hooks
	// Refused is the reason why git would behave differently in the sandbox than outside, because a file that it would
	// read must stay unreadable; "" for none.
	Refused string
}

const (
	depthMax = 10      // includes in includes, git's limit
	sizeMax  = 1 << 20 // bytes of a configuration
	hooksMax = 1000    // files in a folder of hooks
)

// Find returns the files that git reads.
func (s Search) Find() Files {
	f := finder{Search: s, home: s.lookup("HOME"), seen: map[string]bool{}}
	for _, dir := range s.Work {
		f.work = append(f.work, dir, realPath(dir))
	}
	f.places = slices.Concat(f.work, s.Git)
	config := cmp.Or(s.lookup("XDG_CONFIG_HOME"), filepath.Join(f.home, ".config"))
	for _, name := range []string{"ignore", "attributes"} { // the defaults without a setting
		f.open(wanted{path: filepath.Join(config, "git", name), by: "git"})
	}
	for _, name := range f.configurations(config) {
		f.configuration(wanted{path: name, by: "git"}, 0)
	}
	for _, w := range f.untrusted {
		if !f.seen[w.path] {
			f.refuse(w, "the configuration that names it is in a workspace folder")
		}
	}
	return f.Files
}

// configurations returns the configuration files that git starts with (git-config(1), "Files").
func (f *finder) configurations(config string) (all []string) {
	switch system := f.lookup("GIT_CONFIG_SYSTEM"); {
	case isTrue(f.lookup("GIT_CONFIG_NOSYSTEM")):
	case system != "":
		all = append(all, system)
	default:
		all = append(all, "/etc/gitconfig", "/usr/local/etc/gitconfig")
	}
	if global := f.lookup("GIT_CONFIG_GLOBAL"); global != "" {
		return append(all, global)
	}
	return append(all, filepath.Join(config, "git/config"), filepath.Join(f.home, ".gitconfig"))
}

func isTrue(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(value))
}

// finder collects Files.
type finder struct {
	Search
	Files
	home      string
	work      []string // workspace folders, also without links
	places    []string // folders that may contain a repository of the session
	seen      map[string]bool
	untrusted []wanted
}

// wanted is a file or folder that git would read.
type wanted struct {
	path   string
	by     string // the setting that names it
	folder bool   // a folder of hooks
	// repository means that the setting is in a configuration file in the workspace.
	repository bool
}

// named lists the settings whose value is a path that git reads, and whether that path is a folder.
var named = map[string]bool{"core.excludesfile": false, "core.attributesfile": false, "commit.template": false, "core.hookspath": true}

// configuration adds a configuration file and the files that it names to the result.
func (f *finder) configuration(w wanted, depth int) {
	if depth > depthMax || !f.open(w) {
		return
	}
	all, err := read(w.path)
	if err != nil {
		return // git reports the error
	}
	w.repository = f.workedIn(realPath(w.path))
	for _, e := range all {
		next := wanted{by: w.path, repository: w.repository}
		if f.includes(e.key, w.path) {
			next.path = f.expand(e.value, filepath.Dir(w.path))
			f.configuration(next, depth+1)
			continue
		}
		folder, ok := named[e.key]
		if next.path, next.folder = f.expand(e.value, ""), folder; ok {
			f.open(next)
		}
	}
}

// includes reports whether the value of a key is a file that a configuration includes.
func (f *finder) includes(key, config string) bool {
	rest, conditional := strings.CutPrefix(key, "includeif.")
	condition, path := strings.CutSuffix(rest, ".path")
	return key == "include.path" || conditional && path && f.mayHold(condition, config)
}

// expand returns the absolute path of a setting's value; "" if the value is no path, or is relative and dir is "".
func (f *finder) expand(value, dir string) string {
	value = strings.TrimPrefix(value, ":(optional)")
	if rest, ok := strings.CutPrefix(value, "~"); ok {
		name, path, _ := strings.Cut(rest, "/")
		home := f.home
		if name != "" {
			account, err := user.Lookup(name)
			if err != nil {
				return ""
			}
			home = account.HomeDir
		}
		value = filepath.Join(home, path)
	}
	switch {
	case filepath.IsAbs(value):
		return filepath.Clean(value)
	case value == "" || dir == "" || strings.HasPrefix(value, "%("):
		return ""
	}
	return filepath.Join(dir, value)
}

// mayHold reports whether the condition of an include might be true for a repository of the session. It evaluates only
// conditions on folders, and only the part of a pattern before its first wildcard.
func (f *finder) mayHold(condition, config string) bool {
	kind, pattern, _ := strings.Cut(condition, ":")
	if kind != "gitdir" && kind != "gitdir/i" {
		return true
	}
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		pattern = filepath.Join(filepath.Dir(realPath(config)), rest)
	} else if strings.HasPrefix(pattern, "~") {
		pattern = f.expand(pattern, "")
	}
	if !filepath.IsAbs(pattern) {
		return true // it matches any folder
	}
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		pattern = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	}
	for _, prefix := range []string{filepath.Clean(pattern), realPath(filepath.Clean(pattern))} {
		for _, place := range f.places {
			if kind == "gitdir/i" {
				prefix, place = strings.ToLower(prefix), strings.ToLower(place)
			}
			if texts.Below(prefix, place) || texts.Below(place, prefix) {
				return true
			}
		}
	}
	return false
}

// open adds a file or folder to the result. It returns false if it was added before, does not exist or must stay
// closed.
func (f *finder) open(w wanted) bool {
	if !filepath.IsAbs(w.path) || f.seen[w.path] {
		return false
	}
	links, real := Links(w.path)
	info, err := os.Stat(real)
	switch {
	case err != nil, info.IsDir() != w.folder, !info.IsDir() && !info.Mode().IsRegular():
		return false
	case w.repository && !f.workedIn(real):
		f.untrusted = append(f.untrusted, w) // another setting may name it, too
		return false
	}
	why := f.closed(links, real)
	if why == "" && w.folder && !f.workedIn(real) {
		why = f.look(w, real)
	}
	if why != "" {
		f.refuse(w, why)
		return false
	}
	f.seen[w.path] = true
	switch {
	case w.folder:
		f.Hooks = append(f.Hooks, w.path)
	case f.workedIn(real):
		f.Worked = append(f.Worked, w.path)
	default:
		f.Read = append(f.Read, w.path)
	}
	return true
}

// closed returns the reason why a file or folder stays closed; "" if it does not. links are the links that lead to it.
func (f *finder) closed(links []Link, real string) string {
	if f.workedIn(real) {
		return ""
	}
	for _, path := range append(linked(links), real) {
		name, _ := strings.CutPrefix(path, f.home+"/") // the names of the user and the machine do not count
		if part, why := secretfile.Find(name); part != "" {
			return fmt.Sprintf("the name %q suggests secrets (%s)", part, why)
		}
	}
	for _, own := range f.Own {
		if texts.Below(real, own) {
			return "it is hidden: it is one of buddy's own files, or hide in [sandbox] lists it"
		}
	}
	if slices.ContainsFunc(linked(links), f.workedIn) {
		return "a link in a workspace folder leads to it"
	}
	return ""
}

// look examines a folder of hooks: the targets of its links, and files that must stay closed. It returns the reason why
// the folder stays closed, "" if it does not.
func (f *finder) look(w wanted, dir string) string {
	if holds := func(place string) bool { return texts.Below(place, dir) }; holds(f.home) || slices.ContainsFunc(f.places, holds) {
		return "it contains more than hooks: the home folder or a workspace folder"
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if n++; n > hooksMax {
			return fmt.Errorf("it contains more than %d files", hooksMax)
		}
		if err != nil || path == dir {
			return nil //nolint:nilerr // unreadable files need no hiding
		}
		name, _ := filepath.Rel(dir, path)
		if part, _ := secretfile.Find(name); part != "" {
			f.Hide = append(f.Hide, path)
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 {
			f.open(wanted{path: path, by: w.by})
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return ""
}

// refuse sets Refused to the reason why a file stays closed, unless it has an earlier reason.
func (f *finder) refuse(w wanted, why string) {
	if f.Refused == "" {
		f.Refused = fmt.Sprintf("%s names %s, which stays closed in the sandbox: %s", w.by, w.path, why)
	}
}

// workedIn reports whether a path is in the workspace.
func (f *finder) workedIn(path string) bool {
	return slices.ContainsFunc(f.work, func(dir string) bool { return texts.Below(path, dir) })
}

func (s Search) lookup(name string) string { return texts.Lookup(s.Env)(name) }

// read returns the entries of a configuration.
func read(path string) ([]entry, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, sizeMax))
	if err != nil {
		return nil, err
	}
	return parse(string(text))
}

// realPath returns a path without links, as far as it exists.
func realPath(path string) string {
	_, real := Links(path)
	return real
}

// Link is a symbolic link on the way to a file.
type Link struct{ At, To string }

func linked(links []Link) (all []string) {
	for _, l := range links {
		all = append(all, l.At)
	}
	return all
}

// linksMax limits the links on the way to a file, like the kernel's limit.
const linksMax = 40

// Links returns the symbolic links on the way to an absolute path, and the path without links. If there are more than
// linksMax links, real still contains one.
func Links(path string) (all []Link, real string) {
	real = filepath.Clean(path)
	for range linksMax {
		at, to := firstLink(real)
		if at == "" {
			break
		}
		all = append(all, Link{at, to})
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		real = filepath.Join(to, strings.TrimPrefix(real, at))
	}
	return all, real
}

// firstLink returns the first component of a path that is a symbolic link, and its target.
func firstLink(path string) (at, to string) {
	for i, c := range path {
		if c == '/' && i > 0 {
			if to, err := os.Readlink(path[:i]); err == nil {
				return path[:i], to
			}
		}
	}
	if to, err := os.Readlink(path); err == nil {
		return path, to
	}
	return "", ""
}
