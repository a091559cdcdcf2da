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

// peer is the process on the other side.
type peer struct{ uid, pid int }

// checkOwner returns nil when the other side belongs to this user or to root.
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

// checkPeer returns the number of a process that may connect to the session, and its terminal, "" for none: one
// of this user, and none that buddy itself has started. What the agent runs must not answer its own approvals.
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

// Listening returns the process that made the socket at path and listens there, 0 if none does.
func Listening(path string) int {
	raw, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return 0
	}
	defer raw.Close() //nolint:errcheck // nothing is said
	p, _ := peerOf(raw.(*net.UnixConn))
	return p.pid
}

// process holds what is known of a running process.
type process struct {
	parent   int
	args     []string
	terminal string // the one that controls it, such as pts/3; "" if none does
}

// deepest limits the ancestors of a process, which ends a walk over numbers that are
// used again meanwhile.
const deepest = 1000

var (
	errStartedByBuddy = errors.New("commands that buddy runs can't use its sessions: only a person in their own terminal can")
	errOwnTmux        = errors.New("this terminal belongs to the tmux server that runs buddy's commands, which can't use its sessions: use another terminal")
)

// origin returns the terminal of a process, or of the nearest of its ancestors that has one. It fails for a process
// that descends from a host, a supervisor of a pane or the tmux server of those. A screen in a tmux pane of the
// person's own descends from another tmux server.
func (s *Server) origin(pid int) (terminal string, err error) {
	if pid < 1 { // in a container, say, whose processes are not seen from here
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
		case err != nil && pid == 1: // hidden by /proc, and no process of ours
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

// Within returns an error when this process descends from a host or a supervisor, or from a hook or server, whose
// session has one of these folders: its state and the person's settings. Sessions with other folders, such as those
// in which programs are tested, don't count. What can't be looked at ends the search.
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

// ofChild returns the folders of the session that started a hook or a server with this environment; none for other
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

// childMarker is the variable by which hooks and servers are known; see tmux/host/child.
const childMarker = "BUDDY_CHILD"

// Folders returns the folders by which sessions of this process are told from those of others: its state and the
// person's settings.
func Folders() []string { return folders(xdg.StateHome, xdg.ConfigHome) }

func folders(state, settings string) []string {
	return []string{texts.RealPath(filepath.Join(state, "buddy")), texts.RealPath(filepath.Join(settings, "buddy"))}
}

// matches reports whether a peer shows the secret of who started the host.
func (s *Server) matches(secret string) bool {
	return s.Secret != "" && subtle.ConstantTimeCompare([]byte(secret), []byte(s.Secret)) == 1
}
