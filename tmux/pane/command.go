package pane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// grace is the time between the steps of a cancellation.
const grace = 2 * time.Second

// Command is a started command. Its methods may be called by any goroutine.
type Command struct {
	shell      *Shell
	dir        string
	free       bool // of the shell's state only the folder is carried over
	unseen     bool // nobody watches the command at first
	within     Sandboxed
	started    *waitingShell
	streams    []*outputStream
	began      time.Time
	present    map[int]bool  // background processes of earlier commands
	lastOutput atomic.Int64  // time of its last output, or of its start, in Unix nanoseconds
	done       chan struct{} // closed at the end, when exit is set
	exit       Exit
	hosts      hosts // hosts that the command asked to reach

	mu        sync.Mutex // guards the fields below and the streams' records
	boxes     []*Mailbox
	boxed     bool // all streams are sealed: the command's own output is complete
	cancelled bool
	fault     string
}

// Start runs the command in dir/cmd; later changes to the file have no effect. A sandboxed command runs in its sandbox
// or not at all. Start returns when the command has started. After an error nothing runs, and dir must be removed
// before it is used again. Start refuses files that another user could have written.
func (s *Shell) Start(dir string, mode Mode, within Sandboxed) (*Command, error) {
	if err := mode.Check(s.tty != nil && within == Unheld); err != nil {
		return nil, err
	}
	text, err := s.adopt(dir)
	if err != nil {
		return nil, err
	}
	c := &Command{shell: s, dir: dir, within: within, done: make(chan struct{})}
	line := text
	if within == Unheld {
		line, err = c.prepare(text)
	} else {
		err = s.goTo(filepath.Join(dir, FromFile))
	}
	if err == nil {
		c.started, err = s.shellFor(manner{mode, within, c.free, c.unseen})
	}
	if err != nil {
		return nil, err
	}
	h := c.started
	c.addStream(Stdout, "out", h.out)
	if h.errs != nil {
		c.addStream(Stderr, "err", h.errs)
	}
	if err = c.streams[0].rec.Open(); err != nil { // the file also marks that the command may have run
		h.end()
		return nil, err
	}
	_ = reserveExit(dir) // on a disk that is already full, the command runs anyway
	if s.tty != nil {
		s.tty.reset()
		s.show.prompt(Prompt(text[:min(len(text), promptRead)]))
		s.show.setLossless(mode == Terminal)
		s.show.drain()
	}
	if s.tty != nil && h.inner == nil && !h.apart() {
		s.tty.setForeground(h.proc.Process.Pid)
	}
	c.present = orphaned.present()
	c.began = time.Now()
	c.lastOutput.Store(c.began.UnixNano())
	c.hosts.of(h)
	h.line(line)
	for _, l := range c.streams {
		go l.run()
	}
	if h.inner != nil {
		h.inner.pass()
	}
	go c.wait()
	return c, nil
}

// prepare copies the text of a command without a sandbox to the file from which shells read it. It returns the line
// that tells the waiting shell the command's folder.
func (c *Command) prepare(text string) (line string, err error) {
	s := c.shell
	if err := s.keep(text); err != nil {
		return "", err
	}
	marked := func(name string) bool { _, err := os.Lstat(filepath.Join(c.dir, name)); return err == nil }
	c.unseen = marked("background")
	if c.free = marked("free"); !c.free {
		if err := s.prepareState(); err != nil {
			return "", err
		}
	}
	if s.kind == kindSh {
		return c.dir + "\n", nil // sh can read only up to a newline
	}
	return c.dir + "\x00", nil
}

func (c *Command) addStream(stream, file string, r *os.File) {
	c.streams = append(c.streams, &outputStream{stream: stream, pipe: r, rec: NewRecord(filepath.Join(c.dir, file), c.shell.recorded()), sealed: make(chan struct{}), cmd: c})
}

// record records a piece of output and passes it on.
func (c *Command) record(l *outputStream, p []byte) {
	c.lastOutput.Store(time.Now().UnixNano())
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

// Follow returns a mailbox that receives the command's output. The mailbox starts with the last 64 KiB of each stream
// so far, even if the command has ended. It is closed at the command's end.
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

// wait waits for the process, completes the command's output and state, and finally writes its rc file.
func (c *Command) wait() {
	err := c.started.wait()
	elapsed := time.Since(c.began)
	if c.started.inner != nil {
		c.started.inner.close()
	}
	if c.shell.tty != nil {
		c.shell.tty.reclaim()
	}
	var cleanupErr error
	var behind Exit
	if c.within != Unheld {
		behind.Ended, cleanupErr = c.endHeld() // before the output ends, because a remaining process may hold it open
	} else {
		behind.Left = orphaned.leftBehind(c.present, c.ending())
	}
	for _, l := range c.streams {
		l.ended()
	}
	for _, l := range c.streams {
		<-l.sealed
	}
	c.shell.show.setLossless(false)
	if c.within == Unheld {
		cleanupErr = c.shell.adoptState(c.dir, c.free)
	}
	e := c.ended(err, cleanupErr)
	e.Duration, e.Left, e.Ended = elapsed, behind.Left, behind.Ended
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

const (
	leftMax  = 20                     // maximum number of named background processes
	leftSoon = 100 * time.Millisecond // a process that ends within this time after its command is not named
)

// ending returns the process group to end as a whole: that of a cancelled command, 0 for any other command.
func (c *Command) ending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.cancelled {
		return 0
	}
	return c.group()
}

// ended returns the command's Exit. err is the error of waiting for the command's process, cleanupErr that of cleaning
// up afterwards.
func (c *Command) ended(err, cleanupErr error) Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := Exit{Cancelled: c.cancelled, Confined: c.within == ReadOnly, Fenced: c.within == Fenced, Fault: c.fault}
	if cleanupErr != nil && e.Fault == "" {
		e.Fault = cleanupErr.Error()
	}
	for _, l := range c.streams {
		if l.stream == Stdout {
			e.Stdout, e.StdoutGap = l.rec.total, l.rec.gap
		} else {
			e.Stderr, e.StderrGap = l.rec.total, l.rec.gap
		}
		if l.rec.fault != nil && e.Fault == "" {
			e.Fault = fmt.Sprintf("output was not recorded completely: %v", l.rec.fault)
		}
	}
	e.Code, e.Signal = status(c.started.proc.ProcessState)
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		e.Fault = err.Error()
	}
	return e
}

// status returns the exit code that a shell reports for the end of a process, and the signal that ended it, 0 for none.
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

// background reports whether a job of the command still holds its output.
func (c *Command) background() bool {
	for _, l := range c.streams {
		if l.pipe.SetReadDeadline(time.Time{}) == nil { // fails if run has closed the pipe
			return true
		}
	}
	return false
}

// Cancel ends the command: it sends SIGINT to the foreground group, as Ctrl-C does, two seconds later SIGTERM to the
// whole group, and after another two seconds SIGKILL. It does not wait.
func (c *Command) Cancel() {
	c.mu.Lock()
	first := !c.cancelled && !c.boxed
	c.cancelled = true
	c.mu.Unlock()
	if first {
		go c.escalate(unix.SIGINT, unix.SIGTERM, grace)
	}
}

// hangUp ends the command because its pane is gone. It waits for the command's end, but at most twice the given time.
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

// escalate sends the signals and then SIGKILL, waiting between them, until the command has ended; then it ends the
// remaining processes of its group.
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

func (c *Command) group() int {
	pid := c.started.proc.Process.Pid
	if c.within != Unheld {
		return c.started.by.Group(pid)
	}
	return pid
}

// foreground returns the group that Ctrl-C reaches, or 0.
func (c *Command) foreground() int {
	if c.started.inner != nil {
		return c.started.inner.foreground()
	}
	return c.shell.tty.foreground()
}

// sweep ends the jobs of a cancelled command, which the SIGINT of Cancel does not reach: shells start jobs with SIGINT
// ignored.
func (c *Command) sweep(wait time.Duration) {
	group := c.group()
	if unix.Kill(-group, unix.SIGTERM) != nil {
		return // the group is empty
	}
	<-time.After(wait)
	_ = unix.Kill(-group, unix.SIGKILL)
}
