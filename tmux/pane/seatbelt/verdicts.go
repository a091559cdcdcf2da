package seatbelt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"buddy/owners"
)

// Store keeps the results of self-tests in one file of the state folder.
type Store struct {
	File    string
	System  string // for display: macOS 15.1
	Machine string // identifies this machine and its system version
}

// verdict holds the result of one self-test.
type verdict struct {
	Key    string    `json:"key"` // hash of the machine, the system and the rules
	System string    `json:"system"`
	At     time.Time `json:"at"`
	Wrong  []string  `json:"wrong,omitempty"`
}

// Usable returns nil if the sandbox works in the mode of a trial, else the reason. It runs the trial if there is no
// verdict for this machine, its system and these rules, and stores the verdict.
func (s Store) Usable(t Trial) error {
	all, err := s.read()
	if err != nil {
		return err
	}
	v, ok := all[t.Mode]
	if key := s.key(); !ok || v.Key != key {
		wrong, err := t.Run()
		if err != nil {
			return fmt.Errorf("the self-test of macOS's sandbox could not run: %w", err)
		}
		v = verdict{key, s.System, time.Now(), wrong}
		all[t.Mode] = v
		if err := s.write(all); err != nil {
			return fmt.Errorf("the result of the self-test of macOS's sandbox can't be kept: %w", err)
		}
	}
	if len(v.Wrong) > 0 {
		return fmt.Errorf("macOS's sandbox failed its self-test on %s: %s; to test it again, remove %s", v.System, strings.Join(v.Wrong, "; "), s.File)
	}
	return nil
}

// key returns a hash of everything that a verdict depends on.
func (s Store) key() string {
	h, _ := Rules{
		Run: []string{"/1"}, Read: []string{"/2"}, Write: []string{"/3"}, Temp: "/4",
		Hidden: []string{"/5"}, Shown: []string{"/6"}, Kept: []string{"/7"}, Fixed: []string{"/8"}, Network: true, Proxy: 1, Limited: true,
	}.Hold() // no error, because the rules are few
	sum := sha256.Sum256(fmt.Append(nil, s.System, s.Machine, h.args(), canaries))
	return hex.EncodeToString(sum[:])
}

// read returns all verdicts. A file that other users could write is an error.
func (s Store) read() (map[Mode]verdict, error) {
	all := make(map[Mode]verdict)
	err := owners.CheckOwn(s.File)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the results of the self-tests of macOS's sandbox: %w; remove %s", err, s.File)
	}
	return all, nil
}

func (s Store) write(all map[Mode]verdict) error {
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(s.File, append(text, '\n'), 0o600)
}
