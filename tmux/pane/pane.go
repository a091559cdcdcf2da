// Package pane runs shell commands one after another. Each command runs in a new shell, which starts with the
// directory, environment and functions that the previous one ended with.
//
// A [Shell] runs and records commands; a [Server] lets clients use it over a socket. In a tmux pane, both run in a
// process of their own, the supervisor ([Main]), so that a command outlives the program that requested it. Without
// tmux, they run in the program itself.
//
// A command and its result are files, which remain the only record of it:
//
//	DIR/cmd            the command; the client writes it
//	DIR/out, DIR/err   its output; err only if there is any. An output of more than [WholeMax] bytes, or the limit
//	                   in the [Greeting], is cut: its start, a line about the missing part, the last [TailMax] bytes
//	DIR/rc             its end, see [ReadExit]; appears by rename as the very last thing
//
// A client runs a command as follows:
//
//	info, err := pane.Greet(link, pane.Greeting{Cwd: cwd, Env: os.Environ()})
//	job, err := pane.Run(ctx, conn, dir, pane.Capture, pane.Unheld)
//	exit, err := job.Wait(func(c pane.Chunk) { … })
package pane

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"buddy/texts/searchpath"
)

// Limits of the recorded bytes of a stream.
const (
	WholeMax = 256 << 20 // bytes from the beginning, unless a limit is set
	TailMax  = 64 << 10  // bytes from the end of a longer stream
)

// Mode selects how a command's streams are connected.
type Mode string

// The modes. Standard input is empty, except in the two modes with the terminal, which need a pane.
const (
	Capture  Mode = "cap"    // stdout and stderr apart
	Merge    Mode = "merge"  // stdout and stderr in stdout, in the order written
	Prompted Mode = "captty" // as Capture, with the terminal as standard input: keys answer prompts
	Terminal Mode = "tty"    // all streams are the terminal; stdout holds its output
)

// Check returns an error for an unknown mode, and for a mode that needs a terminal if there is none.
func (m Mode) Check(terminal bool) error {
	switch m {
	case Capture, Merge:
		return nil
	case Prompted, Terminal:
		if !terminal {
			return fmt.Errorf("mode %q needs a terminal, and commands run without a pane here", m)
		}
		return nil
	}
	return fmt.Errorf("mode %q: unknown (have: %s, %s, %s, %s)", m, Capture, Merge, Prompted, Terminal)
}

// The names of streams.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// Main runs the supervisor inside a pane: `buddy pane DIR`. DIR is a directory that [MakeDir] made. Main serves until
// the terminal closes or the process gets SIGTERM, and returns the exit code of the process.
func Main(args []string) int {
	f := flag.NewFlagSet("pane", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	shell := f.String("shell", "", "")
	var avoid []string // folders of the workspace: the shell and the sandbox must not be programs from there
	f.Func("avoid", "", func(dir string) error { avoid = append(avoid, dir); return nil })
	f.Func(strings.Trim(ofFlag, "-="), "", func(string) error { return nil }) // read by other processes, see Of
	if err := f.Parse(args); err != nil || f.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "buddy: pane is started by buddy itself: usage: buddy pane DIR")
		return 2
	}
	searchpath.Avoid(avoid...)
	if err := supervise(f.Arg(0), *shell); err != nil {
		fmt.Fprintf(os.Stderr, "buddy: pane: %v\n", err)
		return 1
	}
	return 0
}

func supervise(dir, name string) error {
	// These signals are ignored, not handled, so that the shells inherit that. A supervisor in the background of its
	// own terminal must be able to become the foreground group, and nobody could resume a stopped shell.
	signal.Ignore(unix.SIGTTOU, unix.SIGTTIN, unix.SIGTSTP)
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("no terminal to run in: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return err
	}
	orphaned.adopt()
	defer func() { _ = lock.Close() }()
	dropped := make(chan os.Signal, 1) // handled, so that shells start with the default
	signal.Notify(dropped, unix.SIGINT, unix.SIGQUIT)
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGHUP, unix.SIGTERM)

	shell, err := NewShell(dir, tty, name)
	if err != nil {
		return err
	}
	shell.StartAhead()
	sock := SocketPath(dir)
	if err := os.Remove(sock); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := listenPrivate(sock)
	if err != nil {
		return err
	}
	srv := NewServer(shell)
	go srv.Serve(l)
	go func() {
		for sig := range dropped {
			if sig == unix.SIGINT {
				srv.interrupt()
			}
		}
	}()
	<-ends
	_ = l.Close() // removes the socket as well
	abandoned := !srv.Shutdown("the pane was closed", time.Second)
	if abandoned {
		return removeOwn(dir, lock)
	}
	return nil
}

// removeOwn removes the directory of a supervisor that is no longer needed, so that the environment of its commands
// does not stay on the disk. If a client has meanwhile replaced the directory, removeOwn leaves the new one, which
// belongs to another supervisor.
func removeOwn(dir string, lock *os.File) error {
	own, err := lock.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(lock.Name())
	if err != nil || !os.SameFile(own, there) {
		return nil
	}
	return os.RemoveAll(dir)
}

// listenPrivate listens on a socket with mode 0600, in a folder that only this user can enter.
func listenPrivate(sock string) (net.Listener, error) {
	l, err := net.Listen("unix", sock)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(sock, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// lockDir waits until no other supervisor serves dir: when a pane is respawned, the new supervisor starts while the old
// one is still ending its command.
func lockDir(dir string) (*os.File, error) {
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock %q: %w", f.Name(), err)
	}
	return f, makePrivate(dir) // the predecessor may have removed it
}
