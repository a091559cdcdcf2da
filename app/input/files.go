package input

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"buddy/app/fuzzy"
	"buddy/texts"
	"buddy/tools/fs"
	"buddy/tools/target"
)

const (
	filesFresh = 5 * time.Second        // how long a list of files is used
	filesTime  = 200 * time.Millisecond // limit of listing the files
	filesMost  = 50_000                 // listed files
	filesBest  = 8                      // offered files

	// The same for the files of a target, where reading each folder is a round trip.
	filesFreshAway = 30 * time.Second
	filesTimeAway  = 3 * time.Second
)

// FileIndex lists the files of a folder for completing paths. Its methods read the disk; any goroutine may call them.
type FileIndex struct {
	walk  func(visit func(rel string) error) error
	limit time.Duration // of a walk; 0: the walk limits itself
	fresh time.Duration
	now   func() time.Time
	last  atomic.Int64 // the latest request

	mu    sync.Mutex // guards the fields below
	paths []string
	read  time.Time // zero before the first read
}

// NewFileIndex returns an index of the working directory.
func NewFileIndex() *FileIndex {
	root, err := os.Getwd()
	if err != nil {
		root = "/dev/null" // no files; a program without a working directory does not get here
	}
	return indexBelow(texts.RealPath(root))
}

// indexBelow returns an index of a folder of this machine.
func indexBelow(root string) *FileIndex {
	walk := func(visit func(rel string) error) error {
		return fs.WalkFiles(context.Background(), fs.Local, root, notOffered, visit)
	}
	return &FileIndex{walk: walk, limit: filesTime, fresh: filesFresh, now: time.Now}
}

// indexOn returns an index of the files of a target, connecting to the target if necessary.
func indexOn(set *target.Set, name string) *FileIndex {
	walk := func(visit func(rel string) error) error {
		one, err := set.Open(context.Background(), name)
		if err != nil {
			return err
		}
		ctx, done := context.WithTimeout(context.Background(), filesTimeAway)
		defer done()
		return one.Files.WalkFiles(ctx, notOffered, visit)
	}
	return &FileIndex{walk: walk, fresh: filesFreshAway, now: time.Now}
}

// FileIndexes holds the indexes of a session's targets. Only one goroutine may use them.
type FileIndexes struct {
	Here *FileIndex
	away map[string]*FileIndex // by target
}

// Of returns the index of the current target.
func (x *FileIndexes) Of(set *target.Set) *FileIndex {
	name := set.Current()
	if set.Target(name).Host == nil {
		return x.Here
	}
	if x.away == nil {
		x.away = make(map[string]*FileIndex)
	}
	if x.away[name] == nil {
		x.away[name] = indexOn(set, name)
	}
	return x.away[name]
}

// Request returns a function that finds the files that fit a query best. If Request has been called again by then, ok
// is false.
func (x *FileIndex) Request(query string) func() (paths []string, ok bool) {
	n := x.last.Add(1)
	return func() ([]string, bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.last.Load() != n {
			return nil, false
		}
		if x.read.IsZero() || x.now().Sub(x.read) > x.fresh {
			x.refresh()
		}
		return rank(x.paths, query), true
	}
}

// refresh lists the files, as many as the limits allow.
func (x *FileIndex) refresh() {
	start := x.now()
	enough := errors.New("enough")
	x.paths = x.paths[:0]
	// The error is ignored: files in unreadable folders are not offered.
	_ = x.walk(func(rel string) error {
		if len(x.paths) == filesMost || x.limit > 0 && x.now().Sub(start) > x.limit {
			return enough
		}
		x.paths = append(x.paths, rel)
		return nil
	})
	x.read = x.now()
}

func notOffered(name string) bool { return name == ".buddyx" || name == "node_modules" }

type ranked struct {
	path  string
	score int
}

func (r ranked) compare(s ranked) int {
	return cmp.Or(cmp.Compare(s.score, r.score), cmp.Compare(len(r.path), len(s.path)), cmp.Compare(r.path, s.path))
}

// rank returns the paths that fit a query best. A path fits if it contains all characters of the query in their order.
// Only a query that starts with a dot finds hidden files.
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

// agentMark precedes the name of a subagent in a prompt, so that a list can tell it from a file.
const agentMark = "agent-"

// Agents returns the names of the subagent types that contain query, in the form that follows an @ in a prompt.
func Agents(query string, types []string) (names []string) {
	for _, t := range types {
		if strings.Contains(strings.ToLower(agentMark+t), strings.ToLower(query)) {
			names = append(names, agentMark+t)
		}
	}
	return names
}

// Merge puts the names of agents and resources, and the paths of files, in one list. Names that start with the query
// come before the files, other names after them.
func Merge(query string, names, paths []string) []string {
	var first, last []string
	query = strings.ToLower(query)
	for _, n := range names {
		low := strings.ToLower(n)
		if query != "" && (strings.HasPrefix(low, query) || strings.HasPrefix(strings.TrimPrefix(low, agentMark), query)) {
			first = append(first, n)
		} else {
			last = append(last, n)
		}
	}
	return slices.Concat(first, paths, last)
}
