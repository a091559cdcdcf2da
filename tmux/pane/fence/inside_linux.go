//go:build linux && (amd64 || arm64)

package fence

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// InsideFlag is the argument of `buddy pane` by which the program runs inside the fence, see Inside.
const InsideFlag = "--inside"

// insideExe names the path at which a command finds this program. A folder of its own keeps it apart from others.
const insideExe = "/run/buddy/buddy"

// Inside opens a port on the fence's loopback, hands it to the proxy outside over the socket with the
// number args[0], and becomes the program args[1] with the arguments after it. It returns only when
// that fails.
func Inside(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: pane %s FD PROGRAM NAME [ARG]", InsideFlag)
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(fd)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(fd, []byte{1}, unix.UnixRights(int(file.Fd())), nil, 0); err != nil {
		return err
	}
	env := os.Environ()
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		env = append(env, name+"=http://"+l.Addr().String())
	}
	env = append(env, "no_proxy=localhost,127.0.0.1,::1", "NO_PROXY=localhost,127.0.0.1,::1")
	return syscall.Exec(args[1], args[2:], unique(env))
}

// unique keeps the last of the variables with the same name: the first one counts for a shell.
func unique(env []string) (out []string) {
	last := map[string]int{}
	for i, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		last[name] = i
	}
	for i, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); last[name] == i {
			out = append(out, kv)
		}
	}
	return out
}

// receive returns the listener that Inside sends over a socket.
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
