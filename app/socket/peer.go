package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// peer is the process on the other side.
type peer struct{ uid, pid int }

// checkOwner returns nil when the other side belongs to this user or to root.
func checkOwner(conn *net.UnixConn) error {
	p, err := peerOf(conn)
	if err != nil {
		return fmt.Errorf("who is on the other side is not known: %w", err)
	}
	if p.uid != os.Getuid() && p.uid != 0 {
		return fmt.Errorf("user %d is on the other side, not you (%d)", p.uid, os.Getuid())
	}
	return nil
}

// checkPeer returns the number of a process that may connect to the session: one of this user, and none that
// buddy itself has started. What the agent runs must not answer its own approvals.
func checkPeer(conn *net.UnixConn, host int) (pid int, err error) {
	p, err := peerOf(conn)
	if err != nil {
		return 0, fmt.Errorf("who wants the session is not known: %w", err)
	}
	if p.uid != os.Getuid() {
		return 0, fmt.Errorf("the session is user %d's, not user %d's", os.Getuid(), p.uid)
	}
	return p.pid, checkAncestors(p.pid, host, look)
}

// process holds what is known of a running process.
type process struct {
	parent int
	args   []string
}

// deepest limits the ancestors of a process, which ends a walk over numbers that are
// used anew meanwhile.
const deepest = 1000

var errStartedByBuddy = errors.New("commands that buddy runs can't have its sessions: a person does, in a terminal of theirs")

// checkAncestors returns nil when a process descends neither from a host nor from a supervisor
// of a pane. A screen that runs in a tmux pane of the person's own descends from a tmux server,
// not from a supervisor.
func checkAncestors(pid, host int, look func(pid int) (process, error)) error {
	if pid < 1 { // in a container, say, whose processes are not seen from here
		return errors.New("which process wants the session is not known")
	}
	for range deepest {
		if pid <= 1 {
			return nil
		}
		p, err := look(pid)
		switch {
		case err != nil:
			return fmt.Errorf("where process %d comes from is not known: %w", pid, err)
		case pid == host || startedByBuddy(p.args):
			return errStartedByBuddy
		}
		pid = p.parent
	}
	return errors.New("the process has too many ancestors")
}

// startedByBuddy reports whether a command line is that of a host or of a supervisor.
func startedByBuddy(args []string) bool {
	if len(args) < 2 || args[1] != "pane" && args[1] != "host" {
		return false
	}
	exe, err := os.Executable()
	return err != nil || filepath.Base(args[0]) == filepath.Base(exe)
}
