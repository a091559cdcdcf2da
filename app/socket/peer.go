package socket

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"buddy/texts"
	"buddy/tmux/pane"
)

// peer is the process at the other end of a connection.
type peer struct{ uid, pid int }

// checkOwner returns an error unless the process at the other end belongs to this user or root.
func checkOwner(conn *net.UnixConn) error {
	p, err := peerOf(conn)
	if err != nil {
		return fmt.Errorf("the other side of the connection is unknown: %w", err)
	}
	if p.uid != os.Getuid() && p.uid != 0 {
		return fmt.Errorf("the other side of the connection is user %d, not you (%d)", p.uid, os.Getuid())
	}
	return nil
}

// checkPeer returns the pid and the terminal ("" for none) of the connecting process. It returns an error if the
// process may not connect, because it belongs to another user or was started by buddy: a command of the agent must not
// answer its own approvals.
func (s *Server) checkPeer(conn *net.UnixConn) (pid int, terminal string, err error) {
	p, err := peerOf(conn)
	if err != nil {
		return 0, "", fmt.Errorf("the connecting user is unknown: %w", err)
	}
	if p.uid != os.Getuid() {
		return 0, "", fmt.Errorf("the session belongs to user %d, not to user %d", os.Getuid(), p.uid)
	}
	terminal, err = s.origin(p.pid)
	return p.pid, terminal, err
}

// Listening returns the process that listens on the socket at path, 0 for none.
func Listening(path string) int {
	raw, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return 0
	}
	defer raw.Close() //nolint:errcheck // nothing is sent
	p, _ := peerOf(raw.(*net.UnixConn))
	return p.pid
}

// process describes a running process.
type process struct {
	parent   int
	args     []string
	terminal string // its controlling terminal, such as pts/3; "" for none
}

// deepest limits the ancestors that are looked at, so that a walk over pids ends even if they are being reused.
const deepest = 1000

var (
	errStartedByBuddy = errors.New("commands that buddy runs can't use its sessions: only a person in their own terminal can")
	errOwnTmux        = errors.New("this terminal belongs to the tmux server that runs buddy's commands, which can't use its sessions: use another terminal")
)

// origin returns the terminal of a process, or of its nearest ancestor with one. It fails for a descendant of a host, a
// pane supervisor or the supervisors' tmux server. A screen in the user's own tmux descends from another tmux server.
func (s *Server) origin(pid int) (terminal string, err error) {
	if pid < 1 { // such as in a container, whose processes are not visible from here
		return "", errors.New("the connecting process is unknown")
	}
	look := look
	if s.look != nil {
		look = s.look
	}
	var servers []int
	if s.Tmux != nil {
		servers = s.Tmux()
	}
	for range deepest {
		if pid < 1 {
			return terminal, nil
		}
		p, err := look(pid)
		switch {
		case err != nil && pid == 1: // hidden by /proc, so not started by buddy
			return terminal, nil
		case err != nil:
			return "", fmt.Errorf("the parent of process %d is unknown: %w", pid, err)
		case pid == cmp.Or(s.host, os.Getpid()) || startedByBuddy(p.args):
			return "", errStartedByBuddy
		case slices.Contains(servers, pid):
			return "", errOwnTmux
		}
		if terminal == "" {
			terminal = p.terminal
		}
		pid = p.parent
	}
	return "", errors.New("the process has too many ancestors")
}

// startedByBuddy reports whether a command line is that of a host or of a supervisor.
func startedByBuddy(args []string) bool {
	if len(args) < 2 || args[1] != "pane" && args[1] != "host" {
		return false
	}
	exe, err := os.Executable()
	return err != nil || filepath.Base(args[0]) == filepath.Base(exe) || len(pane.OfWhich(args)) > 0
}

// Within returns an error if a session has started this process, directly or not, so that one of its ancestors is a
// host, a supervisor, a hook or a server. Only sessions count whose folder of state or settings is one of folders; the
// sessions of tests have others. An ancestor that can't be read ends the search.
func Within(folders []string) error { return within(os.Getpid(), folders, look, environ) }

func within(pid int, folders []string, look func(int) (process, error), environ func(int) []string) error {
	for range deepest {
		p, err := look(pid)
		if err != nil || pid < 1 {
			return nil
		}
		of := ofChild(environ(pid))
		if startedByBuddy(p.args) {
			of = pane.OfWhich(p.args)
		}
		if slices.ContainsFunc(of, func(dir string) bool { return slices.Contains(folders, dir) }) {
			return errWithin
		}
		pid = p.parent
	}
	return nil
}

var errWithin = errors.New("a command in a buddy session can't do this: only a person in their own terminal can")

// ofChild returns the folders of the session that started the hook or server with this environment, and none for other
// processes.
func ofChild(env []string) []string {
	if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, childMarker+"=") }) {
		return nil
	}
	value := func(name string) string {
		i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if i < 0 {
			return ""
		}
		return env[i][len(name)+1:]
	}
	home := value("HOME")
	return folders(cmp.Or(value("XDG_STATE_HOME"), filepath.Join(home, ".local", "state")), cmp.Or(value("XDG_CONFIG_HOME"), filepath.Join(home, ".config")))
}

// childMarker is the variable that marks hooks and servers; see tmux/host/child.
const childMarker = "BUDDY_CHILD"

// Folders returns the folders that identify the sessions of this process: its state and the user's settings.
func Folders() []string { return folders(xdg.StateHome, xdg.ConfigHome) }

func folders(state, settings string) []string {
	return []string{texts.RealPath(filepath.Join(state, "buddy")), texts.RealPath(filepath.Join(settings, "buddy"))}
}

// matches reports whether a peer knows the secret of the process that started the host.
func (s *Server) matches(secret string) bool {
	return s.Secret != "" && subtle.ConstantTimeCompare([]byte(secret), []byte(s.Secret)) == 1
}
