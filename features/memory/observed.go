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

// Limits of the file of observations: records kept of each kind; the oldest are dropped.
const (
	MaxObservations = 10_000
	MaxCorrections  = 1_000
	maxProposals    = 100
	maxFrom         = 8 // sources listed in an entry
)

// observedFile is the file of records in the folder of memory.
const observedFile = "observed.jsonl"

// Kinds of records. The file is append-only: answered and used refer to earlier records.
const (
	observation = "observation" // output of a tool
	correction  = "correction"  // a call that the person rejected or changed
	remark      = "said"        // a sentence of the person
	proposal    = "proposal"    // an entry that the person may accept
	answered    = "answered"    // the person has decided about a proposal
	used        = "used"        // records that teach nothing any more, because Distill used them or they no longer hold
)

// Record is one line of the file. Its texts have no secrets.
type Record struct {
	Kind    string    `json:"kind"` // first in its line, so that most lines can be filtered without decoding
	ID      string    `json:"id,omitempty"`
	Time    time.Time `json:"time"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`
	Source  string    `json:"source,omitempty"` // tool:NAME, denied:NAME, edited:NAME, undone:NAME, prompt, or the author of a proposal
	Target  string    `json:"target,omitempty"`
	Tags    []string  `json:"tags,omitempty"`
	Text    string    `json:"text,omitempty"` // at most MaxText characters

	*Corrected
	*Proposed
	IDs []string `json:"ids,omitempty"` // of used and answered: the records they refer to
}

// Corrected holds the fields of a record that only corrections have.
type Corrected struct {
	Original  string `json:"original"`            // at most MaxText characters
	Corrected string `json:"corrected,omitempty"` // in the person's words or as a command
	Context   string `json:"context"`             // shared by similar corrections
}

// Proposed holds the fields of a record that only proposals have.
type Proposed struct {
	EntryKind Kind     `json:"entry"`
	Scope     Scope    `json:"scope"`
	From      []string `json:"from,omitempty"`
}

// claims marks an observation that reads like a rule.
const claims = "claim"

// observed is the file of records in a folder.
type observed struct{ dir string }

func (o observed) path() string { return filepath.Join(o.dir, observedFile) }

// lock locks the folder against other sessions, and makes it if it is missing.
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

// Times of waiting for a lock, which others hold for milliseconds.
const (
	lockTime  = 3 * time.Second
	lockPause = 5 * time.Millisecond
)

// flock waits for the lock of a folder. It succeeds without a lock on file systems that have no locks.
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

// open opens the file, but follows no link, because the folder may have come with a repository.
func (o observed) open(flag int) (*os.File, error) {
	f, err := os.OpenFile(o.path(), flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("memory: %s is not a regular file", o.path()), err, f.Close())
	}
	return f, nil
}

// append writes records with one write. The caller holds the lock.
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
	if end, err := endsLine(o.path()); err == nil && !end { // a killed process wrote half a line
		data = append([]byte("\n"), data...)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

// endsLine reports whether a file is empty or ends with a newline.
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

// maxLine limits a line that is read; written lines have at most some 1,500 bytes.
const maxLine = 16 << 10

// read returns the records whose lines the function keep accepts, oldest first, and counts all lines. It skips lines
// that can't be decoded.
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
		for errors.Is(err, bufio.ErrBufferFull) { // too long: skipped
			_, err = r.ReadSlice('\n')
		}
		if whole {
			count++
			if one := (Record{}); keep(line) && json.Unmarshal(line, &one) == nil {
				all = append(all, one)
			}
		}
		if err != nil {
			return all, count, nil //nolint:nilerr // the end of the file; what could be read counts
		}
	}
}

// exists reports whether there is a file of records.
func (o observed) exists() bool {
	if o.dir == "" {
		return false
	}
	_, err := os.Lstat(o.path())
	return err == nil
}

func keepAll([]byte) bool { return true }

// neededForDistilling accepts all lines but observations without a claim.
func neededForDistilling(line []byte) bool {
	return !bytes.HasPrefix(line, []byte(`{"kind":"observation"`)) || bytes.Contains(line, []byte(`"`+claims+`"`))
}

// compact rewrites the file with the newest records within the limits. The caller holds the lock.
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

// within returns the records within the limits of their kinds, and the used and answered records that refer to them.
func within(all []Record) []Record {
	limits := map[string]int{observation: MaxObservations, correction: MaxCorrections, remark: MaxCorrections, proposal: maxProposals}
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

// maxLines is the number of lines at which the file is compacted: twice the number that is kept.
const maxLines = 2 * (MaxObservations + 2*MaxCorrections + maxProposals)

// store appends records and compacts the file when it is too long. lines is the known length, -1 if unknown.
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
