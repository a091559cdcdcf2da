package pane

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// waitingShell is the shell of one command. After its start it waits for the command on descriptor 3.
type waitingShell struct {
	mode   Mode
	by     sandbox // nil: no sandbox
	proc   *exec.Cmd
	at     os.FileInfo // its start folder; nil: the shell cannot be started ahead
	tty    *terminal   // the pane's terminal; nil: none
	inner  *inner      // the terminal of mode Terminal, else nil
	in     *os.File    // delivers the command
	out    *os.File
	errs   *os.File // nil if out has both streams
	folder *os.File // delivers the final folder of a sandboxed command; nil: read from the command's file cwd
	report chan []byte
	ended  chan struct{} // closed when the process has ended, and err is set
	err    error
}

// same reports whether the started shell h can be used instead of other, which is not started: h, which may be nil,
// still waits for its command and equals other in every respect.
func (h *waitingShell) same(other *waitingShell) bool {
	if h == nil || h.at == nil || other.at == nil {
		return false
	}
	select {
	case <-h.ended: // the kernel may have ended it, because memory was low
		return false
	default:
	}
	a, b := h.proc, other.proc
	return h.mode == other.mode && h.by == other.by && h.apart() == other.apart() && os.SameFile(h.at, other.at) &&
		a.Path == b.Path && a.Dir == b.Dir && slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env)
}

// apart reports whether the shell has a separate session without a terminal.
func (h *waitingShell) apart() bool { return h.inner == nil && h.proc.SysProcAttr.Setsid }

// start starts the shell, which then waits for its command. After an error nothing runs.
func (h *waitingShell) start() (err error) {
	theirs, err := h.connect()
	if err == nil {
		start := (*exec.Cmd).Start
		if h.by != nil {
			start = h.by.Start
		}
		err = orphaned.start(h.proc, start)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		h.close()
		return err
	}
	if h.folder != nil {
		go h.listen()
	}
	go func() {
		h.err = orphaned.wait(h.proc)
		close(h.ended)
	}()
	return nil
}

// connect creates the shell's streams. It returns the shell's ends of them, to be closed after the start.
func (h *waitingShell) connect() (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	command, in := pipe()
	h.in, theirs = in, append(theirs, command)
	h.proc.ExtraFiles = []*os.File{command} // descriptor 3
	if h.by != nil {
		var folder *os.File
		h.folder, folder = pipe()
		theirs = append(theirs, folder)
		h.proc.ExtraFiles = []*os.File{command, nil, nil, nil, nil, nil, folder} // descriptors 3 and 9
	}
	if h.mode == Terminal && err == nil {
		h.inner, err = newInner(h.tty)
	}
	if h.inner != nil {
		h.out = h.inner.master
		h.proc.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
		h.proc.Stdin, h.proc.Stdout, h.proc.Stderr = h.inner.slave, h.inner.slave, h.inner.slave
		return append(theirs, h.inner.slave), err
	}
	if h.mode == Prompted {
		h.proc.Stdin = h.tty.file
	}
	var out, errs *os.File
	h.out, out = pipe()
	errs = out
	if h.mode != Merge {
		h.errs, errs = pipe()
	}
	h.proc.Stdout, h.proc.Stderr = out, errs
	return append(theirs, out, errs), err
}

// line passes the command's line to the shell. It does not block.
func (h *waitingShell) line(text string) {
	go func() { // a long command blocks until the shell reads it
		_, _ = io.WriteString(h.in, text) // fails if the shell has ended
		_ = h.in.Close()
	}()
}

// listen reads a sandboxed command's report of its final folder, and discards text beyond the limit, so that the
// command never blocks.
func (h *waitingShell) listen() {
	report, _ := io.ReadAll(io.LimitReader(h.folder, folderMax+1))
	_, _ = io.Copy(io.Discard, h.folder)
	h.report <- report
}

// wait waits for the end of the process.
func (h *waitingShell) wait() error {
	<-h.ended
	return h.err
}

// end ends a shell without a command, and releases its resources.
func (h *waitingShell) end() {
	_ = h.proc.Process.Kill()
	_ = h.wait()
	if h.by != nil {
		_ = h.by.Sweep(h.proc.Process.Pid) // no other process is in its sandbox
	}
	h.close()
}

func (h *waitingShell) close() {
	if h.inner != nil {
		h.inner.discard()
	}
	for _, f := range []*os.File{h.in, h.folder, h.out, h.errs} {
		_ = f.Close()
	}
}
