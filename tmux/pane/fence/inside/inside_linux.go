// Package inside is the part of buddy that runs in the workspace sandbox just before a command. It opens the port of
// the proxy there, then replaces itself with the command.
//
// It does so in an init function and imports little: initialising the other packages of buddy would take longer than
// everything else, for each command.
package inside

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// Flag is the argument of `buddy pane` that selects this code. It is followed by a socket's number, the path of a
// program, and the program's arguments, starting with its name.
const Flag = "--inside"

func init() {
	if len(os.Args) < 3 || os.Args[1] != "pane" || os.Args[2] != Flag {
		return
	}
	_, _ = os.Stderr.WriteString("buddy: the sandbox: " + become(os.Args[3:]).Error() + "\n")
	os.Exit(1)
}

// become opens a port on the fence's loopback, passes it to the proxy outside over the socket with the number args[0],
// and becomes the program args[1] with the arguments after it. It returns only on failure.
func become(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: pane " + Flag + " FD PROGRAM NAME [ARG]")
	}
	outside, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	syscall.CloseOnExec(outside)
	port, err := listen(outside)
	if err != nil {
		return err
	}
	return syscall.Exec(args[1], args[2:], Through(os.Environ(), "127.0.0.1:"+strconv.Itoa(port)))
}

// listen opens the port and passes its listener on, over the socket with the number outside.
func listen(outside int) (port int, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	if err := syscall.Listen(fd, syscall.SOMAXCONN); err != nil {
		return 0, os.NewSyscallError("listen", err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	if err := syscall.Sendmsg(outside, []byte{1}, syscall.UnixRights(fd), nil, 0); err != nil {
		return 0, os.NewSyscallError("sendmsg", err)
	}
	return at.(*syscall.SockaddrInet4).Port, nil
}

// Receive returns the file that another process sent over a socket.
func Receive(socket *os.File) (*os.File, error) {
	rights := make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := syscall.Recvmsg(int(socket.Fd()), make([]byte, 1), rights, syscall.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("recvmsg", err)
	}
	all, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil || len(all) != 1 {
		return nil, errNoFile
	}
	fds, err := syscall.ParseUnixRights(&all[0])
	if err != nil || len(fds) != 1 {
		return nil, errNoFile
	}
	return os.NewFile(uintptr(fds[0]), "received"), nil
}

var errNoFile = errors.New("the other process sent no file")
