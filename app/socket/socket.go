// Package socket connects a screen to a session that runs in another process, the host. They exchange JSON lines over
// a Unix socket, in a folder that only its owner can enter.
//
// The screen sends a hello. The host replies with a greeting that describes the session. Then the screen subscribes
// to events, sends commands and makes requests. In this example, → marks the lines of the screen and ← those of the
// host:
//
//	→ {"type":"hello","payload":{"protocol":1,"version":"1.2.0"}}
//	← {"type":"hello","payload":{"protocol":1,"session":"7f3a…","last":42,…}}
//	→ {"type":"subscribe","payload":{"after":42,"every_ms":25}}
//	← {"seq":43,"ts_unix_ms":…,"type":"model.text_delta","payload":{"text":"hi"}}
//	→ {"type":"submit","payload":{"text":"hello"}}
//	→ {"type":"request","payload":{"id":1,"name":"files","args":{"query":"main"}}}
//	← {"type":"reply","payload":{"id":1,"value":{"paths":["main.go"]}}}
//
// A program without a terminal may only watch and stop a session: its greeting has "watches", and its other commands
// are refused. Messages of an unknown type are skipped.
//
// The host serves screens with
//
//	server := socket.Server{Connect: connect}
//	server.Serve(listener)
//
// and a screen connects with
//
//	session, err := socket.Dial(path, socket.Screen{Version: version.Number})
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"buddy/owners"
	"buddy/tmux/pane"
)

// ErrRuns means that the session has a host already.
var ErrRuns = errors.New("the session is already running")

// folder starts the name of a host's socket folder, and distinguishes it from a supervisor's.
const folder = "host-"

// Path returns the socket path of a session's host, in a folder that only the owner can enter and that survives a
// logout. It creates the folder.
func Path(getenv func(string) string, session string) (string, error) {
	dir, err := pane.MakeDir(getenv, folder+session)
	if err != nil {
		return "", fmt.Errorf("session %s: %w", session, err)
	}
	return pane.SocketPath(dir), nil
}

// Find returns the socket of a session's host, "" if none listens.
func Find(getenv func(string) string, session string) string {
	dir := pane.FindDir(getenv, folder+session)
	if dir == "" || !answers(pane.SocketPath(dir)) {
		return ""
	}
	return pane.SocketPath(dir)
}

// Running returns the sockets of this user's hosts by session, and removes the sockets that killed hosts left.
func Running(getenv func(string) string) map[string]string {
	all := make(map[string]string)
	for _, base := range pane.Bases(getenv) {
		dirs, _ := filepath.Glob(filepath.Join(base, folder+"*")) // the pattern is valid
		for _, dir := range dirs {
			path := pane.SocketPath(dir)
			if !answers(path) {
				removeStale(path)
				continue
			}
			session := strings.TrimPrefix(filepath.Base(dir), folder)
			if all[session] == "" {
				all[session] = path
			}
		}
	}
	return all
}

// Paths returns the sockets that this user's hosts may have, by session, whether they listen or not.
func Paths(getenv func(string) string) map[string]string {
	all := make(map[string]string)
	for _, base := range pane.Bases(getenv) {
		dirs, _ := filepath.Glob(filepath.Join(base, folder+"*")) // the pattern is valid
		for _, dir := range dirs {
			if session := strings.TrimPrefix(filepath.Base(dir), folder); all[session] == "" {
				all[session] = pane.SocketPath(dir)
			}
		}
	}
	return all
}

// OfHost reports whether a path is in the socket folder of a host, or is such a folder.
func OfHost(path string) bool {
	return strings.HasPrefix(filepath.Base(path), folder) || strings.HasPrefix(filepath.Base(filepath.Dir(path)), folder)
}

// RemoveStale removes the socket of a killed host and its folder, unless a host listens there.
func RemoveStale(path string) { removeStale(path) }

// Listens reports whether the host of a session listens at a recorded path. The record may be part of a project from
// elsewhere, so the path must not be writable by other users.
func Listens(session, path string) bool {
	return filepath.Base(filepath.Dir(path)) == folder+session && filepath.IsAbs(path) && owners.Check(path) == nil && answers(path)
}

// answers reports whether a socket accepts connections.
func answers(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Listen creates the socket of a session, and replaces a socket that a killed host has left. The error is [ErrRuns] if
// a host listens there. Closing the listener does not remove the socket file; the host removes it with [Remove].
func Listen(path string) (l *net.UnixListener, err error) {
	for range 100 { // each other process that looks for killed hosts removes the folder at most once
		if l, err = listenOnce(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		// Another process removed the folder before the socket existed, because it looked like the folder of a killed host.
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("socket %s: %w", path, err)
		}
	}
	return l, err
}

func listenOnce(path string) (*net.UnixListener, error) {
	unlock, err := lock(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	defer unlock()
	if answers(path) {
		return nil, fmt.Errorf("socket %s: %w", path, ErrRuns)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("an unused socket file can't be removed: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// Remove removes the socket of a host that ends, and its folder.
func Remove(path string) {
	if unlock, err := lock(filepath.Dir(path)); err == nil {
		defer unlock()
		remove(path)
	}
}

// removeStale removes the socket and the folder that a killed host left, unless a new host is about to listen there.
func removeStale(path string) {
	unlock, err := lock(filepath.Dir(path))
	if err != nil {
		return
	}
	defer unlock()
	if !answers(path) {
		remove(path)
	}
}

// remove removes a socket and its folder. The caller holds the folder's lock.
func remove(path string) {
	_ = os.Remove(path)
	_ = os.Remove(filepath.Join(filepath.Dir(path), "lock"))
	_ = os.Remove(filepath.Dir(path)) // stays if it has other files
}

// lock locks a socket folder, so that two hosts don't create the same socket, and no cleanup removes a socket that is
// being created. The lock is held only for moments.
func lock(dir string) (unlock func(), err error) {
	name := filepath.Join(dir, "lock")
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			_ = f.Close()
			return nil, err
		}
		if isLinked(f, name) {
			return func() { _ = f.Close() }, nil
		}
		_ = f.Close() // the former owner removed the file, so its lock is void
	}
}

// isLinked reports whether an open file is still the file at the path name.
func isLinked(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(open, there)
}
