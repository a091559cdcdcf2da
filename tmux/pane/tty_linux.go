package pane

import "golang.org/x/sys/unix"

const (
	fionread        = unix.TIOCINQ
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
)

// FlushInput drops unread input of a terminal.
func FlushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
