package socket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// From sys/un.h of macOS.
const (
	solLocal     = 0
	localPeerPID = 2
)

// peerOf asks the kernel for the peer (LOCAL_PEERCRED and LOCAL_PEERPID, man 4 unix).
func peerOf(conn *net.UnixConn) (peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var p peer
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			failed = err
			return
		}
		p.uid = int(cred.Uid)
		p.pid, failed = unix.GetsockoptInt(int(fd), solLocal, localPeerPID)
	})
	return p, errors.Join(err, failed)
}

// look asks the kernel for a process (kern.proc.pid and kern.procargs2, man 3 sysctl).
func look(pid int) (process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	p := process{parent: int(info.Eproc.Ppid)}
	if device := info.Eproc.Tdev; device != -1 {
		p.terminal = fmt.Sprintf("ttys%03d", device&0xffffff)
	}
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return p, nil // of another user, so not started by buddy
	}
	// The number of arguments, the program's path, zeros, then the arguments.
	count := int(binary.NativeEndian.Uint32(raw))
	_, rest, _ := bytes.Cut(raw[4:], []byte{0})
	for _, arg := range bytes.SplitN(bytes.TrimLeft(rest, "\x00"), []byte{0}, count+1) {
		if len(p.args) < count {
			p.args = append(p.args, string(arg))
		}
	}
	return p, nil
}

// environ returns none: it is not read on this system.
func environ(int) []string { return nil }
