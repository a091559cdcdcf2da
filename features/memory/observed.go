package memory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"buddy/owners"
	"buddy/texts"
)

// Limits of the file of observations: records of each kind that it keeps, the oldest are dropped.
const (
	MaxObservations = 10_000
	MaxCorrections  = 1_000
	maxProposals    = 100
	maxFrom         = 8 // sources that an entry names
)

// observedFile is the file with what was observed, in the folder of memory.
const observedFile = "observed.jsonl"

// What a record is of. Records are lines; later ones say what became of earlier ones.
const (
	observation = "observation" // a result of a tool
	correction  = "correction"  // what the person did not want
	said        = "said"        // a sentence of the person
	proposal    = "proposal"    // an entry that the person may accept
	answered    = "answered"    // a proposal that the person has decided about
	used        = "used"        // sources that teach nothing any more: distilling has used them, or they no longer hold
)

// Record holds what was observed once. Its texts have no secrets.
type Record struct {
	Kind    string    `json:"kind"` // first in its line: most are told apart by it without decoding
	ID      string    `json:"id,omitempty"`
	Time    time.Time `json:"time"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`
	Source  string    `json:"source,omitempty"` // tool:NAME, denied:NAME, edited:NAME, undone:NAME, prompt, or who proposes
	Target  string    `json:"target,omitempty"`
	Tags    []string  `json:"tags,omitempty"`
	Text    string    `json:"text,omitempty"` // at most MaxText characters

	*Corrected
	*Proposed
	IDs []string `json:"ids,omitempty"` // of used and answered
}

// Corrected holds what a correction says.
type Corrected struct {
	Original  string `json:"original"`            // at most MaxText characters
	Corrected string `json:"corrected,omitempty"` // what the person wants, in their words or as a command
	Context   string `json:"context"`             // what corrections of the same have in common
}

// Proposed holds what a proposal says.
type Proposed struct {
	EntryKind Kind     `json:"entry"`
	Scope     Scope    `json:"scope"`
	From      []string `json:"from,omitempty"`
}

// claims marks an observation that reads like a rule.
const claims = "claim"

// observed is the file with the records.
type observed struct{ dir string }

func (o observed) path() string { return filepath.Join(o.dir, observedFile) }

// lock locks the folder against other sessions; makes it if there is none.
func (o observed) lock() (unlock func(), err error) {
	if err := makeDir(o.dir, "", 0o700); err != nil {
		return nil, err
	}
	if err := owners.Check(o.dir); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	if err := writeNew(filepath.Join(o.dir, ".gitignore"), "*\n", 0o600); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	f, err := os.Open(o.dir)
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	if err := flock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing unlocks
}

// How long a lock is waited for: others hold it for milliseconds.
const (
	lockTime  = 3 * time.Second
	lockPause = 5 * time.Millisecond
)

// flock waits for the lock of a folder. Some file systems can't lock.
func flock(f *os.File) error {
	for end := time.Now().Add(lockTime); ; time.Sleep(lockPause) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EOPNOTSUPP):
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("memory: lock of %s: %w", f.Name(), err)
		case time.Now().After(end):
			return fmt.Errorf("memory: another session writes in %s for more than %s", f.Name(), lockTime)
		}
	}
}

// open opens the file, which is no link: the folder may have come with a repository.
func (o observed) open(flag int) (*os.File, error) {
	f, err := os.OpenFile(o.path(), flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("memory: %s is no regular file", o.path()), err, f.Close())
	}
	return f, nil
}

// append writes records at the end, with one write. The caller holds the lock.
func (o observed) append(all ...Record) error {
	if len(all) == 0 {
		return nil
	}
	data, err := lines(all)
	if err != nil {
		return err
	}
	f, err := o.open(os.O_WRONLY | os.O_APPEND | os.O_CREATE)
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	if end, err := endsLine(o.path()); err == nil && !end { // a killed process left half a line
		data = append([]byte("\n"), data...)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// endsLine reports whether a file is empty or ends with a line's end.
func endsLine(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return true, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return true, err
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return last[0] == '\n', err
}

func lines(all []Record) ([]byte, error) {
	var b bytes.Buffer
	for _, r := range all {
		data, err := texts.JSON(r)
		if err != nil {
			return nil, fmt.Errorf("memory: %w", err)
		}
		b.Write(bytes.TrimSpace(data))
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// maxLine limits a line that is read; ours have some 1,500 bytes at most.
const maxLine = 16 << 10

// read returns the records that keep accepts, by the bytes of their lines, the oldest first. What can't
// be decoded is left out. It counts all lines.
func (o observed) read(keep func(line []byte) bool) (all []Record, count int, err error) {
	f, err := o.open(os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("memory: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	r := bufio.NewReaderSize(f, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		whole := err == nil
		for errors.Is(err, bufio.ErrBufferFull) { // too long: it is skipped
			_, err = r.ReadSlice('\n')
		}
		if whole {
			count++
			if one := (Record{}); keep(line) && json.Unmarshal(line, &one) == nil {
				all = append(all, one)
			}
		}
		if err != nil {
			return all, count, nil //nolint:nilerr // the end; what can be read counts
		}
	}
}

// exists reports whether anything was observed.
func (o observed) exists() bool {
	if o.dir == "" {
		return false
	}
	_, err := os.Lstat(o.path())
	return err == nil
}

// keepAll keeps all lines.
func keepAll([]byte) bool { return true }

// neededForDistilling keeps the lines that distilling needs: few of those with observations.
func neededForDistilling(line []byte) bool {
	return !bytes.HasPrefix(line, []byte(`{"kind":"observation"`)) || bytes.Contains(line, []byte(`"`+claims+`"`))
}

// compact rewrites the file with what is within the limits, the newest. The caller holds the lock.
func (o observed) compact() error {
	all, _, err := o.read(keepAll)
	if err != nil {
		return err
	}
	data, err := lines(within(all))
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(o.path(), data, 0o600, renameio.WithTempDir(o.dir)); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// within returns the records that are within the limits of their kinds, and of those that only say what
// became of others what these need.
func within(all []Record) []Record {
	limits := map[string]int{observation: MaxObservations, correction: MaxCorrections, said: MaxCorrections, proposal: maxProposals}
	kept := make(map[string]bool)
	keep := make([]bool, len(all))
	for i, r := range slices.Backward(all) {
		if left, ok := limits[r.Kind]; ok && left > 0 {
			limits[r.Kind]--
			keep[i], kept[r.ID] = true, true
		}
	}
	var out []Record
	for i, r := range all {
		if !keep[i] {
			if r.Kind != used && r.Kind != answered {
				continue
			}
			if r.IDs = slices.DeleteFunc(r.IDs, func(id string) bool { return !kept[id] }); len(r.IDs) == 0 {
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// maxLines limits the lines of the file before it is compacted: twice what is kept.
const maxLines = 2 * (MaxObservations + 2*MaxCorrections + maxProposals)

// store writes records, and compacts the file when it has twice as many as are kept.
func (o observed) store(batch []Record, lines int) (now int, err error) {
	unlock, err := o.lock()
	if err != nil {
		return lines, err
	}
	defer unlock()
	if lines < 0 {
		if _, lines, err = o.read(func([]byte) bool { return false }); err != nil {
			return -1, err
		}
	}
	if err := o.append(batch...); err != nil {
		return lines, err
	}
	if lines += len(batch); lines < maxLines {
		return lines, nil
	}
	return -1, o.compact()
}
