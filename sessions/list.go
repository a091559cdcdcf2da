package sessions

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"buddy/texts"

	"golang.org/x/sys/unix"
)

// ErrNone means that no session has been saved yet.
var ErrNone = errors.New("no session has been saved")

const (
	titleRunes = 60
	maxNear    = 5 // ids named in an error
)

// Entry describes one session of a list. Title is the one set by a person, else the first words of the first prompt; it
// is one line of untrusted text.
type Entry struct {
	ID     string
	Title  string
	Used   time.Time // last use
	Size   int64     // bytes
	Header Header    // without its MAC

	// Problem explains why the session can't be opened, such as a damaged first line, and how to repair it; "" if it
	// can. Header is then empty, and Title is the first prompt if that is readable.
	Problem string

	valid   bool  // the file has a session with at least one event
	named   bool  // a person set Title
	scanned int64 // bytes searched for such a title
	fresh   bool  // everything is up to date
	gone    bool  // the file does not exist, or can't be a session
}

// List returns the sessions, last used first, including those with a Problem. It reads only files that have changed or
// are invalid, because it caches its results in an index in the sessions' folder, which it rebuilds when the index is
// missing or wrong.
func (s Store) List() ([]Entry, error) {
	dir, err := s.openDir()
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // only read
	all, changed, err := stat(dir, s.readIndex())
	if err != nil {
		return nil, err
	}
	stale := refresh(s, dir, all)
	sortEntries(all)
	if stale || changed {
		s.saveIndex(all)
	}
	return slices.DeleteFunc(all, func(e Entry) bool { return !e.valid && e.Problem == "" }), nil
}

// Damaged returns the sessions of a store that can't be opened, last used first.
func Damaged(s Store) ([]Entry, error) {
	all, err := s.List()
	return slices.DeleteFunc(all, func(e Entry) bool { return e.Problem == "" }), err
}

// refresh reads the files that changed since the index was written, on all processors, and reports whether there were
// any. It reads invalid files again, because their problem may disappear without a change of the file.
func refresh(s Store, dir *os.File, all []Entry) (stale bool) {
	var unsure []*Entry
	for i := range all {
		stale = stale || !all[i].fresh
		if !all[i].fresh || !all[i].valid {
			unsure = append(unsure, &all[i])
		}
	}
	inParallel(len(unsure), func(each iter.Seq[int]) {
		r := newDescriber(s, dir)
		for i := range each {
			r.describe(unsure[i])
		}
	})
	return stale
}

// Entry returns the list entry of one session, or an error that wraps ErrNone if it has no file yet.
func (s Store) Entry(id string) (Entry, error) {
	if err := CheckID(id); err != nil {
		return Entry{}, err
	}
	dir, err := s.openDir()
	if err != nil {
		return Entry{}, fmt.Errorf("session %s: %w", id, err)
	}
	defer dir.Close() //nolint:errcheck // only read
	e := Entry{ID: id}
	if e.stat(int(dir.Fd()), new(unix.Stat_t)); !e.gone {
		newDescriber(s, dir).describe(&e)
	}
	switch {
	case e.Problem != "":
		return Entry{}, fmt.Errorf("session %s: %s", id, e.Problem)
	case !e.valid:
		return Entry{}, fmt.Errorf("session %s: %w in %s", id, ErrNone, s.dir)
	}
	return e, nil
}

// LastOfPerson returns the last used session that a person started in a folder, else in another folder of the project,
// so that a person does not continue a session of buddy exec. If no person started one, it returns the last used
// session. passed lists sessions that were used later but can't be opened.
func LastOfPerson(s Store, cwd string) (last Entry, passed []Entry, err error) {
	all, err := s.List()
	if err != nil {
		return Entry{}, nil, err
	}
	byPerson := func(e Entry) bool { return e.Header.By != Exec }
	here := func(e Entry) bool { return byPerson(e) && e.Header.Cwd == cwd }
	for _, fits := range []func(Entry) bool{here, byPerson, func(Entry) bool { return true }} {
		if i := slices.IndexFunc(all, func(e Entry) bool { return e.Problem == "" && fits(e) }); i >= 0 {
			last = all[i]
			return last, slices.DeleteFunc(all[:i], func(e Entry) bool { return e.Problem == "" }), nil
		}
	}
	err = fmt.Errorf("%w in %s", ErrNone, s.dir)
	if len(all) > 0 {
		err = fmt.Errorf("%w that can be opened: session %s: %s", err, all[0].ID, all[0].Problem)
	}
	return Entry{}, all, err
}

// Last returns the last used session, or ErrNone. If that session can't be opened, it returns an error, never another
// session.
func (s Store) Last() (Entry, error) {
	dir, err := s.openDir()
	if err != nil {
		return Entry{}, err
	}
	defer dir.Close() //nolint:errcheck // only read
	all, _, err := stat(dir, nil)
	if err != nil {
		return Entry{}, err
	}
	sortEntries(all)
	r := newDescriber(s, dir)
	for i := range all {
		e := &all[i]
		r.describe(e)
		switch {
		case e.Problem != "":
			return Entry{}, fmt.Errorf("the session used last, %s, can't be opened: %s", e.ID, e.Problem)
		case e.valid:
			return *e, nil
		}
	}
	return Entry{}, fmt.Errorf("%w in %s", ErrNone, s.dir)
}

// Find returns the only id that begins with prefix. Otherwise the error names similar ids.
func (s Store) Find(prefix string) (string, error) {
	if err := CheckID(prefix); err != nil {
		return "", err
	}
	dir, err := s.openDir()
	if err != nil {
		return "", fmt.Errorf("session %q: %w", prefix, err)
	}
	defer dir.Close() //nolint:errcheck // only read
	all, _, err := stat(dir, nil)
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
	return "", fmt.Errorf("no session %q in %s (nearest: %s); buddy finds only the sessions of the folder in which it was started", prefix, s.dir, some(found))
}

// FindTitle returns the id of the only session whose title is the given words, else of the only one whose title
// contains all of them, in any order and ignoring case. An error that wraps ErrNone means that no title matches.
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

// some joins the first ids.
func some(ids []string) string {
	if len(ids) > maxNear {
		return strings.Join(ids[:maxNear], ", ") + ", …"
	}
	return strings.Join(ids, ", ")
}

// common counts the positions at which a and b have the same byte, so that an id with a wrong character in the middle
// still counts as similar.
func common(a, b string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// sortEntries sorts by last use, latest first.
func sortEntries(all []Entry) {
	slices.SortFunc(all, func(a, b Entry) int {
		if c := b.Used.Compare(a.Used); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// openDir opens the folder for listing. The error wraps ErrNone if the folder does not exist yet.
func (s Store) openDir() (*os.File, error) {
	dir, err := os.Open(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w in %s", ErrNone, s.dir)
	case err != nil:
		return nil, fmt.Errorf("sessions folder: %w", err)
	}
	return dir, nil
}

// stat lists the folder without opening files. It marks entries of the index that are up to date as fresh; the others
// must be described. changed reports whether the files in the folder differ from those in the index.
func stat(dir *os.File, index []indexed) (all []Entry, changed bool, err error) {
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
	all = slices.DeleteFunc(all, func(e Entry) bool { // in the order of the index, which is nearly sorted
		twice := there[e.ID]
		there[e.ID] = true
		return e.gone || twice
	})
	old := len(all)
	all = slices.Grow(all, max(0, len(names)-old))
	for _, name := range names {
		if id, ok := sessionID(name); ok && !there[id] {
			all = append(all, Entry{ID: id})
		}
	}
	added := all[old:]
	inParallel(len(added), func(each iter.Seq[int]) {
		var st unix.Stat_t
		for i := range each {
			added[i].stat(int(dir.Fd()), &st)
		}
	})
	return slices.DeleteFunc(all, func(e Entry) bool { return e.gone }), true, nil
}

// sessionID returns the id of the session with a file name.
func sessionID(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ext)
	return id, ok && CheckID(id) == nil
}

// same reports whether a list has exactly the sessions with these names, each once. It compares sums of hashes, because
// a map of the names would take a fifth of the time of a list.
func same(all []Entry, names []string) bool {
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

// inParallel splits the numbers below n over calls of work on several processors, and waits for the calls. Each call
// gets a few numbers at a time, so that all calls end at about the same time.
func inParallel(n int, work func(each iter.Seq[int])) {
	var next atomic.Int64
	workers := min(runtime.GOMAXPROCS(0), 8, n)
	size := max(1, min(64, n/16/max(1, workers)))
	each := func(yield func(int) bool) {
		for {
			end := int(next.Add(int64(size)))
			for i := end - size; i < min(end, n); i++ {
				if !yield(i) {
					return
				}
			}
			if end >= n {
				return
			}
		}
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { work(each) })
	}
	all.Wait()
}

// statIndex parses the index and stats its files, which is the largest cost of a list.
func statIndex(dir int, index []indexed) []Entry {
	all := make([]Entry, len(index))
	inParallel(len(all), func(each iter.Seq[int]) {
		var st unix.Stat_t
		for i := range each {
			all[i].parse(index[i])
			all[i].stat(dir, &st)
		}
	})
	return all
}

// stat sets the facts of the file system. A changed file is not fresh any more.
func (e *Entry) stat(dir int, st *unix.Stat_t) {
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
	cut := len(text) > 8*titleRunes
	if cut {
		text = text[:8*titleRunes]
	}
	words := []rune(oneLine(text))
	if len(words) <= titleRunes && !cut {
		return string(words)
	}
	return string(words[:min(len(words), titleRunes-1)]) + "…"
}

// oneLine returns text without control characters, with one space between words.
func oneLine(text string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return texts.OneLine(clean)
}
