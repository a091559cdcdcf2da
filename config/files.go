package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"buddy/owners"
)

// Names of the settings files: the present one, then the legacy one.
const (
	fileName   = "buddy.toml"
	legacyName = "agent.toml"
)

// openToOthers are the permission bits that a file with a key should not have.
const openToOthers = 0o007

// file is a settings file that was read.
type file struct {
	name    string // name in errors
	dir     string // absolute; base of relative paths in it
	data    []byte
	info    fs.FileInfo
	project bool // the file is in the working directory
}

// readFiles reads and applies the user's and the project's file, or only the given one.
func (l *loader) readFiles(explicit string, trust *TrustStore) error {
	present, legacy := userPaths()
	l.userFile = present
	l.cfg.Project.Dir, _ = ResolveDir(".") // resolveTrust reports an error
	if explicit == os.DevNull {
		return nil
	}
	if explicit != "" {
		f, err := readFile(explicit)
		if err == nil {
			err = owners.CheckOwn(f.path())
		}
		if err != nil {
			return &Error{Place: "--config", Err: err}
		}
		l.userFile = explicit
		return l.apply(f)
	}
	user, err := l.firstOf(present, legacy)
	if err == nil && user != nil {
		if err := owners.CheckOwn(user.path()); err != nil {
			return &Error{Place: user.name, Err: err}
		}
	}
	if err != nil {
		return err
	}
	if user == nil {
		l.cfg.MissingFile = present
	} else {
		l.userFile = user.name // possibly the legacy one, which a new file would hide
		if err := l.apply(user); err != nil {
			return err
		}
	}
	project, err := l.firstOf(fileName, legacyName)
	if err != nil {
		return err
	}
	l.resolveTrust(trust, project)
	if project == nil || user != nil && os.SameFile(user.info, project.info) {
		return nil // no project file, or the working directory is the folder of the user's file
	}
	project.project = true
	return l.apply(project)
}

// userPaths returns the user's file and its legacy name; "" when the home folder is unknown.
func userPaths() (present, legacy string) {
	home, err := os.UserHomeDir()
	if err == nil && filepath.IsAbs(home) {
		legacy = filepath.Join(home, ".config", "agent", legacyName)
		present = filepath.Join(home, ".config", "buddy", fileName)
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // the XDG specification ignores relative ones
		present = filepath.Join(dir, "buddy", fileName)
	}
	return present, legacy
}

// Dir returns the folder of the user's settings and themes; "" when the home folder is unknown.
func Dir() string {
	present, _ := userPaths()
	if present == "" {
		return ""
	}
	return filepath.Dir(present)
}

// firstOf reads the first of two files that exists, nil if neither does.
func (l *loader) firstOf(present, legacy string) (*file, error) {
	for _, path := range []string{present, legacy} {
		if path == "" {
			continue
		}
		f, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			if dangling(path) {
				l.notice("%s: %v: not read", path, errDangling)
			}
			continue
		}
		if err != nil {
			return nil, &Error{Place: path, Err: errors.Unwrap(err)}
		}
		if path == legacy {
			l.deprecated = append(l.deprecated, path+" (now "+present+")")
		}
		return f, nil
	}
	return nil, nil
}

var errDangling = errors.New("is a symbolic link to a file that does not exist")

func dangling(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// path returns the absolute path of f.
func (f *file) path() string { return filepath.Join(f.dir, filepath.Base(f.name)) }

func readFile(path string) (*file, error) {
	data, info, err := readRegular(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return &file{name: path, dir: filepath.Dir(abs), data: data, info: info}, nil
}

// readRegular reads a file of at most limit bytes. It never blocks: a FIFO in place of the file must not hang the
// start. Errors do not repeat the path.
func readRegular(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, cause(err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, cause(err)
	case info.IsDir():
		return nil, nil, errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, cause(err)
	}
	if int64(len(data)) > limit {
		return nil, nil, fmt.Errorf("is over %d KiB", limit>>10)
	}
	return data, info, nil
}

// cause strips the operation and the path that the os package adds.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// noticeOpenFile adds a notice about a file with a key that other users may open.
func (l *loader) noticeOpenFile(path string, mode fs.FileMode) {
	if mode.Perm()&openToOthers != 0 {
		l.notice("%s holds a key and other users may open it (mode %04o): chmod 600 it", path, mode.Perm())
	}
}

// noticeDeprecated adds one notice about all legacy names in use.
func (l *loader) noticeDeprecated() {
	for _, v := range envVars {
		if _, name := v.lookup(); name == v.legacy {
			l.deprecated = append(l.deprecated, name+" (now "+v.name+")")
		}
	}
	if len(l.deprecated) > 0 {
		hint := ""
		if slices.ContainsFunc(l.deprecated, func(s string) bool { return strings.Contains(s, legacyName) }) {
			hint = "; buddy config migrate writes the new file"
		}
		l.notice("deprecated names in use: %s%s", strings.Join(l.deprecated, ", "), hint)
	}
}

func (l *loader) notice(format string, args ...any) {
	l.notices = append(l.notices, visible(fmt.Sprintf(format, args...), 1000))
}
