// Package host connects to the targets where commands run: this machine, another one over ssh, or a container.
//
// A [Host] starts processes on its target ([Host.Command]), runs scripts in shells that it keeps open ([Host.Run]),
// and reads and writes files through these shells ([Host.Read], [Host.WriteFile]). The target needs only sh and the
// standard tools. The first use of a Host connects to the target, and so does the first use after a lost connection.
//
//	h, err := host.SSH(host.SSHOptions{Dest: "root@web-02"})
//	defer h.Close()
//	var out bytes.Buffer
//	code, err := h.Run(ctx, "uname -a", &out, io.Discard)
//
// If the target can't be reached, the error is a [DownError]. The exit code of a command is never confused with those
// of ssh and of the container engine.
package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// shellsMax limits the shells on a target. An sshd allows ten sessions per connection by default. The shells use seven,
// the master and the tmux client one each.
const shellsMax = 7

// idleMax limits the idle shells that are kept open.
const idleMax = 3

// errClosed is the error of a Host after Close.
var errClosed = errors.New("the host is closed")

// ErrNotSent matches an error of [Host.Run] if no part of the script was sent to the target.
var ErrNotSent = errors.New("the script was not sent")

// ErrUnknown matches an error of a file operation if it is not known whether the operation was carried out.
var ErrUnknown = errors.New("it is not known whether it was carried out")

// unknownError marks an error as [ErrUnknown] without changing its text.
type unknownError struct{ error }

func (e unknownError) Unwrap() []error { return []error{e.error, ErrUnknown} }

// notSentError marks an error as [ErrNotSent] without changing its text.
type notSentError struct{ error }

func (e notSentError) Unwrap() []error { return []error{e.error, ErrNotSent} }

// DownError means that a target cannot be reached or went away. Its text is one line, which also says what the user can
// do. A call that fails with a DownError may have been carried out; the next call connects again.
type DownError struct {
	Host string // its name
	Why  string
	Next string // what the user can do, "" if there is no advice
	Gone bool   // the target has ended, and all programs on it
}

func (e *DownError) Error() string {
	s := e.Host + ": " + e.Why
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}

// Host runs commands and works on files on a target. It is safe for concurrent use.
type Host struct {
	line  transport
	slots chan struct{} // holds a token for each shell

	mu     sync.Mutex // guards the fields below
	idle   []*shell
	all    map[*shell]bool
	closed bool
}

// transport is the connection to a target.
type transport interface {
	name() string
	// connect makes sure that the target can be reached.
	connect(ctx context.Context) error
	// command returns the process on this machine that runs argv on the target.
	command(ctx context.Context, argv []string) *exec.Cmd
	// attach returns the shell command with which the user runs argv on the target in a terminal.
	attach(argv []string) string
	// explain makes an error from a failed process's last message and its Wait error.
	explain(ctx context.Context, message string, err error) *DownError
	close() error
}

func newHost(l transport) *Host {
	return &Host{line: l, slots: make(chan struct{}, shellsMax), all: map[*shell]bool{}}
}

// Name returns the target's name for display: local, root@web-02 (ssh), web (container).
func (h *Host) Name() string { return h.line.name() }

// Connect makes sure that the target can be reached. Every other method does so as well.
func (h *Host) Connect(ctx context.Context) error {
	h.mu.Lock()
	closed := h.closed
	h.mu.Unlock()
	if closed {
		return errClosed
	}
	return h.line.connect(ctx)
}

// Command returns a process that runs argv on the target, to be started by the caller. Its standard streams are
// connected to the command; Ctrl-C in our terminal does not reach it. Its exit code may come from ssh or the container
// engine instead of the command; [Host.Run] tells them apart. On this machine the command gets the Host's environment.
func (h *Host) Command(ctx context.Context, argv ...string) (*exec.Cmd, error) {
	if err := h.Connect(ctx); err != nil {
		return nil, err
	}
	cmd := h.line.command(ctx, argv)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, nil
}

// Attach returns the shell command with which the user runs argv on the target in a terminal.
func (h *Host) Attach(argv ...string) string { return h.line.attach(argv) }

// Run runs a script for sh and returns its exit code. The script's standard input is empty; its output goes to the two
// writers as it arrives, from two goroutines. The script starts in no particular directory and does not affect later
// scripts. An error (a [DownError], the end of ctx, or the error of a writer) means that the script's exit code is
// unknown. The error matches [ErrNotSent] if nothing was carried out.
func (h *Host) Run(ctx context.Context, script string, stdout, stderr io.Writer) (code int, err error) {
	s, err := h.acquire(ctx)
	if err != nil {
		return -1, notSentError{err}
	}
	code, err = s.do(ctx, script, stdout, stderr)
	h.put(s, err == nil)
	if lost, ok := errors.AsType[*lostError](err); ok {
		err = h.line.explain(ctx, lost.message, lost.err)
	}
	return code, err
}

// fed is a line that reads a script of exactly %d bytes from the start of its input, and runs the script with the rest
// of the input. The script is not an argument, because the login shell of the target reads the whole line first, and
// csh accepts no line break in quotes.
const fed = `eval "$(dd bs=1 count=%d 2>/dev/null)"`

// feed runs a script in a separate process, with input from a reader, and returns the last message on its standard
// error. The script first prints began and waits for a line, so an error before it gets this line matches [ErrNotSent]:
// nothing was carried out. The script's input is always read to its end, because a container engine that cannot pass on
// all input loses the script's answer.
func (h *Host) feed(ctx context.Context, script string, input io.Reader) (code int, message string, err error) {
	began, mark := rand.Text(), rand.Text()
	script = "echo " + began + "; read -r go || exit\n(\n" + script + "\n); code=$?; cat >/dev/null; echo " + mark + "$code\n"
	cmd, err := h.Command(ctx, "sh", "-c", fmt.Sprintf(fed, len(script)))
	if err != nil {
		return -1, "", notSentError{err}
	}
	var errs lastBytes
	out := &awaited{text: began, seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, &errs
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return -1, "", notSentError{h.line.explain(ctx, "", err)}
	}
	ended, sent := make(chan struct{}), make(chan bool, 1)
	go func() {
		defer in.Close() //nolint:errcheck // the process may have ended
		_, _ = io.WriteString(in, script)
		select {
		case <-out.seen:
			sent <- true
			_, _ = io.Copy(in, io.MultiReader(strings.NewReader("\n"), input))
		case <-ended:
			sent <- false
		}
	}()
	err = cmd.Wait()
	close(ended)
	if _, rest, ok := strings.Cut(string(out.b), mark); ok {
		// A trap of the login shell may print something after the mark, and end with another exit code.
		line, _, whole := strings.Cut(rest, "\n")
		if code, err := strconv.Atoi(line); err == nil && whole {
			return code, string(errs.b), nil
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else {
		if err == nil {
			err = errors.New("no answer")
		}
		err = h.line.explain(ctx, string(errs.b)+out.before(), err)
	}
	if !<-sent {
		err = notSentError{err}
	}
	return -1, "", err
}

// awaited keeps the last bytes written to it, and closes the channel seen when they contain text.
type awaited struct {
	lastBytes
	text string
	seen chan struct{}
	once bool
}

func (a *awaited) Write(p []byte) (int, error) {
	n, err := a.lastBytes.Write(p)
	if !a.once && strings.Contains(string(a.b), a.text) {
		a.once = true
		close(a.seen)
	}
	return n, err
}

// before returns the output of a login shell that did not start the script.
func (a *awaited) before() string {
	if a.once {
		return ""
	}
	return string(a.b)
}

func tempName() string { return ".buddy-" + rand.Text()[:12] }

// acquire returns a shell for exclusive use.
func (h *Host) acquire(ctx context.Context) (*shell, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h.mu.Lock()
	for len(h.idle) > 0 {
		s := h.idle[len(h.idle)-1]
		h.idle = h.idle[:len(h.idle)-1]
		if !s.ended() {
			h.mu.Unlock()
			return s, nil
		}
		delete(h.all, s)
	}
	h.mu.Unlock()
	s, err := h.newShell(ctx)
	if err != nil {
		<-h.slots
	}
	return s, err
}

func (h *Host) newShell(ctx context.Context) (*shell, error) {
	if err := h.Connect(ctx); err != nil {
		return nil, err
	}
	// The process outlives ctx, which belongs to the first script only.
	cmd, err := h.Command(context.WithoutCancel(ctx), "sh")
	if err != nil {
		return nil, err
	}
	s, err := startShell(cmd)
	if err != nil {
		return nil, h.line.explain(ctx, "", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.end()
		return nil, errClosed
	}
	h.all[s] = true
	return s, nil
}

// put returns a shell to the pool, or ends it if it can't be used again.
func (h *Host) put(s *shell, good bool) {
	defer func() { <-h.slots }()
	h.mu.Lock()
	defer h.mu.Unlock()
	if good && !h.closed && len(h.idle) < idleMax {
		h.idle = append(h.idle, s)
		return
	}
	delete(h.all, s)
	s.end()
}

// Close ends everything that runs through the Host, and the connection. Commands in a tmux server on the target keep
// running. Closing again does nothing.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	for s := range h.all {
		s.end()
	}
	h.all, h.idle = nil, nil
	h.mu.Unlock()
	return h.line.close()
}
