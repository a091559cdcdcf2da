package target

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// Limits of the search for files with secrets that precedes a recursive search.
const (
	maxSearched = 50_000
	searchTime  = time.Second
)

var (
	errFound = errors.New("found")
	errMany  = errors.New("too many files")
)

// finder looks for files with secrets among the files that a recursive search on this machine would read. It caches the
// answers for a moment, because a command is judged several times before it runs. It is safe for concurrent use.
type finder struct {
	secret func(path string) string
	most   int // maximum number of checked files

	mu    sync.Mutex
	known map[string]answer
	since time.Time // of the oldest entry in known
}

// answer is a cached result of holds.
type answer struct {
	name string
	ok   bool
}

// holds returns the name, relative to dir, of a file with secrets below dir, or "". ok is false if there are too many
// files to check. It skips node_modules folders, and .git folders except for git's settings, which may contain a
// password.
func (f *finder) holds(dir string) (name string, ok bool) {
	f.mu.Lock()
	if time.Since(f.since) > linksKept {
		f.known, f.since = make(map[string]answer), time.Now()
	}
	a, cached := f.known[dir]
	f.mu.Unlock()
	if cached {
		return a.name, a.ok
	}
	name, err := f.find(dir)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[dir] = answer{name, err == nil}
	return name, err == nil
}

// find walks dir. It ignores files that can't be read, because the search can't read them either.
func (f *finder) find(dir string) (name string, err error) {
	files, end := 0, time.Now().Add(searchTime)
	err = filepath.WalkDir(dir, func(path string, e iofs.DirEntry, err error) error {
		switch {
		case err != nil, e.Name() == "node_modules" && e.IsDir():
			return skipOf(e)
		case e.Name() == ".git" && e.IsDir():
			if !gitKeeps(filepath.Join(path, "config")) {
				return iofs.SkipDir
			}
			name = filepath.Join(path, "config")
			return errFound
		case e.IsDir():
			return nil
		}
		if files++; files > f.most || files%256 == 0 && time.Now().After(end) {
			return errMany
		}
		if f.secret(path) != "" {
			name = path
			return errFound
		}
		return nil
	})
	if errors.Is(err, errMany) {
		return "", err
	}
	if rel, err := filepath.Rel(dir, name); err == nil && name != "" {
		name = rel
	}
	return name, nil
}

// gitKeepsAround returns the path of the git settings of the repository around a folder if they contain a password, or
// "".
func gitKeepsAround(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".git", "config")
		if gitKeeps(file) {
			return file
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// skipOf returns the error that makes a walk skip an entry of any kind.
func skipOf(e iofs.DirEntry) error {
	if e != nil && e.IsDir() {
		return iofs.SkipDir
	}
	return nil
}

// gitSecret matches a password in git's settings of a repository.
var gitSecret = regexp.MustCompile(`(?i)extraheader|://[^/\s]*:[^/\s]*@|password|token`)

// gitKeeps reports whether git's settings of a repository contain a password.
func gitKeeps(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return err == nil
	}
	text, err := os.ReadFile(file)
	return err == nil && gitSecret.Match(text)
}
