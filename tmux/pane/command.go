package pane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// grace is the time between the steps of a cancellation.
const grace = 2 * time.Second

// Command is a started command. Its methods may be called by any goroutine.
type Command struct {
	shell   *Shell
	dir     string
	free    bool // it passes on only its folder
	within  Sandboxed
	held    *heldShell // nil unless it is held
	proc    *exec.Cmd
	inner   *inner // of mode Terminal, else nil
	streams []*outputStream
	began   time.Time
	done    chan struct{} // closed at the end, when exit is set
	exit    Exit

	mu        sync.Mutex // guards the fields below and the streams' records
	boxes     []*Mailbox
	boxed     bool // all streams are sealed: the command's own output is complete
	cancelled bool
	fault     string
}

// Start runs the command in dir/cmd, as it is when Start reads it; one that is to be held runs
// within what holds it or not at all. It returns when the command has started; after an error
// nothing runs, and dir must be removed before it is used again. What another user could have
// written is refused.
func (s *Shell) Start(dir string, mode Mode, within Sandboxed) (*Command, error) {
	if err := mode.Check(s.tty != nil && within == Unheld); err != nil {
		return nil, err
	}
	text, err := s.adopt(dir)
	if err != nil {
		return nil, err
	}
	c := &Command{shell: s, dir: dir, within: within, done: make(chan struct{})}
	var ends []*os.File
	if within != Unheld {
		err = s.held(c, mode)
	} else {
		ends, err = s.unheld(c, mode, text)
	}
	defer func() {
		for _, f := range ends {
			_ = f.Close()
		}
	}()
	if err == nil {
		err = c.streams[0].rec.Open() // the file also marks that the command may have run
	}
	if err != nil {
		c.discard()
		return nil, err
	}
	if s.tty != nil {
		s.tty.reset()
		s.show.prompt(Prompt(text[:min(len(text), promptRead)]))
		s.show.setLossless(mode == Terminal)
		s.show.drain()
	}
	c.began = time.Now()
	if c.held != nil {
		go feed(c.held.in, text)
	} else if err := orphaned.start(c.proc, (*exec.Cmd).Start); err != nil {
		c.discard()
		return nil, err
	}
	for _, l := range c.streams {
		go l.run()
	}
	if c.inner != nil {
		c.inner.pass()
	}
	go c.wait()
	return c, nil
}

// unheld prepares the process of a command that nothing holds. It returns the process's ends of the
// streams, to be closed after the start.
func (s *Shell) unheld(c *Command, mode Mode, text string) (ends []*os.File, err error) {
	s.mu.Lock()
	s.dropReady()
	s.hold.last, s.hold.again = Unheld, false
	s.mu.Unlock()
	if err := s.keep(text); err != nil {
		return nil, err
	}
	_, err = os.Lstat(filepath.Join(c.dir, "free"))
	c.free = err == nil
	if c.proc, err = s.command(filepath.Join(c.dir, "cmd"), c.free); err != nil {
		return nil, err
	}
	if !c.free {
		if err := s.prepareState(); err != nil {
			return nil, err
		}
	}
	return c.connect(mode)
}

// connect makes the streams. It returns the command's ends of them, to be closed after the start.
func (c *Command) connect(mode Mode) (ends []*os.File, err error) {
	if mode == Terminal {
		return c.connectTerminal()
	}
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.addStream(Stdout, "out", out)
	c.proc.Stdout, c.proc.Stderr = w, w
	ends = append(ends, w)
	if mode == Merge {
		return ends, nil
	}
	if mode == Prompted {
		c.proc.Stdin = c.shell.tty.file
	}
	errs, w, err := os.Pipe()
	if err != nil {
		return ends, err
	}
	c.addStream(Stderr, "err", errs)
	c.proc.Stderr = w
	return append(ends, w), nil
}

// connectTerminal makes the terminal of a command of mode Terminal, which leads a session of
// its own there.
func (c *Command) connectTerminal() ([]*os.File, error) {
	in, err := newInner(c.shell.tty)
	if err != nil {
		return nil, err
	}
	c.inner = in
	c.addStream(Stdout, "out", in.master)
	c.proc.Stdin, c.proc.Stdout, c.proc.Stderr = in.slave, in.slave, in.slave
	c.proc.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	return []*os.File{in.slave}, nil
}

func (c *Command) addStream(stream, file string, r *os.File) {
	c.streams = append(c.streams, &outputStream{stream: stream, pipe: r, rec: NewRecord(filepath.Join(c.dir, file)), sealed: make(chan struct{}), cmd: c})
}

// discard releases what a command that never started holds.
func (c *Command) discard() {
	if c.held != nil {
		c.held.end()
	}
	if c.inner != nil {
		c.inner.discard()
	}
	for _, l := range c.streams {
		_ = l.pipe.Close() // again for those of a held one
		l.rec.Close()
	}
}

// take records a piece of output and passes it on.
func (c *Command) take(l *outputStream, p []byte) {
	c.mu.Lock()
	l.rec.Add(p)
	if !l.rec.sealed {
		for _, b := range c.boxes {
			b.Put(l.stream, p, l.rec.total)
		}
	}
	c.mu.Unlock()
	_, _ = c.shell.show.Write(p)
}

// Follow returns a mailbox that receives the command's output from now on. It starts with the
// last 64 KiB of each stream so far, also when the command has ended already. It is closed at
// the command's end.
func (c *Command) Follow() *Mailbox {
	b := NewMailbox()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.streams {
		if l.rec.total > 0 {
			b.Put(l.stream, lastOf(l.rec.tail, TailMax), l.rec.total)
		}
	}
	if c.boxed {
		b.Close()
		return b
	}
	c.boxes = append(c.boxes, b)
	return b
}

// wait waits for the process, completes its output and state, and at last writes its rc file.
func (c *Command) wait() {
	var err error
	if c.held != nil {
		err = c.held.wait()
	} else {
		err = orphaned.wait(c.proc)
	}
	took := time.Since(c.began)
	if c.inner != nil {
		c.inner.close()
	}
	if c.shell.tty != nil {
		c.shell.tty.takeBack()
	}
	var left error
	if c.held != nil {
		left = c.endHeld() // before its output ends: something left behind may hold that
	}
	for _, l := range c.streams {
		l.ended()
	}
	for _, l := range c.streams {
		<-l.sealed
	}
	c.shell.show.setLossless(false)
	if c.held == nil {
		left = c.shell.adoptState(c.dir, c.free)
	}
	e := c.ended(err, left)
	e.Duration = took
	if err := WriteExit(c.dir, e); err != nil && e.Fault == "" {
		e.Fault = err.Error()
	}
	c.exit = e
	c.mu.Lock()
	c.boxed = true
	for _, b := range c.boxes {
		b.Close()
	}
	c.boxes = nil
	c.mu.Unlock()
	c.shell.show.end(note(e))
	c.shell.finish(c.done)
}

// ended returns the command's Exit. err comes from waiting for its process, left from cleaning
// up afterwards.
func (c *Command) ended(err, left error) Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := Exit{Cancelled: c.cancelled, Confined: c.within == ReadOnly, Fenced: c.within == Fenced, Fault: c.fault}
	if left != nil && e.Fault == "" {
		e.Fault = left.Error()
	}
	for _, l := range c.streams {
		if l.stream == Stdout {
			e.Stdout = l.rec.total
		} else {
			e.Stderr = l.rec.total
		}
		if l.rec.fault != nil && e.Fault == "" {
			e.Fault = fmt.Sprintf("output was not recorded completely: %v", l.rec.fault)
		}
	}
	e.Code, e.Signal = status(c.proc.ProcessState)
	if st := new(exec.ExitError); err != nil && !errors.As(err, &st) {
		e.Fault = err.Error()
	}
	return e
}

// status translates the end of a process to the codes of a shell.
func status(st *os.ProcessState) (code, sig int) {
	if st == nil {
		return 255, 0
	}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), int(ws.Signal())
	}
	return st.ExitCode(), 0
}

func note(e Exit) string {
	switch {
	case e.Cancelled:
		return "cancelled"
	case e.Signal != 0:
		return unix.SignalName(syscall.Signal(e.Signal))
	case e.Code != 0:
		return fmt.Sprintf("exit %d", e.Code)
	}
	return ""
}

// Done returns a channel that is closed when the command has ended and its files are complete.
func (c *Command) Done() <-chan struct{} { return c.done }

// Exit waits for the command's end and returns it.
func (c *Command) Exit() Exit {
	<-c.done
	return c.exit
}

// background reports whether a job that the command left behind still holds its output.
func (c *Command) background() bool {
	for _, l := range c.streams {
		if l.pipe.SetReadDeadline(time.Time{}) == nil { // fails once run has closed it
			return true
		}
	}
	return false
}

// Cancel ends the command: SIGINT to the foreground group, as Ctrl-C does, two seconds later
// SIGTERM to the whole group, two seconds later SIGKILL. It does not wait.
func (c *Command) Cancel() {
	c.mu.Lock()
	first := !c.cancelled && !c.boxed
	c.cancelled = true
	c.mu.Unlock()
	if first {
		go c.escalate(unix.SIGINT, unix.SIGTERM, grace)
	}
}

// hangUp ends the command because its pane is gone. It waits for the end, at most twice the
// given time.
func (c *Command) hangUp(why string, wait time.Duration) {
	c.mu.Lock()
	c.fault = why
	c.mu.Unlock()
	c.escalate(unix.SIGHUP, unix.SIGTERM, wait/2)
	select {
	case <-c.done:
	case <-time.After(wait):
	}
}

// escalate sends the signals and then SIGKILL, waiting between them, until the command has
// ended; then it ends what the command left in its group.
func (c *Command) escalate(first, second syscall.Signal, wait time.Duration) {
	for _, sig := range []syscall.Signal{first, second, unix.SIGKILL} {
		c.signal(sig)
		select {
		case <-c.done:
			c.sweep(wait)
			return
		case <-time.After(wait):
		}
	}
}

// signal signals the command's group and the foreground group that a program such as a nested
// interactive shell made for itself. Ctrl-C reaches only the foreground group.
func (c *Command) signal(sig syscall.Signal) {
	group, front := c.group(), c.foreground()
	if front != 0 && front != group {
		_ = unix.Kill(-front, sig)
		if sig == unix.SIGINT {
			return
		}
	}
	_ = unix.Kill(-group, sig)
}

// group returns the process group of the command.
func (c *Command) group() int {
	if c.held != nil {
		return c.held.by.Group(c.proc.Process.Pid)
	}
	return c.proc.Process.Pid
}

// foreground returns the group that Ctrl-C reaches, or 0.
func (c *Command) foreground() int {
	if c.inner != nil {
		return c.inner.foreground()
	}
	return c.shell.tty.foreground()
}

// sweep ends the jobs of a cancelled command: shells start them with SIGINT ignored.
func (c *Command) sweep(wait time.Duration) {
	group := c.group()
	if unix.Kill(-group, unix.SIGTERM) != nil {
		return // nobody left
	}
	<-time.After(wait)
	_ = unix.Kill(-group, unix.SIGKILL)
}
