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
	anyCase := query == strings.ToLower(query)
	for _, path := range paths {
		if !hidden && (path[0] == '.' || strings.Contains(path, "/.")) {
			continue
		}
		score, ok := fit(path, query, anyCase)
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

// fit returns how well a path fits a query: in its name better than in its folders, at
// the start of words and without gaps better than anywhere.
func fit(path, query string, anyCase bool) (score int, ok bool) {
	if query == "" {
		return -strings.Count(path, "/"), true
	}
	base := strings.LastIndexByte(path, '/') + 1
	for _, from := range [...]int{0, base} {
		if s, fits := fitFrom(path, query, from, anyCase); fits && (!ok || s > score) {
			score, ok = s, true
		}
	}
	return score, ok
}

// The points that a character gets.
const (
	inName  = 2
	atStart = 4 // of a word
	noGap   = 5 // after the character before
)

func fitFrom(path, query string, at int, anyCase bool) (score int, ok bool) {
	base := strings.LastIndexByte(path, '/') + 1
	last := -2
	for i := range len(query) {
		for at < len(path) && path[at] != query[i] && (!anyCase || lower(path[at]) != query[i]) {
			at++
		}
		if at == len(path) {
			return 0, false
		}
		if at >= base {
			score += inName
		}
		if at == last+1 {
			score += noGap
		}
		if startsWord(path, at) {
			score += atStart
		}
		last = at
		at++
	}
	return score, true
}

// startsWord says that a word begins at an offset: after a sign, or with a capital.
func startsWord(path string, at int) bool {
	if at == 0 || strings.IndexByte("/_-. ", path[at-1]) >= 0 {
		return true
	}
	return path[at] != lower(path[at]) && path[at-1] == lower(path[at-1])
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
