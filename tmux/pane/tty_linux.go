package pane

import "golang.org/x/sys/unix"

const (
	fionread        = unix.TIOCINQ
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
)

// FlushInput drops what was typed into a terminal and not read yet.
func FlushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
