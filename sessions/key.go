package sessions

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

const keySize = 32

// held is the key of this process and its children if no key can be stored.
var held struct {
	sync.Mutex
	key []byte
}

// HeldKey returns the key with which this process marks sessions if no key can be stored. A child process needs it to
// continue the sessions of this one.
func HeldKey() []byte {
	held.Lock()
	defer held.Unlock()
	if held.key == nil {
		held.key = newKey()
	}
	return held.key
}

// HoldKey makes the key of the parent process the HeldKey of this one.
func HoldKey(key []byte) {
	held.Lock()
	defer held.Unlock()
	held.key = key
}

func newKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	return key
}

// loadKey reads the machine's key. It is nil when there is none.
func loadKey(state string) ([]byte, error) {
	path := KeyFile(state)
	key, err := readSmall(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, err
	case len(key) != keySize:
		return nil, fmt.Errorf("key file %q has %d bytes (want %d); remove it to get a new one", path, len(key), keySize)
	}
	return []byte(key), nil
}

// makeKey does what loadKey does, but creates a missing key. If two processes create it at the same time, both get
// the key of the first. If it returns an error, the key is valid in this process only.
func makeKey(state string) ([]byte, error) {
	key, err := loadKey(state)
	if key == nil && err == nil {
		if err = storeKey(state); err == nil {
			key, err = loadKey(state)
		} else {
			err = notStored(state, err)
		}
	}
	if key == nil {
		key = HeldKey()
	}
	return key, err
}

// storeKey writes a new key, unless there is one.
func storeKey(state string) error {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(state, ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a stale file does no harm
	_, err = f.Write(newKey())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), KeyFile(state)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// notStored explains what to do when no key can be stored.
func notStored(state string, cause error) error {
	return fmt.Errorf("its key can't be stored in %s: %w; make that folder writable, or set XDG_STATE_HOME to one that is", state, cause)
}

// KeyProblem returns why a new session can't be marked as made on this machine, or nil. It creates nothing.
func KeyProblem(s Store) error {
	key, err := loadKey(s.state)
	if key != nil || err != nil {
		return err
	}
	if err := usable(KeyFile(s.state)); err != nil {
		return notStored(s.state, err)
	}
	return nil
}

// keyOf returns the key that marks a session as written or trusted on this machine, nil if there is none. loaded is the
// machine's key.
func keyOf(s Store, id string, h Header, loaded []byte) []byte {
	held.Lock()
	own := held.key
	held.Unlock()
	for _, key := range [][]byte{loaded, own} {
		if s.trusted(id, h, key) {
			return key
		}
	}
	return nil
}

// KeyFile returns the file in the folder of state with the key that marks sessions as this machine's.
func KeyFile(state string) string { return filepath.Join(state, "journal.key") }
