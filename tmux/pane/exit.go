package pane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Exit describes how a command ended.
type Exit struct {
	Code      int           `json:"code"`                // as in a shell: 128+n after signal n
	Signal    int           `json:"signal,omitempty"`    // signal that ended the shell, 0 when it exited
	Cancelled bool          `json:"cancelled,omitempty"` // cancelled before it ended
	Confined  bool          `json:"confined,omitempty"`  // it ran in the read-only sandbox
	Fenced    bool          `json:"fenced,omitempty"`    // it ran in the workspace sandbox
	Stdout    int64         `json:"stdout"`              // bytes written in total
	Stderr    int64         `json:"stderr"`
	StdoutGap int64         `json:"stdout_gap,omitempty"` // bytes of stdout missing in the file
	StderrGap int64         `json:"stderr_gap,omitempty"`
	Duration  time.Duration `json:"duration"`
	Fault     string        `json:"fault,omitempty"` // an error in running or recording the command; "" if none
	Left      []Left        `json:"left,omitempty"`  // processes that it left running, if the system shows them
	Ended     []string      `json:"ended,omitempty"` // names of processes that it left running and the sandbox ended; untrusted text
}

// Left is a process that a command left behind.
type Left struct {
	Pid  int    `json:"pid"`
	Name string `json:"name"` // name of the program; untrusted text
}

// ReadExit reads the end of the command in dir: a line with the exit code, then a line of JSON
// with the whole [Exit]. The error is [os.ErrNotExist] while the command runs.
func ReadExit(dir string) (Exit, error) {
	b, err := os.ReadFile(filepath.Join(dir, "rc"))
	if err != nil {
		return Exit{}, err
	}
	e, err := parseExit(b)
	if err != nil {
		return Exit{}, fmt.Errorf("%q: %w", filepath.Join(dir, "rc"), err)
	}
	return e, nil
}

func parseExit(b []byte) (Exit, error) {
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	code, err := strconv.Atoi(string(first))
	if err != nil {
		return Exit{}, fmt.Errorf("exit code %q: not a number", first)
	}
	e := Exit{Code: code}
	if len(bytes.TrimSpace(rest)) == 0 {
		return e, nil // a shell script wrote it, which records only the code
	}
	if err := json.Unmarshal(rest, &e); err != nil {
		return Exit{}, err
	}
	e.Code = code
	return e, nil
}

// exitRoom is the space reserved for the end of a command, in bytes: a block of most file systems.
const exitRoom = 4 << 10

// reserveExit reserves space for the end of a command, so that it can be written when the disk is full.
func reserveExit(dir string) error {
	return os.WriteFile(filepath.Join(dir, "rc.new"), make([]byte, exitRoom), 0o600)
}

// WriteExit writes the Exit so that a reader sees all of it or nothing.
func WriteExit(dir string, e Exit) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, "rc")
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE, 0o600) // not truncated: the disk may be full
	if err != nil {
		return err
	}
	n, err := fmt.Fprintf(f, "%d\n%s\n", e.Code, b)
	if err = errors.Join(err, f.Truncate(int64(n)), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
