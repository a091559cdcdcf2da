package pane

import (
	"errors"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// inner is the terminal of a command of the mode Terminal. It is separate from the pane's terminal, so that all output
// is recorded; keys typed into the pane are passed on unchanged.
type inner struct {
	outer  *terminal
	master *os.File // closed by its reader
	slave  *os.File // closed in this process once the command has it
	wake   *os.File // closing its other end stops typing
	stop   *os.File
	done   chan struct{} // closed when no more keys are passed on
}

// newInner makes a terminal of the pane's size.
func newInner(outer *terminal) (*inner, error) {
	master, slave, err := openPTY()
	if err != nil {
		return nil, err
	}
	i := &inner{outer: outer, master: master, slave: slave, done: make(chan struct{})}
	i.fit()
	if i.wake, i.stop, err = os.Pipe(); err != nil {
		_ = master.Close()
		_ = slave.Close()
		return nil, err
	}
	return i, nil
}

// fit resizes the terminal to the size of the pane.
func (i *inner) fit() {
	if size, err := unix.IoctlGetWinsize(i.outer.fd, unix.TIOCGWINSZ); err == nil {
		i.control(func(fd int) { _ = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size) })
	}
}

// control calls f with the descriptor of the terminal's master end, unless that is closed.
func (i *inner) control(f func(fd int)) {
	if raw, err := i.master.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}

// foreground returns the group that Ctrl-C reaches, or 0.
func (i *inner) foreground() (group int) {
	i.control(func(fd int) {
		if g, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && g > 1 {
			group = g
		}
	})
	return group
}

// pass passes keys typed into the pane on to the command until close is called, and forwards size changes.
func (i *inner) pass() {
	sized := make(chan os.Signal, 1)
	signal.Notify(sized, unix.SIGWINCH)
	go func() {
		for {
			select {
			case <-sized:
				i.fit()
			case <-i.done:
				signal.Stop(sized)
				return
			}
		}
	}()
	i.outer.raw()
	go func() {
		defer close(i.done)
		i.copyKeys()
	}()
}

func (i *inner) copyKeys() {
	wake := int32(i.wake.Fd())
	buf := make([]byte, 4<<10)
	for {
		fds := []unix.PollFd{{Fd: int32(i.outer.fd), Events: unix.POLLIN}, {Fd: wake, Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil, fds[1].Revents != 0, fds[0].Revents&unix.POLLIN == 0:
			return
		}
		n, err := unix.Read(i.outer.fd, buf)
		if n <= 0 {
			if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
				continue
			}
			return
		}
		// A command that does not read its keys for a second loses them.
		_ = i.master.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := i.master.Write(buf[:n]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return // the command has ended
		}
	}
}

// close stops passing keys on and restores the pane's settings.
func (i *inner) close() {
	_ = i.stop.Close()
	<-i.done
	_ = i.wake.Close()
	i.outer.reset()
}

// discard closes everything when the command was not started.
func (i *inner) discard() {
	for _, f := range []*os.File{i.slave, i.wake, i.stop} {
		_ = f.Close()
	}
}
