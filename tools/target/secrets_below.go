package target

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"buddy/agent/policy/shell"
	"buddy/tools/fs"
)

// Limits of looking for files with secrets before a recursive search runs.
const (
	maxSearched = 50_000
	searchTime  = time.Second
)

var (
	errFound = errors.New("found")
	errMany  = errors.New("too many files")
)

// finder looks for files with secrets among those that a search of this machine reads, and
// caches the answers for a moment: a command is judged several times before it runs. It is safe
// for concurrent use.
type finder struct {
	secret func(path string) string
	most   int // files to look at

	mu    sync.Mutex
	known map[searched]answer
	since time.Time // of the oldest entry in known
}

// searched is a folder and how it is searched.
type searched struct {
	dir string
	how shell.Search
}

// answer holds what holds returned.
type answer struct {
	name string
	ok   bool
}

// holds returns the name, relative to dir, of a file with secrets that s reads below dir, or "".
// ok is false when there are too many files to tell. Folders .git and node_modules hold no
// secrets, unless a password is in git's settings.
func (f *finder) holds(dir string, s shell.Search) (name string, ok bool) {
	for s.Commits && dir != "/" {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	key := searched{dir, s}
	f.mu.Lock()
	if time.Since(f.since) > linksKept {
		f.known, f.since = make(map[searched]answer), time.Now()
	}
	a, cached := f.known[key]
	f.mu.Unlock()
	if cached {
		return a.name, a.ok
	}
	name, err := f.find(dir, s)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[key] = answer{name, err == nil}
	return name, err == nil
}

// find walks dir. What can't be read holds no secrets for a search either.
func (f *finder) find(dir string, s shell.Search) (name string, err error) {
	files, end := 0, time.Now().Add(searchTime)
	visit := func(rel string) error {
		if files++; files > f.most || files%256 == 0 && time.Now().After(end) {
			return errMany
		}
		full := filepath.Join(dir, rel)
		if f.secret(full) != "" || s.Links && f.secret(followLinks(full)) != "" {
			name = rel
			return errFound
		}
		return nil
	}
	if s.Ignored {
		err = walkAll(dir, s, visit)
	} else {
		skip := func(name string) bool { return !s.Hidden && strings.HasPrefix(name, ".") || name == "node_modules" }
		err = fs.WalkFiles(context.Background(), fs.Local, dir, skip, visit)
	}
	if errors.Is(err, errMany) {
		return "", err
	}
	return name, nil
}

// walkAll calls visit for the files and links below dir that a search reads which knows no
// .gitignore.
func walkAll(dir string, s shell.Search, visit func(rel string) error) error {
	return filepath.WalkDir(dir, func(path string, e iofs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		switch {
		case relErr != nil || path == dir:
			return relErr
		case err != nil, !s.Hidden && strings.HasPrefix(e.Name(), "."), e.Name() == "node_modules":
			return skipOf(e)
		case e.Name() == ".git" && e.IsDir():
			if gitKeeps(filepath.Join(path, "config")) {
				return visit(filepath.Join(rel, "config"))
			}
			return iofs.SkipDir
		case e.IsDir():
			return nil
		}
		return visit(rel)
	})
}

// skipOf leaves out one entry.
func skipOf(e iofs.DirEntry) error {
	if e != nil && e.IsDir() {
		return iofs.SkipDir
	}
	return nil
}

// gitSecret matches a password in git's settings of a repository.
var gitSecret = regexp.MustCompile(`(?i)extraheader|://[^/\s]*:[^/\s]*@|password|token`)

// gitKeeps reports whether git's settings of a repository hold a password.
func gitKeeps(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return err == nil
	}
	text, err := os.ReadFile(file)
	return err == nil && gitSecret.Match(text)
}
