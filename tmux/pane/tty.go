package pane

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Waiting returns the number of bytes that can be read from f without waiting. On a terminal that reads line by line,
// only whole lines count.
func Waiting(f *os.File) int {
	n := 0
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	if err := raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), fionread) }); err != nil {
		return 0
	}
	return n
}

// atEOF reports whether f is empty and nobody can write to it any more.
func atEOF(f *os.File) bool {
	seen, err := look(f)
	return err != nil || seen&unix.POLLHUP != 0 && seen&unix.POLLIN == 0
}

// readable reports whether f has something to read.
func readable(f *os.File) bool {
	seen, err := look(f)
	return err == nil && seen&unix.POLLIN != 0
}

// look polls f without waiting.
func look(f *os.File) (seen int16, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	polled := error(nil)
	err = raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, polled = unix.Poll(p, 0)
		seen = p[0].Revents
	})
	return seen, errors.Join(err, polled)
}

// terminal is the pane's terminal as the supervisor uses it; nil means that there is none.
type terminal struct {
	file *os.File
	fd   int
	sane unix.Termios
}

func newTerminal(f *os.File) (*terminal, error) {
	t := &terminal{file: f, fd: int(f.Fd())}
	sane, err := unix.IoctlGetTermios(t.fd, ioctlGetTermios)
	if err != nil {
		return nil, err
	}
	sane.Iflag &^= unix.IXON // Ctrl-S is an ordinary key, because few people know how to undo its effect
	sane.Iflag |= unix.ICRNL
	sane.Oflag |= unix.OPOST | unix.ONLCR
	sane.Lflag |= unix.ICANON | unix.ISIG | unix.ECHO | unix.ECHOE | unix.IEXTEN
	t.sane = *sane
	return t, nil
}

// reset gives the terminal sane settings and drops unread input.
func (t *terminal) reset() {
	_ = unix.IoctlSetTermios(t.fd, ioctlSetTermios, &t.sane)
	FlushInput(t.fd)
}

// raw makes the terminal pass on every key at once and unchanged.
func (t *terminal) raw() {
	raw := t.sane
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(t.fd, ioctlSetTermios, &raw)
}

// setForeground makes a group of this session the foreground group, which gets the keys.
func (t *terminal) setForeground(group int) { _ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) }

// reclaim makes the supervisor's group the foreground group.
func (t *terminal) reclaim() { t.setForeground(unix.Getpgrp()) }

// foreground returns the group that keys such as Ctrl-C reach, or 0 if it is not the group of a command.
func (t *terminal) foreground() int {
	if t == nil {
		return 0
	}
	g, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil || g <= 1 || g == unix.Getpgrp() {
		return 0
	}
	return g
}

// asksFor reports whether a terminal reads lines without echo (secret), or passes on each key at once (keys).
func asksFor(fd int) (secret, keys bool) {
	t, err := unix.IoctlGetTermios(fd, ioctlGetTermios)
	if err != nil {
		return false, false
	}
	keys = t.Lflag&unix.ICANON == 0
	return !keys && t.Lflag&unix.ECHO == 0, keys
}
