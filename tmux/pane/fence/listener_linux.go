//go:build linux && (amd64 || arm64)

package fence

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"buddy/tmux/pane/fence/inside"
)

// insideExe is the path of this program in the fence.
const insideExe = "/run/buddy/buddy"

// receive returns the listener that package inside sends over a socket.
func receive(socket *os.File) (net.Listener, error) {
	file, err := inside.Receive(socket)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return net.FileListener(file)
}

// pair returns two connected sockets.
func pair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "fence"), os.NewFile(uintptr(fds[1]), "fence"), nil
}
