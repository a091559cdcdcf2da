package pane

import "golang.org/x/sys/unix"

const (
	fionread        = unix.TIOCINQ
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
)

func flushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
