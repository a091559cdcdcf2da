package sessions

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// ErrNone means that no session has been saved yet.
var ErrNone = errors.New("no session has been saved")

const (
	titleRunes = 60
	maxNear    = 5 // ids named in an error
)

// Entry describes one session of a list. Title is the one set by a person, else the first
// words of the first prompt; it is one line of untrusted text.
type Entry struct {
	ID     string
	Title  string
	Used   time.Time // last use
	Size   int64     // bytes
	Header Header    // without its MAC
}

// List returns the sessions, the last used first, without invalid files. It caches its results
// in an index beside the sessions, which is rebuilt when it is missing or wrong: only changed
// files are read.
func (s Store) List() ([]Entry, error) {
	all, changed, err := s.stat(s.readIndex())
	if err != nil {
		return nil, err
	}
	stale := s.refresh(all)
	sortEntries(all)
	if stale || changed {
		s.saveIndex(all)
	}
	entries := make([]Entry, 0, len(all))
	for i := range all {
		if all[i].valid {
			entries = append(entries, all[i].Entry)
		}
	}
	return entries, nil
}

// refresh reads the files that changed since all was known, on all processors, and reports
// whether there were any.
func (s Store) refresh(all []indexed) (stale bool) {
	var (
		next atomic.Int64
		read atomic.Bool
	)
	onProcessors(func(int, int) {
		r := newDescriber(s)
		for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
			if e := &all[i]; !e.fresh {
				r.describe(e)
				read.Store(true)
			}
		}
	})
	return read.Load()
}

// Entry returns what a list says of one session, or an error that wraps ErrNone if it has no
// file yet.
func (s Store) Entry(id string) (Entry, error) {
	if err := CheckID(id); err != nil {
		return Entry{}, err
	}
	e := indexed{Entry: Entry{ID: id}}
	if info, err := os.Lstat(s.file(id)); err == nil {
		e.Size, e.Used = info.Size(), info.ModTime()
		newDescriber(s).describe(&e)
	}
	if !e.valid {
		return Entry{}, fmt.Errorf("session %s: %w in %s", id, ErrNone, s.dir)
	}
	return e.Entry, nil
}

// LastOfPerson returns the session used last of those that a person began: what goes on where
// somebody sits does not go on with what buddy exec did meanwhile. Where nobody began one it is Last.
func LastOfPerson(s Store) (Entry, error) {
	e, err := s.Last(func(e Entry) bool { return e.Header.By != Exec })
	if errors.Is(err, ErrNone) {
		return s.Last(nil)
	}
	return e, err
}

// Last returns the session used last of those that fit, of all for nil; or ErrNone.
func (s Store) Last(fits func(Entry) bool) (Entry, error) {
	all, _, err := s.stat("")
	if err != nil {
		return Entry{}, err
	}
	sortEntries(all)
	r := newDescriber(s)
	for i := range all {
		if e := &all[i]; !e.fresh {
			r.describe(e)
		}
		if all[i].valid && (fits == nil || fits(all[i].Entry)) {
			return all[i].Entry, nil
		}
	}
	return Entry{}, fmt.Errorf("%w in %s", ErrNone, s.dir)
}

// Find returns the only id that begins with prefix. Otherwise the error names similar ids.
func (s Store) Find(prefix string) (string, error) {
	if err := CheckID(prefix); err != nil {
		return "", err
	}
	all, _, err := s.stat("")
	if err != nil {
		return "", err
	}
	sortEntries(all)
	if len(all) == 0 {
		return "", fmt.Errorf("session %q: %w in %s", prefix, ErrNone, s.dir)
	}
	var found []string
	for _, e := range all {
		if e.ID == prefix {
			return prefix, nil
		}
		if strings.HasPrefix(e.ID, prefix) {
			found = append(found, e.ID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("session %q could be one of %d: %s", prefix, len(found), some(found))
	}
	for _, e := range all {
		found = append(found, e.ID)
	}
	slices.SortStableFunc(found, func(a, b string) int { return common(b, prefix) - common(a, prefix) })
	return "", fmt.Errorf("no session %q in %s (nearest: %s)", prefix, s.dir, some(found))
}

// FindTitle returns the id of the only session whose title is words, else of the only one whose title has all
// of them, in any case of letters and any order. An error that wraps ErrNone means that no title has them.
func FindTitle(s Store, words string) (string, error) {
	all, err := s.List()
	if err != nil {
		return "", err
	}
	wanted := strings.Fields(strings.ToLower(words))
	var same, similar []Entry
	for _, e := range all {
		title := strings.ToLower(e.Title)
		if strings.EqualFold(strings.Join(wanted, " "), title) {
			same = append(same, e)
		}
		if len(wanted) > 0 && !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(title, w) }) {
			similar = append(similar, e)
		}
	}
	found := same
	if len(found) == 0 {
		found = similar
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w whose title has %q, in %s", ErrNone, words, s.dir)
	case 1:
		return found[0].ID, nil
	}
	var ids []string
	for _, e := range found {
		ids = append(ids, fmt.Sprintf("%s (%s)", e.ID, e.Title))
	}
	return "", fmt.Errorf("%q is in the titles of %d sessions: %s", words, len(found), some(ids))
}

// some joins the first of ids.
func some(ids []string) string {
	if len(ids) > maxNear {
		return strings.Join(ids[:maxNear], ", ") + ", …"
	}
	return strings.Join(ids, ", ")
}

// common counts the positions at which a and b have the same byte, so that an id with a
// mistyped character in the middle still counts as similar.
func common(a, b string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// sortEntries sorts by last use, the latest first.
func sortEntries(all []indexed) {
	slices.SortFunc(all, func(a, b indexed) int {
		if c := b.Used.Compare(a.Used); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// stat lists the folder without opening files. Entries of the index that are still up to date
// are marked fresh; the others have to be described. changed reports whether the index has other files.
func (s Store) stat(index string) (all []indexed, changed bool, err error) {
	dir, err := os.Open(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("sessions folder: %w", err)
	}
	defer dir.Close() //nolint:errcheck // only read
	var looked sync.WaitGroup
	looked.Go(func() { all = statIndex(int(dir.Fd()), index) })
	names, err := dir.Readdirnames(-1)
	looked.Wait()
	if err != nil {
		return nil, false, fmt.Errorf("sessions folder: %w", err)
	}
	if same(all, names) {
		return all, false, nil
	}
	there := make(map[string]bool, len(all))
	all = slices.DeleteFunc(all, func(e indexed) bool { // in their order, which is nearly sorted
		twice := there[e.ID]
		there[e.ID] = true
		return e.gone || twice
	})
	old := len(all)
	for _, name := range names {
		if id, ok := sessionID(name); ok && !there[id] {
			all = append(all, indexed{Entry: Entry{ID: id}})
		}
	}
	added := all[old:]
	onProcessors(func(i, n int) { statAll(int(dir.Fd()), added[len(added)*i/n:len(added)*(i+1)/n]) })
	return slices.DeleteFunc(all, func(e indexed) bool { return e.gone }), true, nil
}

// sessionID returns the id of the session whose file has a name.
func sessionID(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ext)
	return id, ok && CheckID(id) == nil
}

// same reports whether all are the sessions among these names, each once. It compares sums of hashes: a map of
// them would be a fifth of what a list costs.
func same(all []indexed, names []string) bool {
	seed := maphash.MakeSeed()
	var count int
	var sum uint64
	for _, name := range names {
		if id, ok := sessionID(name); ok {
			count, sum = count+1, sum+maphash.String(seed, id)
		}
	}
	for i := range all {
		if all[i].gone {
			return false
		}
		sum -= maphash.String(seed, all[i].ID)
	}
	return count == len(all) && sum == 0
}

// onProcessors calls work n times at once, with the numbers from 0 to n-1, and waits.
func onProcessors(work func(i, n int)) {
	var workers sync.WaitGroup
	n := min(runtime.GOMAXPROCS(0), 8)
	for i := range n {
		workers.Go(func() { work(i, n) })
	}
	workers.Wait()
}

// statIndex parses the lines of the index and stats their files, which is the largest cost of a list.
func statIndex(dir int, index string) []indexed {
	// from returns where the first line of part i of n begins.
	from := func(i, n int) int {
		at := len(index) * i / n
		if at == 0 || at == len(index) {
			return at
		}
		if end := strings.IndexByte(index[at-1:], '\n'); end >= 0 {
			return at + end
		}
		return len(index)
	}
	all := make([]indexed, strings.Count(index, "\n"))
	onProcessors(func(i, n int) {
		first, end := from(i, n), from(i+1, n)
		part := all[strings.Count(index[:first], "\n"):strings.Count(index[:end], "\n")]
		parseIndex(part, index[first:end])
		statAll(dir, part)
	})
	return all
}

func statAll(dir int, all []indexed) {
	var st unix.Stat_t
	for i := range all {
		all[i].stat(dir, &st)
	}
}

// stat fills in the facts of the file system. A changed file is not fresh any more.
func (e *indexed) stat(dir int, st *unix.Stat_t) {
	if e.gone {
		return
	}
	err := unix.Fstatat(dir, e.ID+ext, st, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		e.gone = true // or it was never a session
		return
	}
	used := time.Unix(st.Mtim.Unix())
	e.fresh = e.fresh && st.Size == e.Size && used.Equal(e.Used)
	if !e.fresh && st.Size < e.scanned {
		e.scanned = 0
	}
	e.Size, e.Used = st.Size, used
}

// shorten returns the first words of text as one line.
func shorten(text string) string {
	if len(text) > 8*titleRunes {
		text = text[:8*titleRunes]
	}
	words := []rune(oneLine(text))
	if len(words) <= titleRunes {
		return string(words)
	}
	return string(words[:titleRunes-1]) + "…"
}

// oneLine returns text without control characters, with one space between words.
func oneLine(text string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(clean), " ")
}
