package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"buddy/agent/event"
)

// ErrNone says that no session has been saved yet.
var ErrNone = errors.New("no session has been saved")

const (
	titleRunes = 60
	titleBytes = 4 << 20 // of a file that are searched for the first prompt
	maxNear    = 5       // ids that an error names
)

// Entry is one session of a list. Title holds the first words of the first prompt;
// it is one line, and still text that anyone may have written.
type Entry struct {
	ID     string
	Title  string
	Used   time.Time // last use
	Size   int64     // bytes
	Header Header
}

// List returns the sessions, the last used first (J05). Files that are not valid are
// left out. It reads the first lines of each file only.
func (s Store) List() ([]Entry, error) {
	all, err := s.stat()
	if err != nil {
		return nil, err
	}
	var (
		next    atomic.Int64
		workers sync.WaitGroup
		valid   = make([]bool, len(all))
	)
	for range min(runtime.GOMAXPROCS(0), 8) {
		workers.Go(func() {
			r := bufio.NewReaderSize(nil, 4096)
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				valid[i] = s.describe(&all[i], r)
			}
		})
	}
	workers.Wait()
	i := -1
	return slices.DeleteFunc(all, func(Entry) bool { i++; return !valid[i] }), nil
}

// Last returns the session that was used last, or ErrNone (J07).
func (s Store) Last() (Entry, error) {
	all, err := s.stat()
	if err != nil {
		return Entry{}, err
	}
	for _, e := range all {
		if s.describe(&e, bufio.NewReader(nil)) {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("%w in %s", ErrNone, s.dir)
}

// Find returns the id that begins with prefix. The error names those that are near
// when there is none or more than one (J11).
func (s Store) Find(prefix string) (string, error) {
	if err := CheckID(prefix); err != nil {
		return "", err
	}
	all, err := s.stat()
	if err != nil {
		return "", err
	}
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

// some joins the first of ids.
func some(ids []string) string {
	if len(ids) > maxNear {
		return strings.Join(ids[:maxNear], ", ") + ", …"
	}
	return strings.Join(ids, ", ")
}

// common counts the bytes that a and b share at the same place: a mistyped
// character in the middle still leaves an id near.
func common(a, b string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// stat returns the sessions in the order of List without opening them.
func (s Store) stat() ([]Entry, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sessions folder: %w", err)
	}
	var all []Entry
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ext)
		if !ok || !f.Type().IsRegular() || CheckID(id) != nil {
			continue
		}
		if fi, err := f.Info(); err == nil { // else it was removed just now
			all = append(all, Entry{ID: id, Used: fi.ModTime(), Size: fi.Size()})
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		if c := b.Used.Compare(a.Used); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, nil
}

// describe fills in Header and Title; it is false for a file that holds no session or
// an empty one. It reads through r.
func (s Store) describe(e *Entry, r *bufio.Reader) bool {
	f, err := s.openFile(e.ID, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	n := 0
	r.Reset(io.LimitReader(f, titleBytes))
	_, err = scan(r, titleBytes, func(_ int64, line []byte) bool {
		n++
		if n == 1 {
			e.Header, _ = parseHeader(line) // empty after an error
			return e.Header.Format == Format
		}
		text, ok := promptText(line)
		e.Title = shorten(text)
		return !ok
	})
	return err == nil && e.Header.Format == Format && n > 1
}

// promptText returns the text of a line that holds a prompt. It decodes nothing else
// of it: a list has thousands.
func promptText(line []byte) (string, bool) {
	if !bytes.Contains(line, promptType) {
		return "", false
	}
	var env struct {
		Type    string                `json:"type"`
		Payload event.PromptSubmitted `json:"payload"`
	}
	err := json.Unmarshal(line, &env)
	return env.Payload.Text, err == nil && env.Type == event.PromptSubmitted{}.Type()
}

var promptType = []byte(`"type":"` + event.PromptSubmitted{}.Type() + `"`)

// shorten returns the first words of text as one line.
func shorten(text string) string {
	if len(text) > 8*titleRunes {
		text = text[:8*titleRunes]
	}
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	words := []rune(strings.Join(strings.Fields(clean), " "))
	if len(words) <= titleRunes {
		return string(words)
	}
	return string(words[:titleRunes-1]) + "…"
}
