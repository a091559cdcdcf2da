package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"buddy/owners"
	"buddy/texts"
)

// TrustStore is the file that lists the folders a person trusts. Only in a listed folder whose files have not changed
// since may a project's files do more than make settings stricter. A TrustStore may be copied, and any process may use
// the file at any time.
type TrustStore struct {
	path string
	// Main returns another folder whose trust also counts for dir while the trusted files of both are equal, such as
	// the main checkout for a worktree; "" for none. Main may be nil.
	Main func(dir string) string
}

// NewTrustStore returns the store in the user's state directory for this program. It creates
// nothing.
func NewTrustStore(state string) TrustStore {
	return TrustStore{path: filepath.Join(state, "trust.json")}
}

// File is the path of the store. It need not exist.
func (s TrustStore) File() string { return s.path }

// TrustedDir is a folder that a person trusted, with the fingerprint of its files at that time.
type TrustedDir struct {
	Dir   string        `json:"dir"`   // absolute, symbolic links resolved
	Print string        `json:"print"` // "" when only parts of it are trusted
	At    time.Time     `json:"at"`
	Parts []TrustedPart `json:"parts,omitempty"`
}

// projectFiles are the files of a folder that are trusted as a whole. Programs that they name and definitions in other
// files are trusted one by one, see [Part].
var projectFiles = []string{fileName, legacyName}

// noServers is a part of every fingerprint. It represents a missing .mcp.json, which used to be a project file, so that
// folders trusted at that time stay trusted.
const noServers = ".mcp.json -\n"

// Fingerprint identifies the contents of a folder's project files. A folder without these files has a fingerprint, too.
func Fingerprint(dir string) (string, error) { return fingerprint(dir, nil) }

// fingerprint is Fingerprint for a folder with a file that was already read; read may be nil.
func fingerprint(dir string, read *file) (string, error) {
	h := sha256.New()
	for _, name := range projectFiles {
		path := filepath.Join(dir, name)
		var data []byte
		var err error
		if read != nil && filepath.Base(read.name) == name {
			data = read.data
		} else {
			data, _, err = readRegular(path, maxFile)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			_, _ = fmt.Fprintf(h, "%s -\n", name)
			continue
		case err != nil:
			return "", fmt.Errorf("%q: %w", path, err)
		}
		_, _ = fmt.Fprintf(h, "%s %d\n", name, len(data))
		_, _ = h.Write(data)
	}
	_, _ = h.Write([]byte(noServers))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ResolveDir returns the absolute path, without symbolic links, under which a folder is trusted.
func ResolveDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("folder %q: %w", dir, cause(err))
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%q is not a folder", dir)
	}
	return abs, nil
}

// Trusted reports whether a folder with this fingerprint is trusted, and whether it was trusted with another
// fingerprint.
func (s TrustStore) Trusted(dir, print string) (trusted, changed bool, err error) {
	all, err := s.List()
	if err != nil {
		return false, false, err
	}
	i := indexDir(all, dir)
	if m := s.inMain(all, dir); m >= 0 && all[m].Print != "" && (all[m].Print == print || i < 0) {
		i = m
	}
	if i < 0 || all[i].Print == "" {
		return false, false, nil
	}
	return all[i].Print == print, all[i].Print != print, nil
}

// inMain returns the index of the folder whose trust also holds in dir, -1 for none.
func (s TrustStore) inMain(all []TrustedDir, dir string) int {
	if s.Main == nil {
		return -1
	}
	main := s.Main(dir)
	if main == "" {
		return -1
	}
	return indexDir(all, main)
}

// Trust stores a folder with the fingerprint that the person saw. It keeps the folder's trusted parts.
func (s TrustStore) Trust(dir, print string) error {
	return s.change(nil, func(all []TrustedDir) []TrustedDir {
		one := TrustedDir{Dir: dir, Print: print, At: now()}
		if i := indexDir(all, dir); i >= 0 {
			one.Parts = all[i].Parts
		}
		return append(without(all, dir), one)
	})
}

// Forget removes a folder with its parts and reports whether it was listed.
func (s TrustStore) Forget(dir string) (found bool, err error) {
	err = s.change(nil, func(all []TrustedDir) []TrustedDir {
		left := without(all, dir)
		found = len(left) < len(all)
		return left
	})
	return found, err
}

// ForgetSettings ends the trust in the settings of a folder. It keeps the folder's trusted parts.
func (s TrustStore) ForgetSettings(dir string) error {
	return s.change(nil, func(all []TrustedDir) []TrustedDir {
		i := indexDir(all, dir)
		if i < 0 {
			return all
		}
		one := all[i]
		one.Print = ""
		if all = without(all, dir); len(one.Parts) == 0 {
			return all
		}
		return append(all, one)
	})
}

func without(all []TrustedDir, dir string) []TrustedDir {
	return slices.DeleteFunc(slices.Clone(all), func(d TrustedDir) bool { return d.Dir == dir })
}

// List returns the trusted folders, by name.
func (s TrustStore) List() ([]TrustedDir, error) {
	data, _, err := readRegular(s.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	var all []TrustedDir
	if err == nil {
		err = owners.CheckOwn(s.path)
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("trusted folders %q: %w", s.path, err)
	}
	slices.SortFunc(all, func(a, b TrustedDir) int { return strings.Compare(a.Dir, b.Dir) })
	return all, nil
}

// change edits the list of folders and saves the kept texts, under a lock against other processes.
func (s TrustStore) change(kept keptTexts, edit func([]TrustedDir) []TrustedDir) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("trusted folders %q: %w", s.path, cause(err))
	}
	lock, err := os.OpenFile(s.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("trusted folders %q: %w", s.path, cause(err))
	}
	defer lock.Close() //nolint:errcheck // nothing is written to it; closing unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("trusted folders %q: lock: %w", s.path, err)
	}
	all, err := s.List()
	if err != nil {
		return err
	}
	all = edit(all)
	data, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return fmt.Errorf("trusted folders %q: %w", s.path, err)
	}
	if len(data) >= maxFile { // the file would be too large to read
		return fmt.Errorf("trusted folders %q: more than %d KiB; to forget some, run: buddy trust --forget DIR", s.path, maxFile>>10)
	}
	if err := s.keep(kept); err != nil {
		return err
	}
	if err := renameio.WriteFile(s.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("trusted folders %q: %w", s.path, cause(err))
	}
	return s.sweep(all)
}

// Project describes the working directory and its project files.
type Project struct {
	Dir     string   // as returned by ResolveDir, even with --config; "" when it can't be resolved
	Print   string   // the fingerprint of its files as read; "" if they were not read (--config) or can't be
	Trusted bool     // by the person, in the present form
	Changed bool     // since the person trusted them
	Ignored []string // keys of its settings that apply once it is trusted
}

// resolveTrust determines whether the working directory is trusted. On an error it is not.
func (l *loader) resolveTrust(store *TrustStore, read *file) {
	p := &l.cfg.Project
	var err error
	if p.Dir, err = ResolveDir("."); err == nil {
		p.Print, err = fingerprint(".", read)
	}
	if err == nil && store != nil {
		p.Trusted, p.Changed, err = store.Trusted(p.Dir, p.Print)
	}
	if err != nil {
		l.notice("this folder is not trusted: %v", err)
	}
}

// access says which files may set a key.
type access uint8

const (
	personal access = iota // only the person's own files
	tightens               // also a project's file, if its value is stricter
	adds                   // also a project's file, which appends to a list that is stricter when longer
	trusted                // also a project's file if the folder is trusted
)

// accessOf returns the access of an entry's key; fld is nil for a table.
func accessOf(e entry, fld *field) access {
	if slices.Contains(trustedSections, e.path[0]) {
		return trusted
	}
	switch {
	case fld == nil && e.path[0] == "allow":
		return personal
	case fld == nil && isRule(e.path[0]):
		return adds
	case fld == nil:
		return tightens // tables have no value
	case fld.own:
		return personal
	case fld.tighter != nil || fld.strict != nil:
		return tightens
	case fld.access != personal:
		return fld.access
	}
	for _, s := range sections {
		if s.name == e.path[0] {
			return s.access
		}
	}
	return personal
}

// applyProject applies the keys that a project's file may set.
func (l *loader) applyProject(f *file, entries []entry) error {
	var own []string // profiles and targets of the person's file
	for _, p := range l.cfg.Models {
		own = append(own, Path("models", p.Name))
	}
	for _, t := range l.cfg.Targets {
		own = append(own, Path("targets", t.Name))
	}
	p := &l.cfg.Project
	var never []string
	for _, e := range entries {
		list, err := l.projectEntry(f, e, own)
		if err != nil {
			return &Error{Place: place(f, e.line), Key: Path(e.path...), Err: err}
		}
		switch {
		case isTable(e.kind):
		case list == trusted:
			p.Ignored = append(p.Ignored, Path(e.path...))
		case list == personal:
			never = append(never, Path(e.path...))
		}
	}
	if len(never) > 0 {
		l.notice("%s: these settings are ignored, because a project's file may not set them: %s", f.name, texts.Some(never))
	}
	if len(p.Ignored) > 0 {
		again := ""
		if p.Changed {
			again = " again, because its settings changed"
		}
		l.notice("%s: these settings are ignored until you trust this folder%s (/trust, or run: buddy trust): %s", f.name, again, texts.Some(p.Ignored))
	}
	return l.finishProfiles(f)
}

// projectEntry sets one value. If the value is ignored, it returns the access that the value requires: trusted or
// personal.
func (l *loader) projectEntry(f *file, e entry, own []string) (ignored access, err error) {
	const taken = tightens
	isForeign := slices.Contains(trustedSections, e.path[0])
	if len(e.path) > 1 && slices.Contains(own, Path(e.path[0], e.path[1])) {
		return personal, nil // else the person's key could be sent to another endpoint, or commands to another machine
	}
	if isForeign && !l.cfg.Project.Trusted {
		return trusted, nil // even if this version does not know the section
	}
	if isForeign && !slices.ContainsFunc(sections, func(s section) bool { return s.name == e.path[0] }) {
		return personal, nil
	}
	fld, err := find(e)
	if err != nil {
		return taken, err
	}
	switch accessOf(e, fld) {
	case personal:
		return personal, nil
	case trusted:
		if !l.cfg.Project.Trusted {
			return trusted, nil
		}
		return taken, l.set(f, e, fld)
	case adds:
		return taken, l.set(f, e, fld)
	}
	if fld == nil {
		return taken, nil
	}
	return taken, l.tighten(f, e, fld)
}

// ProjectKeys returns the keys in a folder's settings that apply only if the folder is trusted. A folder without
// settings has none.
func ProjectKeys(dir string) ([]string, error) {
	for _, name := range []string{fileName, legacyName} {
		path := filepath.Join(dir, name)
		data, _, err := readRegular(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", path, err)
		}
		entries, line, err := parse(data)
		if err != nil {
			return nil, &Error{Place: fmt.Sprintf("%s:%d", path, line), Err: err}
		}
		var keys []string
		for _, e := range new(loader).renew(&file{name: name}, entries) {
			fld, _ := find(e) // an invalid key is reported when the file is loaded
			if !isTable(e.kind) && accessOf(e, fld) == trusted {
				keys = append(keys, Path(e.path...))
			}
		}
		return keys, nil
	}
	return nil, nil
}
