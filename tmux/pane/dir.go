package pane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"buddy/owners"
	"buddy/texts"
	"buddy/tmux/pane/confine"
)

// socketMax is the longest path of a unix socket that every system accepts (macOS: 104).
const socketMax = 103

// MakeDir makes the directory for the socket and the state of the named supervisor, and returns the directory's path.
// It has mode 0700 and is in buddy-UID in /tmp, next to tmux's sockets. MakeDir avoids $XDG_RUNTIME_DIR, which is
// removed when the user logs out, because a command must keep running when the connection drops. $TMUX_TMPDIR replaces
// /tmp, as for tmux's sockets; the directory for temporary files is the last resort. MakeDir fails when somebody else
// owns the directory or could replace it. getenv looks up the environment, usually [os.Getenv].
func MakeDir(getenv func(string) string, name string) (string, error) {
	var errs []error
	for _, base := range Bases(getenv) {
		dir := filepath.Join(base, name)
		if n := len(SocketPath(dir)); n > socketMax {
			errs = append(errs, fmt.Errorf("%q is too long for a socket (%d bytes, at most %d)", SocketPath(dir), n, socketMax))
			continue
		}
		err := owners.Check(base)
		if err == nil {
			err = makePrivate(base)
		}
		if err == nil {
			err = makePrivate(dir)
		}
		if err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no folder for a socket (set TMPDIR to one of your own): %s", texts.Join(errs, ", ", error.Error))
}

// FindDir returns the directory that MakeDir made, "" if no supervisor listens in one.
func FindDir(getenv func(string) string, name string) string {
	for _, base := range Bases(getenv) {
		dir := filepath.Join(base, name)
		if _, err := os.Lstat(SocketPath(dir)); err == nil {
			return dir
		}
	}
	return ""
}

// Bases returns the folders that may contain the directories of supervisors, the preferred one first.
func Bases(getenv func(string) string) (all []string) {
	for _, tmp := range []string{getenv("TMUX_TMPDIR"), "/tmp", getenv("TMPDIR")} {
		if filepath.IsAbs(tmp) {
			all = append(all, filepath.Join(tmp, "buddy-"+strconv.Itoa(os.Getuid())))
		}
	}
	return all
}

// Confines returns nil if the commands of a supervisor in the directory that MakeDir makes can run in the read-only
// sandbox on this machine, else the reason. The supervisor checks again.
func Confines(getenv func(string) string, reach confine.Reach) error {
	for _, base := range Bases(getenv) {
		if err := reach.Check(base); err != nil {
			return err
		}
	}
	return confine.Possible()
}

// SocketPath returns the path of the socket of the supervisor in dir.
func SocketPath(dir string) string { return filepath.Join(dir, "sock") }

// makePrivate makes dir with mode 0700, or checks that dir is a directory of this user and sets its mode.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err == nil || !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%q: not a directory", dir)
	case !ok || int(st.Uid) != os.Getuid():
		return fmt.Errorf("%q: belongs to another user", dir)
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700)
	}
	return nil
}
