package host

import (
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"buddy/app/socket"
	"buddy/tmux"
)

// tmuxServer tracks the processes of the tmux server, including those whose socket a command has moved.
type tmuxServer struct {
	mu    sync.Mutex // guards known
	known []int
}

// processes returns the tracked processes, including the one that listens on the socket now.
func (t *tmuxServer) processes() []int {
	now := socket.Listening(tmux.ServerSocket(os.Getenv, os.Getenv("BUDDY_TMUX_SOCKET")))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = slices.DeleteFunc(t.known, func(pid int) bool { return pid == now || unix.Kill(pid, 0) != nil })
	if now > 0 {
		t.known = append(t.known, now)
	}
	return slices.Clone(t.known)
}
