package e2e

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStoppedFromOutside: a screen that another program stopped is redrawn when it continues, whatever the shell did
// with the terminal.
func TestStoppedFromOutside(t *testing.T) {
	d := converse(t, "xterm-256color", "--model", "demo")
	d.want("F1")
	pid := d.cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it does not stop: %v, %v", err, status)
	}
	const cooked = unix.ICANON | unix.ECHO | unix.ISIG
	d.terminal(func(mode *unix.Termios) { mode.Lflag |= cooked })
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.want("\x1b[?2004h", "\x1b[?1049h", "F1")
	d.terminal(func(mode *unix.Termios) {
		if mode.Lflag&cooked != 0 {
			t.Error("the terminal is not raw")
		}
	})
}

// terminal changes the mode of the terminal.
func (d *dialog) terminal(change func(mode *unix.Termios)) {
	d.t.Helper()
	conn, err := d.master.SyscallConn()
	if err != nil {
		d.t.Fatal(err)
	}
	err2 := conn.Control(func(fd uintptr) {
		var mode *unix.Termios
		if mode, err = unix.IoctlGetTermios(int(fd), unix.TCGETS); err == nil {
			change(mode)
			err = unix.IoctlSetTermios(int(fd), unix.TCSETS, mode)
		}
	})
	if err != nil || err2 != nil {
		d.t.Fatal(err, err2)
	}
}
