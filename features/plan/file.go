package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/google/renameio/v2"
)

// MaxBytes limits a plan.
const MaxBytes = 64 << 10

// File is the absolute path of a session's plan on this machine, or "" for a session without one.
type File string

// Read returns the plan in the file. The error's text is for the model.
func (f File) Read() (string, error) {
	if f == "" {
		return "", errors.New("this session has no file for a plan")
	}
	// Does not follow links, and does not block on a pipe.
	file, err := os.OpenFile(string(f), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no plan yet: write it to %s with write_file, then call exit_plan again", f)
	case err != nil:
		return "", fmt.Errorf("the plan can't be read: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", f)
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return "", fmt.Errorf("the plan can't be read: %w", err)
	}
	return check(string(data), f)
}

// check returns a text if it can be a plan.
func check(text string, f File) (string, error) {
	switch {
	case len(text) > MaxBytes:
		return "", fmt.Errorf("%s has more than %d bytes: make the plan shorter", f, MaxBytes)
	case !utf8.ValidString(text):
		return "", fmt.Errorf("%s is not UTF-8 text: write the plan again", f)
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("%s is empty: write the plan to it, then call exit_plan again", f)
	}
	return text, nil
}

// Replace overwrites the plan with a person's text.
func (f File) Replace(text string) error {
	if _, err := check(text, f); err != nil {
		return err
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if err := renameio.WriteFile(string(f), []byte(text), 0o600); err != nil {
		return fmt.Errorf("the plan was not written: %w", err)
	}
	return nil
}

// Discard removes the file.
func (f File) Discard() error {
	if err := os.Remove(string(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the plan was not removed: %w", err)
	}
	return nil
}

// FileIn returns the path of the plan in a session's folder, with symbolic links resolved.
func FileIn(dir string) File {
	rest := "plan.md"
	for at := dir; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return File(filepath.Join(real, rest))
		}
		if at == filepath.Dir(at) {
			return File(filepath.Join(dir, "plan.md"))
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
