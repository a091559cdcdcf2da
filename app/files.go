package app

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"buddy/app/fuzzy"
	"buddy/tools"
)

const (
	filesFresh = 5 * time.Second        // that a list of files is used
	filesTime  = 200 * time.Millisecond // that making one may take
	filesMost  = 50_000                 // files in it
	filesBest  = 8                      // that are offered
)

// fileIndex knows the files of a folder, to complete paths. Its methods may be called
// from any goroutine; they read the disk.
type fileIndex struct {
	root string
	now  func() time.Time
	last atomic.Int64 // the latest request

	mu    sync.Mutex // guards what follows
	paths []string
	read  time.Time // zero when they were not
}

// newFileIndex returns an index of the working directory, which is empty when the files
// are on a target.
func newFileIndex(t *target) *fileIndex {
	root, err := os.Getwd()
	if err != nil || t.host != nil {
		root = "/dev/null" // no files; a program without a working directory does not get here
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return &fileIndex{root: root, now: time.Now}
}

// request returns a function that finds the files that fit a query best. It finds nothing
// once there is a later request.
func (x *fileIndex) request(query string) func() (paths []string, ok bool) {
	n := x.last.Add(1)
	return func() ([]string, bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.last.Load() != n {
			return nil, false
		}
		if x.read.IsZero() || x.now().Sub(x.read) > filesFresh {
			x.refresh()
		}
		return rank(x.paths, query), true
	}
}

// refresh reads the names of the files, as many as the time allows.
func (x *fileIndex) refresh() {
	start := x.now()
	enough := errors.New("enough")
	x.paths = x.paths[:0]
	// What can't be read is not offered.
	_ = tools.WalkFiles(x.root, notOffered, func(rel string) error {
		if len(x.paths) == filesMost || x.now().Sub(start) > filesTime {
			return enough
		}
		x.paths = append(x.paths, rel)
		return nil
	})
	x.read = x.now()
}

func notOffered(name string) bool { return name == ".buddyx" || name == "node_modules" }

// ranked is a path with how well it fits.
type ranked struct {
	path  string
	score int
}

func (r ranked) compare(s ranked) int {
	return cmp.Or(cmp.Compare(s.score, r.score), cmp.Compare(len(r.path), len(s.path)), cmp.Compare(r.path, s.path))
}

// rank returns the paths that fit a query best: those that have all its characters, in
// order. Hidden files are found by a query that begins with a dot only.
func rank(paths []string, query string) []string {
	best := make([]ranked, 0, filesBest+1)
	hidden := strings.HasPrefix(query, ".")
	for _, path := range paths {
		if !hidden && (path[0] == '.' || strings.Contains(path, "/.")) {
			continue
		}
		score, ok := fuzzy.Fit(path, query)
		r := ranked{path, score}
		if !ok || len(best) == filesBest && r.compare(best[filesBest-1]) > 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(best, r, ranked.compare)
		best = slices.Insert(best, i, r)
		best = best[:min(len(best), filesBest)]
	}
	found := make([]string, len(best))
	for i, r := range best {
		found[i] = r.path
	}
	return found
}
