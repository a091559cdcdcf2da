package pane

import "golang.org/x/sys/unix"

const (
	fionread        = 0x4004667f // FIONREAD
	ioctlGetTermios = unix.TIOCGETA
	ioctlSetTermios = unix.TIOCSETA
)

// FlushInput drops unread input of a terminal.
func FlushInput(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1 /* FREAD */) }
