// Package snapshot records what commands change in local folders, so that the changes can be undone.
//
// A [Tree] is scanned before and after a command. A scan compares device, inode, size, mode and times with the last
// scan, so that unchanged files are not read, and copies the content of each new or changed file to a store, named by
// its SHA-256. The second scan lists the changes; the content from before and after is then in the store.
//
//	tree := snapshot.Open(snapshot.Options{Store: dir, State: sessionDir, Roots: []string{"/home/ann/shop"}})
//	_, err := tree.Scan(ctx)       // before a command
//	done, err := tree.Scan(ctx)    // after it: done.Changes is what it changed
//	back, err := tree.Restore(ctx, done.Changes, false, announce)
//
// A tree covers regular files, symbolic links and folders, with their permissions. It leaves out .git, .buddyx, files
// that .gitignore excludes, other file systems, devices, sockets and pipes. It does not record owners, extended
// attributes and times. The package does not use a shadow git repository: git would run programs that the
// configuration of a nested repository names, and would lose modes, empty folders and the content of filtered files.
package snapshot

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	files "buddy/tools/fs"
)

// Kind says what is at a path.
type Kind string

// The kinds. None means that nothing is there. Other stands for what is not recorded, such as a device, or a path that
// leads through a link.
const (
	None   Kind = ""
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link"
	Other  Kind = "other"
)

// State describes a path at one moment.
type State struct {
	Kind Kind        `json:"kind,omitempty"`
	Perm fs.FileMode `json:"perm,omitempty"` // permissions of a file or folder
	Size int64       `json:"size,omitempty"` // bytes of a file
	Sum  string      `json:"sum,omitempty"`  // SHA-256 of a file's content, hexadecimal; "" if the content is not kept
	Link string      `json:"link,omitempty"` // target of a link
}

// Kept reports whether the state can be restored.
func (s State) Kept() bool { return s.Kind != Other && (s.Kind != File || s.Sum != "") }

// Same reports whether two states have the same content and permissions. File tools record only the first half of the
// sum, and no permissions; then only that half is compared.
func (s State) Same(o State) bool {
	if s.Kind != o.Kind || s.Link != o.Link || s.Kind == Other {
		return false
	}
	if s.Perm != o.Perm && !s.short() && !o.short() {
		return false
	}
	if s.Kind != File {
		return true
	}
	if s.Sum == "" || o.Sum == "" {
		return s.Sum == o.Sum && s.Size == o.Size
	}
	return strings.HasPrefix(s.Sum, o.Sum) || strings.HasPrefix(o.Sum, s.Sum)
}

// Words describes the state for the user, without the content of a file.
func (s State) Words() string {
	switch s.Kind {
	case None:
		return "nothing"
	case Link:
		return fmt.Sprintf("link to %q", s.Link)
	case Other:
		return "neither a file nor a folder"
	}
	return fmt.Sprintf("%s, permissions %o", s.Kind, s.Perm)
}

// short reports whether a file tool recorded the state.
func (s State) short() bool { return s.Kind == File && len(s.Sum) == shortSum }

const (
	wholeSum = 64 // digits of a SHA-256
	shortSum = 32 // digits of tools.SumOf
)

// Change is one changed path.
type Change struct {
	Path   string // absolute; any bytes but NUL
	Before State
	After  State
}

// MarshalJSON writes a path that is not UTF-8 in base64.
func (c Change) MarshalJSON() ([]byte, error) {
	one := jsonChange{Before: c.Before, After: c.After}
	if utf8.ValidString(c.Path) {
		one.Path = c.Path
	} else {
		one.Bytes = base64.StdEncoding.EncodeToString([]byte(c.Path))
	}
	return json.Marshal(one)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Change) UnmarshalJSON(text []byte) error {
	var one jsonChange
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	if c.Path = one.Path; one.Bytes != "" {
		path, err := base64.StdEncoding.DecodeString(one.Bytes)
		if err != nil {
			return err
		}
		c.Path = string(path)
	}
	c.Before, c.After = one.Before, one.After
	return nil
}

type jsonChange struct {
	Path   string `json:"path,omitempty"`
	Bytes  string `json:"bytes,omitempty"` // the path in base64
	Before State  `json:"before"`
	After  State  `json:"after"`
}

// Limits bounds what is stored. A zero field means the default.
type Limits struct {
	File   int64 // bytes of a file; the content of a larger one is not kept
	Folder int64 // bytes of all current contents of a tree; the smallest files are kept first
	Total  int64 // bytes of the store; Sweep removes the oldest contents
}

// The default limits.
const (
	DefaultFile   = 16 << 20
	DefaultFolder = 512 << 20
	DefaultTotal  = 2 << 30
)

const (
	maxEntries = 100_000     // paths of a tree
	manyPaths  = 10_000      // a tree with fewer paths is never too slow
	maxScan    = time.Second // for looking at all paths of a tree
)

// ErrTooLarge is returned if a scan of the folders takes too long. The tree then records nothing.
var ErrTooLarge = errors.New("the folder has more than 100,000 files, or looking at them takes more than a second")

// ErrStillLarge wraps ErrTooLarge, if an earlier session found the folders too large at most a day ago.
var ErrStillLarge = fmt.Errorf("found before: %w", ErrTooLarge)

// retryLarge is the time after which folders that were too large are scanned again.
const retryLarge = 24 * time.Hour

// Options configure a Tree.
type Options struct {
	Store    string   // folder of the contents, shared by the sessions in the same folders; created with mode 0700
	State    string   // folder of the session's own files: the index and the lists of changes
	Roots    []string // absolute paths without symbolic links; none contains another
	Own      []string // folders that are left out, for files of this program
	Limits   Limits
	Recovery files.Recovery // old bytes of files that are written in place
}

// Tree records the state of some folders. It is safe for concurrent use.
type Tree struct {
	o Options

	mu    sync.Mutex // held during a scan or a restore
	large bool       // ErrTooLarge was returned
	lock  *os.File   // of the store, while the session uses it; nil before the first scan

	lists atomic.Int64 // number of the last list of changes
}

// Open returns a tree. It does not access files yet.
func Open(o Options) *Tree {
	if o.Limits.File == 0 {
		o.Limits.File = DefaultFile
	}
	if o.Limits.Folder == 0 {
		o.Limits.Folder = DefaultFolder
	}
	if o.Limits.Total == 0 {
		o.Limits.Total = DefaultTotal
	}
	return &Tree{o: o}
}

// Restores reports whether the deletion of a path with everything below it could be undone: all of it is recorded with
// its content, so nothing is excluded by a rule, too large, or new since the last scan.
func (t *Tree) Restores(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, err := openIndex(t.index())
	if err != nil {
		return false
	}
	defer old.close()
	kept := make(map[string]bool)
	for one := old.next(); one != nil; one = old.next() {
		if at := string(one.path); at == path || below(at, path) {
			if kept[at] = one.kind() != File || one.hasSum(); len(kept) > maxDeleted {
				return false
			}
		}
	}
	all := old.err == nil && len(kept) > 0
	err = filepath.WalkDir(path, func(at string, _ fs.DirEntry, err error) error {
		if all = all && err == nil && kept[at]; !all {
			return filepath.SkipAll
		}
		return nil
	})
	return all && err == nil
}

// maxDeleted limits the paths that Restores compares.
const maxDeleted = 20_000

func below(path, dir string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// Scanned is the result of a scan.
type Scanned struct {
	Changes []Change // since the last scan, in path order; none at the first scan of a session
	Files   int      // paths in the tree
	Bytes   int64    // contents kept of the present files
	Missing int      // files whose content is not kept
	Store   error    // why no more contents could be stored, such as a full disk; nil if they could
}

// Scan records the present state and returns what has changed since the last scan. When ctx ends while contents are
// being copied, the remaining ones are not kept, which is no error.
func (t *Tree) Scan(ctx context.Context) (Scanned, error) { return t.ScanSince(ctx, time.Time{}) }

// ScanSince is Scan after a command that created its files elsewhere and moved them here, such as a command that was
// tried. Files created at the given time or later count as made by the command, even if they are older than the last
// scan.
func (t *Tree) ScanSince(ctx context.Context, since time.Time) (Scanned, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.large {
		return Scanned{}, ErrTooLarge
	}
	s := &scan{tree: t, ctx: ctx, began: time.Now(), since: since}
	if info, err := os.Lstat(t.mark()); err == nil && s.began.Sub(info.ModTime()) < retryLarge {
		t.large = true
		return Scanned{}, ErrStillLarge
	}
	if err := t.share(); err != nil {
		return Scanned{}, err
	}
	done, err := s.run()
	if t.large = errors.Is(err, ErrTooLarge); t.large {
		_ = os.MkdirAll(t.o.Store, 0o700)
		_ = os.WriteFile(t.mark(), nil, 0o600) // without it the next session tries again
	}
	return done, err
}

// mark returns the path of a file that exists if the folders were found to be too large.
func (t *Tree) mark() string { return filepath.Join(t.o.Store, "too-large") }

// Started reports whether an earlier scan of the session was recorded.
func (t *Tree) Started() bool {
	_, err := os.Stat(t.index())
	return err == nil
}

// index returns the path of this session's index. base returns the path of the index that the previous session in the
// same folders left.
func (t *Tree) index() string { return filepath.Join(t.o.State, "index") }
func (t *Tree) base() string  { return filepath.Join(t.o.Store, "index") }
