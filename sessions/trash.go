package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"buddy/agent/event"
)

// Limits for unused data, see Collect.
const (
	TrashAge  = 30 * 24 * time.Hour // sessions in the trash
	OutAge    = 90 * 24 * time.Hour // complete outputs of an unused session
	trashName = ".trash"
)

// Rename sets a session's title, one line of at most 60 characters; "" restores the first prompt. It fails while
// another process works on the session.
func (s Store) Rename(id, title string) error {
	j, err := s.Open(id)
	if err != nil {
		return err
	}
	err = j.Append(event.Envelope{
		Seq: event.NextSeq(j.Info().LastSeq), Time: time.Now().UnixMilli(), Session: id, Payload: event.SessionRenamed{Title: shorten(title)},
	})
	return errors.Join(err, j.Close())
}

// Remove moves a session with all its files to the trash, for TrashAge, and returns their new folder. It fails while
// another process works on the session.
func (s Store) Remove(id string) (folder string, err error) {
	f, err := s.openFile(id, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return "", err
	}
	j := &Journal{path: f.Name(), f: f}
	if err := j.lock(); err != nil {
		return "", errors.Join(fmt.Errorf("session %s: %w", id, err), f.Close())
	}
	defer j.Close() //nolint:errcheck // nothing was written
	if folder, err = trashFolder(s, id); err != nil {
		return "", err
	}
	files := []string{filepath.Join(s.dir, id)}
	for _, draft := range s.drafts(id) {
		files = append(files, draft, draft+".lock")
	}
	for _, file := range append(files, filepath.Join(s.dir, id+".trust"), filepath.Join(s.dir, id+hostExt), s.file(id)) { // the session's file last
		err := os.Rename(file, filepath.Join(folder, filepath.Base(file)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("session %s: %w", id, err)
		}
	}
	return folder, nil
}

// trashFolder creates a folder in the trash for the files of a session.
func trashFolder(s Store, id string) (string, error) {
	folder := filepath.Join(s.dir, trashName, strconv.FormatInt(time.Now().UnixNano(), 10)+"-"+id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("trash: %w", err)
	}
	return folder, nil
}

// Collected holds the counts of Collect.
type Collected struct {
	Trash int   // sessions deleted from the trash
	Outs  int   // sessions whose outputs were deleted
	Files int   // outputs of sessions in use that were deleted
	Bytes int64 // of those outputs
}

// Collect deletes sessions that have been in the trash for TrashAge and then does what LimitOutputs does. It never
// deletes a session outside the trash.
func (s Store) Collect(now time.Time, most int64) (Collected, error) {
	var c Collected
	trash, err := os.ReadDir(filepath.Join(s.dir, trashName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("trash: %w", err)
	}
	for _, d := range trash {
		since, _, _ := strings.Cut(d.Name(), "-")
		ns, err := strconv.ParseInt(since, 10, 64)
		if err != nil || now.Sub(time.Unix(0, ns)) < TrashAge {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, trashName, d.Name())); err != nil {
			return c, fmt.Errorf("trash: %w", err)
		}
		c.Trash++
	}
	return c, s.collectOuts(now, most, &c)
}

// out describes the outputs of one session.
type out struct {
	id    string
	used  time.Time
	bytes int64
}

// CollectDaily calls Collect at most once a day.
func (s Store) CollectDaily(now time.Time, most int64) (Collected, error) {
	mark := filepath.Join(s.dir, ".collected")
	fi, err := os.Lstat(mark)
	switch {
	case err == nil && now.Sub(fi.ModTime()) < 24*time.Hour, !exists(s.dir):
		return Collected{}, nil
	case err == nil:
		err = os.Chtimes(mark, now, now)
	default:
		err = os.WriteFile(mark, nil, 0o600)
	}
	if err != nil {
		return Collected{}, fmt.Errorf("sessions folder: %w", err)
	}
	return s.Collect(now, most)
}

// LimitOutputs deletes outputs of sessions unused for OutAge. While all outputs of the folder together have more than
// the given number of bytes, it deletes those of the least recently used sessions. In sessions that a process works on,
// it deletes the oldest outputs of ended commands, and leaves a line in their place.
func LimitOutputs(s Store, now time.Time, most int64) (c Collected, err error) {
	return c, s.collectOuts(now, most, &c)
}

func (s Store) collectOuts(now time.Time, most int64, c *Collected) error {
	outs, err := outs(s)
	if err != nil {
		return err
	}
	var total int64
	var files []outputFile
	for _, o := range outs {
		total += o.bytes
	}
	for _, o := range slices.Backward(outs) { // last used last
		if now.Sub(o.used) < OutAge && total <= most {
			continue
		}
		gone, err := removeOut(s, o.id)
		if err != nil {
			return err
		}
		if gone {
			c.Outs++
			c.Bytes += o.bytes
			total -= o.bytes
		} else {
			files = append(files, outputFiles(s, o.id)...)
		}
	}
	return shrink(files, total-most, most, c)
}

// outputFile is a file with the output of a command.
type outputFile struct {
	path    string
	bytes   int64
	written time.Time
}

// shrink replaces the oldest outputs of ended commands by a line that explains this, until excess bytes are freed.
func shrink(files []outputFile, excess, most int64, c *Collected) error {
	slices.SortFunc(files, func(a, b outputFile) int { return a.written.Compare(b.written) })
	for _, f := range files {
		if excess <= 0 {
			return nil
		}
		if !exists(filepath.Join(filepath.Dir(f.path), "rc")) {
			continue // the command still runs
		}
		line := fmt.Sprintf("[buddy removed this output of %d bytes: the outputs of this project's sessions exceeded %d MB, the limit that is set as outputs in [sessions]]\n", f.bytes, most>>20)
		if err := renameio.WriteFile(f.path, []byte(line), 0o600); err != nil {
			return fmt.Errorf("output %s: %w", f.path, err)
		}
		c.Files++
		c.Bytes += f.bytes
		excess -= f.bytes
	}
	return nil
}

// outs returns the sessions that have outputs, last used first.
func outs(s Store) ([]out, error) {
	dirs, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sessions folder: %w", err)
	}
	var all []out
	for _, d := range dirs {
		if !d.IsDir() || CheckID(d.Name()) != nil || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		o := out{id: d.Name()}
		if fi, err := os.Lstat(s.file(o.id)); err == nil {
			o.used = fi.ModTime()
		} else if fi, err := d.Info(); err == nil {
			o.used = fi.ModTime() // its session does not exist any more
		}
		err := filepath.WalkDir(s.OutDir(o.id), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return ignoreMissing(err)
			}
			if fi, err := d.Info(); err == nil {
				o.bytes += fi.Size()
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("the outputs of session %s: %w", o.id, err)
		}
		if o.bytes > 0 {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b out) int { return b.used.Compare(a.used) })
	return all, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeOut removes the outputs of a session, unless a process works on it.
func removeOut(s Store, id string) (gone bool, err error) {
	f, err := s.openFile(id, os.O_RDWR|os.O_APPEND)
	switch {
	case err == nil:
		j := &Journal{path: f.Name(), f: f}
		if err := j.lock(); err != nil {
			return false, f.Close()
		}
		defer j.Close() //nolint:errcheck // nothing was written
	case exists(s.file(id)):
		return false, nil // unknown whether a process works on it
	}
	if err := os.RemoveAll(s.OutDir(id)); err != nil {
		return false, fmt.Errorf("the outputs of session %s: %w", id, err)
	}
	return true, nil
}
