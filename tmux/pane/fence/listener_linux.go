//go:build linux && (amd64 || arm64)

package fence

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// insideExe is the path of this program in the fence. A separate folder keeps it apart from others.
const insideExe = "/run/buddy/buddy"

// receive returns the listener that package inside sends over a socket.
func receive(socket *os.File) (net.Listener, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(socket.Fd()), make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	all, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(all) != 1 {
		return nil, errNoProxy
	}
	fds, err := unix.ParseUnixRights(&all[0])
	if err != nil || len(fds) != 1 {
		return nil, errNoProxy
	}
	file := os.NewFile(uintptr(fds[0]), "proxy")
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
