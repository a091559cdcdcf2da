// Package sessions keeps each session in a file of its own: one JSON object per line,
// only ever appended to, so that whatever ends the program ends at most the last line.
//
// Line 1 is a [Header]; every other line is an [event.Envelope]. A [Store] is the
// folder that they are in; a [Journal] is one open session, which one process at a
// time may write. Reading never fails because of a bad line: it is left where it is,
// skipped and named in a warning.
//
//	store, notice, err := sessions.Dir(cwd)
//	j, err := store.Create(sessions.Header{Cwd: cwd, Target: "local", Model: "demo"})
//	err = j.Append(env) // env is in the file when this returns
//	err = j.Close()
//
//	j, err = store.Open(id)    // later: go on with it
//	part, err := j.Tail(200)   // the end first
//	err = j.Older(part, func(env event.Envelope) bool { … })
//
//	all, err := store.List()   // the last used first
//	err = store.Search(ctx, "connection refused", func(h sessions.Hit) bool { … })
package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/adrg/xdg"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"buddy/owners"
	"buddy/texts"
)

// Store is a folder of sessions. It is a value without open files; any goroutine may use it.
type Store struct {
	dir   string // holds <id>.jsonl, drafts and the folders <id>
	state string // the user's state directory for this program
	other string // see Other; "" if there can be none
}

const ext = ".jsonl"

// Dir returns the store of the working directory cwd: .buddyx/sessions in it (.agentx when
// only that exists), or, when that is not writable or another user could change it, a folder of
// the user's state directory, which the notice then names. It creates nothing.
func Dir(cwd string) (s Store, notice string, err error) {
	cwd, err = filepath.Abs(cwd)
	if err != nil {
		return Store{}, "", fmt.Errorf("sessions of %q: %w", cwd, err)
	}
	state := filepath.Join(xdg.StateHome, "buddy")
	root := filepath.Join(cwd, ".buddyx")
	if old := filepath.Join(cwd, ".agentx"); !exists(root) && exists(old) {
		root = old
	}
	local := filepath.Join(root, "sessions")
	sum := sha256.Sum256([]byte(cwd))
	dir := filepath.Join(state, "sessions", filepath.Base(cwd)+"-"+hex.EncodeToString(sum[:4]))
	cause := usable(root, local)
	readable := errors.Is(cause, syscall.EROFS) || errors.Is(cause, syscall.EACCES)
	if err := owners.Check(local); err != nil && (cause == nil || readable) {
		cause, readable = err, false
	}
	if cause == nil {
		return Store{local, state, dir}, "", nil
	}
	if err := usable(dir); err != nil {
		return Store{}, "", fmt.Errorf("no folder for sessions: %s: %w; %s: %w", local, cause, dir, err)
	}
	s = Store{dir: dir, state: state}
	if readable {
		s.other = local
	}
	return s, fmt.Sprintf("sessions are kept in %s, because %s cannot be used: %v", dir, local, cause), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// usable returns why the last of dirs cannot be written or made. None of them may be a
// symbolic link: a cloned repository could redirect sessions anywhere.
func usable(dirs ...string) error {
	for _, d := range dirs {
		if fi, err := os.Lstat(d); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link", d)
		}
	}
	for dir := dirs[len(dirs)-1]; ; dir = filepath.Dir(dir) {
		fi, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir):
			continue
		case errors.Is(err, syscall.ENOTDIR), err == nil && !fi.IsDir():
			return errors.New("a file is in its place")
		case err != nil:
			return err
		}
		return unix.Access(dir, unix.W_OK|unix.X_OK)
	}
}

// Other returns the store that has sessions of the same working directory as well, if there is one: that of the
// working directory while it can't be written, and what was kept in the state directory meanwhile once it can.
func (s Store) Other() (other Store, ok bool) {
	other = Store{dir: s.other, state: s.state}
	return other, s.other != "" && exists(s.other)
}

// Path returns the folder.
func (s Store) Path() string { return s.dir }

// MemoryDir returns the folder for what was learned where the sessions of a store are. It may not exist yet.
func MemoryDir(s Store) string {
	if filepath.Base(s.dir) == "sessions" { // beside it, in .buddyx
		return filepath.Join(filepath.Dir(s.dir), "memory")
	}
	return filepath.Join(s.state, "memory", filepath.Base(s.dir))
}

// OutDir returns the folder for the whole outputs of a session's tools. It may not exist yet.
func (s Store) OutDir(id string) string { return filepath.Join(s.dir, id, "out") }

// File returns the path of a session's file. It may not exist.
func (s Store) File(id string) string { return s.file(id) }

func (s Store) file(id string) string { return filepath.Join(s.dir, id+ext) }

// makeDir makes the folder and excludes it from git.
func (s Store) makeDir() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("sessions folder: %w", err)
	}
	if !texts.Below(s.dir, s.state) { // somebody may have made it meanwhile, in /tmp for example
		if err := owners.Check(s.dir); err != nil {
			return fmt.Errorf("sessions folder: %w", err)
		}
	}
	f, err := os.OpenFile(filepath.Join(s.dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString("*\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("sessions folder: %w", err)
	}
	return nil
}

// Create creates a session and opens it for writing. It sets Format and MAC of h, and ID and
// Created when they are zero. Nothing else is written to the disk before it.
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
	key, keyErr := makeKey(s.state)
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
		if keyErr != nil {
			j.info.Warnings = append(j.info.Warnings, fmt.Sprintf(
				"this session cannot be marked as made on this machine, so resuming it will need a confirmation: %v", keyErr))
		}
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

// Trust records that a person wants to continue a session that was not written on this
// machine. Open it again after that.
func (s Store) Trust(id string) error {
	f, err := s.openFile(id, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	h, _, err := readHeader(f)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	key, err := makeKey(s.state)
	if err != nil {
		return fmt.Errorf("session %s cannot be trusted: %w", id, err)
	}
	return renameio.WriteFile(trustPath(s.file(id)), []byte(h.trustMark(id, key)), 0o600)
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
