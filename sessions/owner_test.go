package sessions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/owners"
	"buddy/texts"
)

// If another user could change the folder, its files or a parent folder, sessions are stored in the state folder, and
// the notice explains why.
func TestFoldersOfOthersHoldNoSessions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	const other = 1 // an account that every system has
	for what, prepare := range map[string]func(dir string) error{
		"open":       func(dir string) error { return os.Chmod(dir, 0o777) },
		"open above": func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) },
		"open .buddyx": func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/.buddyx", 0o700), os.Chmod(dir+"/.buddyx", 0o777))
		},
		"his":       func(dir string) error { return os.Chown(dir, other, other) },
		"his above": func(dir string) error { return os.Chown(filepath.Dir(dir), other, other) },
		"planted": func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/.buddyx", 0o777), os.Chown(dir+"/.buddyx", other, other))
		},
		"planted below": func(dir string) error {
			return errors.Join(os.MkdirAll(dir+"/.buddyx/sessions", 0o777), os.Chown(dir+"/.buddyx/sessions", other, other))
		},
	} {
		t.Run(what, func(t *testing.T) {
			if os.Getuid() != 0 && (strings.HasPrefix(what, "his") || strings.HasPrefix(what, "planted")) {
				t.Skip("only root can give files away")
			}
			dir := filepath.Join(t.TempDir(), "above", "work")
			if err := errors.Join(os.MkdirAll(dir, 0o755), prepare(dir)); err != nil {
				t.Fatal(err)
			}
			s, notice, err := Dir(dir, InProject)
			if err != nil || !texts.Below(s.Path(), xdg.StateHome) || !strings.Contains(notice, "another user of this machine could change it") {
				t.Fatalf("%q, %q, %v", s.Path(), notice, err)
			}
			j, err := s.Create(Header{Cwd: dir})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	s, notice, err := Dir(t.TempDir(), InProject)
	if err != nil || notice != "" || texts.Below(s.Path(), xdg.StateHome) {
		t.Errorf("a folder of one's own: %q, %q, %v", s.Path(), notice, err)
	}
}

// A folder that another user creates between the check and the first session is not used.
func TestPlantedSessionsFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	s, _, err := Dir(dir, InProject)
	if err == nil {
		err = errors.Join(os.Mkdir(dir+"/.buddyx", 0o777), os.Chown(dir+"/.buddyx", 1, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(Header{Cwd: dir}); !errors.Is(err, owners.ErrOther) {
		t.Errorf("%v", err)
	}
}
