package compose

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/adrg/xdg"

	"buddy/config"
)

// copiesDir is the folder in which programs of projects lie while they run.
func copiesDir() string { return filepath.Join(xdg.StateHome, "buddy", "running") }

// copied copies the files that a part names as it is trusted now, lets put write the copies into its command, and returns
// the folder that they are in. The error is that it is not trusted any more.
func (p ProjectPart) copied(put func(*config.Copies) error) (dir string, err error) {
	if err := os.MkdirAll(copiesDir(), 0o700); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(copiesDir(), fmt.Sprint(os.Getpid(), "-")); err != nil {
		return "", err
	}
	p.Files = config.FilesNamed(p.Dir, p.lines...)
	c, err := TrustStore().CopyPart(p.Dir, p.Part, p.lines, dir)
	switch {
	case err != nil:
	case c == nil:
		err = errors.New("it or a file that it names changed since you trusted it (buddy trust)")
	default:
		err = put(c)
	}
	if err != nil {
		_ = os.RemoveAll(dir) // else sweepCopies does
		return "", err
	}
	return dir, nil
}

// program splits what runs into the program and its arguments.
func program(all []string, err error) (string, []string, error) {
	return all[0], all[1:], err
}

// sweepCopies removes what a killed process has left.
func sweepCopies() {
	entries, _ := os.ReadDir(copiesDir()) // mostly there is none
	for _, e := range entries {
		owner, _, _ := strings.Cut(e.Name(), "-")
		if pid, err := strconv.Atoi(owner); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(filepath.Join(copiesDir(), e.Name()))
		}
	}
}
