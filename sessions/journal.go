package sessions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"buddy/agent/event"
)

// Reasons why a journal is read-only. Test for them with errors.Is.
var (
	// ErrLocked means that another process writes to the session. It can be read.
	ErrLocked = errors.New("another process is using it")
	// ErrUntrusted means that the session was not written on this machine. A person may inspect it and then call
	// Store.Trust.
	ErrUntrusted = errors.New("it was not written on this machine")
	// ErrClosed means that Close was called.
	ErrClosed = errors.New("it is closed")
)

const keepBuf = 1 << 20 // bytes of line buffer kept for reuse

// Info describes an open session.
type Info struct {
	Header   Header
	Trusted  bool   // written on this machine, or confirmed by a person
	LastSeq  uint64 // seq of the last envelope at the time of opening; 0 if there was none
	Warnings []string
}

// Journal is one open session. Any goroutine may use it. Everything that Append wrote survives the end of the process.
// Everything older than a second, and everything up to the last approval, also survives a power loss. So does a
// finished turn once the next tool starts or its task ends; the next request to the model does not wait for the disk.
type Journal struct {
	path   string
	f      *os.File
	head   int64 // bytes of line 1
	info   Info
	locked bool   // by this process
	key    []byte // of this machine; nil: there is none

	mu     sync.Mutex // guards the fields below
	size   int64      // bytes of complete lines
	format int        // the file's format
	last   uint64     // seq of the last envelope
	cause  error      // why the journal is read-only
	line   []byte
	disk   disk
}

// Info describes the session at the time it was opened.
func (j *Journal) Info() Info { return j.info }

// ReadOnly returns why the journal can't be written (ErrLocked, ErrUntrusted, a full disk …), or nil. Append then
// returns the same error.
func (j *Journal) ReadOnly() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.readOnly()
}

func (j *Journal) readOnly() error {
	if j.cause == nil {
		return nil
	}
	return fmt.Errorf("session file %s is read-only: %w", j.path, j.cause)
}

// Append writes env as one line. When it returns nil, the line is in the file, and an approval is also on the disk. The
// end of a turn is synced before the start of a tool, an approval or the end of a task is written. The seq of env must
// be above all earlier ones, and env must be durable. After an error of the file system the journal stays read-only,
// and its contents stay valid.
func (j *Journal) Append(env event.Envelope) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.readOnly(); err != nil {
		return err
	}
	if err := j.encode(env); err != nil {
		return err
	}
	if err := j.raise(env.Payload); err != nil {
		return j.fail(err)
	}
	if err := j.disk.awaitTurn(env.Payload); err != nil {
		return j.fail(err)
	}
	if err := j.write(j.line); err != nil {
		return j.fail(err)
	}
	j.last = env.Seq
	if err := j.toDisk(env.Payload); err != nil {
		return j.fail(err)
	}
	return nil
}

// encode writes env's line to j.line.
func (j *Journal) encode(env event.Envelope) error {
	switch {
	case env.Payload == nil:
		return fmt.Errorf("session file %s: event %d has no payload", j.path, env.Seq)
	case !event.Durable(env.Payload):
		return fmt.Errorf("session file %s: event %d: %s is transient", j.path, env.Seq, event.Type(env.Payload))
	case env.Seq > maxSeq:
		return fmt.Errorf("session file %s: event %d: the largest number is %d", j.path, env.Seq, uint64(maxSeq))
	case env.Seq <= j.last:
		return fmt.Errorf("session file %s: event %d comes after event %d", j.path, env.Seq, j.last)
	}
	if cap(j.line) > keepBuf {
		j.line = nil
	}
	line, err := env.AppendJSON(j.line[:0])
	if err != nil {
		return fmt.Errorf("session file %s: %w", j.path, err)
	}
	j.line = append(line, '\n')
	if n := len(j.line); n > maxLine {
		return fmt.Errorf("session file %s: event %d: %s has %d bytes (at most %d)", j.path, env.Seq, event.Type(env.Payload), n, maxLine)
	}
	return nil
}

// write appends line with one system call, completely or not at all.
func (j *Journal) write(line []byte) error {
	if fi, err := j.f.Stat(); err != nil {
		return err
	} else if nlink(fi) == 0 {
		return j.removed()
	}
	n, err := j.f.Write(line)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, j.f.Truncate(j.size))
		}
		return err
	}
	j.size += int64(n)
	return nil
}

// removed writes the contents of the removed file to a new one, which can be resumed after a restart, and returns an
// error that explains this. This journal stays read-only, because the removal may have been intended.
func (j *Journal) removed() error {
	const why = "the file was removed while it was in use"
	err := os.MkdirAll(filepath.Dir(j.path), 0o700)
	if err == nil {
		err = j.copyTo(j.path)
	}
	if err != nil {
		return fmt.Errorf("%s, and its content can't be saved again: %w", why, err)
	}
	return errors.New(why + "; the whole session was saved again and can be resumed")
}

// copyTo writes the complete lines to a new file.
func (j *Journal) copyTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.NewSectionReader(j.f, 0, j.size))
	if err = errors.Join(err, datasync(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // half a session is useless
	}
	return nil
}

// nlink returns the number of a file's hard links.
func nlink(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// fail makes the journal read-only.
func (j *Journal) fail(cause error) error {
	if j.cause == nil {
		j.cause = cause
	}
	return j.readOnly()
}

// Close syncs the rest and unlocks the session for other processes. Closing again does nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	var err error
	if errors.Is(j.cause, ErrClosed) {
		j.mu.Unlock()
		return nil
	}
	if j.disk.timer != nil {
		err = j.disk.syncAll(j.f)
	}
	err = errors.Join(err, j.disk.settle())
	j.cause = ErrClosed
	j.mu.Unlock()
	j.disk.background.Wait()
	return errors.Join(err, j.unlock(), j.f.Close())
}

// lock makes this process the only writer, until the file is closed or the process ends in any way.
func (j *Journal) lock() error {
	err := syscall.Flock(int(j.f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		if text, err := readSmall(j.pidPath()); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
				return fmt.Errorf("process %d: %w", pid, ErrLocked)
			}
		}
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	j.locked = true
	if opened, err := j.f.Stat(); err != nil || !isAt(opened, j.path) {
		return errors.Join(fmt.Errorf("%s was moved or removed while it was opened", j.path), err, j.unlock())
	}
	// The file tells others our pid. An existing one remains from a crash, or is a trap.
	os.Remove(j.pidPath()) //nolint:errcheck // then the next line does nothing
	if f, err := os.OpenFile(j.pidPath(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		fmt.Fprintln(f, os.Getpid()) //nolint:errcheck // see above
		f.Close()                    //nolint:errcheck // see above
	}
	return nil
}

// isAt reports whether a file is still at a path.
func isAt(file fs.FileInfo, path string) bool {
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(file, there)
}

// unlock lets other processes write. Closing the file would not unlock it at once, because a child process shares the
// file until it executes its own program.
func (j *Journal) unlock() error {
	if !j.locked {
		return nil
	}
	os.Remove(j.pidPath()) //nolint:errcheck // only tells others our pid
	return syscall.Flock(int(j.f.Fd()), syscall.LOCK_UN)
}

func (j *Journal) pidPath() string { return strings.TrimSuffix(j.path, ext) + ".pid" }
