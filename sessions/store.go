// Package sessions stores sessions, each in its own file of JSON lines. Lines are only appended, so that a crash
// damages at most the last one.
//
// The first line is a [Header]; every other line is an [event.Envelope]. A [Store] is the folder with the files. A
// [Journal] is an open session; only one process at a time may write to it. Readers skip a bad line and name it in a
// warning.
//
//	store, notice, err := sessions.Dir(cwd, sessions.Automatic)
//	j, err := store.Create(sessions.Header{Cwd: cwd, Target: "local", Model: "demo"})
//	err = j.Append(env) // env is in the file when this returns
//	err = j.Close()
//
//	j, err = store.Open(id)    // later: continue it
//	part, err := j.Tail(200)   // the end first
//	err = j.Older(part, func(env event.Envelope) bool { … })
//
//	all, err := store.List()   // last used first
//	err = store.Search(ctx, "connection refused", func(h sessions.Hit) bool { … })
package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"buddy/owners"
	"buddy/texts"
)

// Store is a folder of sessions. It is a value without open files; any goroutine may use it.
type Store struct {
	dir    string   // holds <id>.jsonl, drafts and the folders <id>
	state  string   // the user's state directory for this program
	root   string   // the project's folder; "" if unknown
	others []string // see Others
}

const ext = ".jsonl"

// OutDir returns the folder for the complete outputs of a session's tools. It may not exist yet.
func (s Store) OutDir(id string) string { return filepath.Join(s.dir, id, "out") }

// File returns the path of a session's file. It may not exist.
func (s Store) File(id string) string { return s.file(id) }

func (s Store) file(id string) string { return filepath.Join(s.dir, id+ext) }

// Path returns the folder.
func (s Store) Path() string { return s.dir }

// makeDir creates the folder. In the state folder it also stores the path of the project; elsewhere it excludes the
// folder from git.
func (s Store) makeDir() error {
	if err := removeLink(s); err != nil {
		return fmt.Errorf("sessions folder: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("sessions folder: %w", err)
	}
	if texts.Below(s.dir, projects(s.state)) {
		if err := writeRoot(s); err != nil {
			return fmt.Errorf("sessions folder: %w", err)
		}
		makeLink(s)
		return nil
	}
	if !texts.Below(s.dir, s.state) { // another user may have created it meanwhile, for example in /tmp
		if err := owners.Check(s.dir); err != nil {
			return fmt.Errorf("sessions folder: %w", err)
		}
	}
	err := writeNew(filepath.Join(s.dir, ".gitignore"), "*\n")
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("sessions folder: %w", err)
	}
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Create creates a session and opens it for writing. It sets Format and MAC of h, and ID and Created if they are zero.
// It is the first call that writes to the disk; the functions that find a store create nothing.
func (s Store) Create(h Header) (*Journal, error) {
	given := h.ID != ""
	if given {
		if err := CheckID(h.ID); err != nil {
			return nil, err
		}
	}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	if h.Created == 0 {
		h.Created = time.Now().UnixMilli()
	}
	h.Format = formatPlain
	key, _ := makeKey(s.state) // KeyProblem reports the error
	for tries := 0; ; tries++ {
		if !given {
			h.ID = NewID()
		}
		j, err := s.create(h, key)
		if errors.Is(err, fs.ErrExist) && !given && tries < 10 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", h.ID, err)
		}
		s.register()
		return j, nil
	}
}

func (s Store) create(h Header, key []byte) (*Journal, error) {
	line, err := h.line(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.file(h.ID), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{path: f.Name(), f: f, head: int64(len(line)), disk: disk{newFile: true}, key: key, format: h.Format}
	j.info = Info{Header: h, Trusted: true}
	j.info.Header.MAC = h.mac(key)
	if err = j.lock(); err == nil {
		err = j.write(line)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close(), os.Remove(f.Name()))
	}
	return j, nil
}

// Trust records that a person wants to continue a session that was not written on this machine. Open the session again
// after that.
func (s Store) Trust(id string) error {
	f, err := s.openFile(id, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	h, _, err := readHeader(f)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, repairFirst(id, err))
	}
	key, err := makeKey(s.state)
	if err != nil {
		return fmt.Errorf("can't save your trust in session %s: %w", id, err)
	}
	if err := renameio.WriteFile(trustPath(s.file(id)), []byte(h.trustMark(id, key)), 0o600); err != nil {
		return fmt.Errorf("can't save your trust in session %s: %w; make %s writable", id, err, s.dir)
	}
	return nil
}

// trustPath returns the path of the file that records a person's trust in a session's file.
func trustPath(file string) string { return strings.TrimSuffix(file, ext) + ".trust" }

// trusted reports whether the session was written on this machine or trusted on it.
func (s Store) trusted(id string, h Header, key []byte) bool {
	if len(key) == 0 {
		return false
	}
	if h.ID == id && h.madeWith(key) {
		return true
	}
	mark, err := readSmall(trustPath(s.file(id)))
	return err == nil && mark == h.trustMark(id, key)
}
