package pane

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
)

// heldShell is the shell of one held command. Once it has started it waits for the command.
type heldShell struct {
	mode   Mode
	by     sandbox
	proc   *exec.Cmd
	at     os.FileInfo // the folder that it starts in
	in     *os.File    // takes the command
	out    *os.File
	errs   *os.File // nil in mode Merge
	folder *os.File // reports the folder in which the command ended
	said   chan []byte
	ended  chan struct{} // closed when the process has ended, and err is set
	err    error
}

// held gives a command its shell, which waits for the text of the command: the one that was started
// ahead if it is the same as one that starts now, in every respect.
func (s *Shell) held(c *Command, mode Mode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold.again = c.within == ReadOnly && s.hold.last == ReadOnly
	s.hold.last = c.within
	h, err := s.describe(c.within, mode)
	if err == nil && s.hold.ready.same(h) {
		h, s.hold.ready = s.hold.ready, nil
	} else {
		s.dropReady()
		if err == nil {
			err = h.start()
		}
	}
	if err != nil {
		return err
	}
	c.proc, c.held = h.proc, h
	c.addStream(Stdout, "out", h.out)
	if h.errs != nil {
		c.addStream(Stderr, "err", h.errs)
	}
	return nil
}

// StartAhead lets the shell of the next command start before that comes, where the last two ran in the read-only
// sandbox: while the model thinks, it restricts itself and starts up. Call it before the first command, in a
// process that is the parent of its orphans anyway: it is while such a shell waits.
func (s *Shell) StartAhead() { s.hold.ahead = true }

// finish closes done, after which the next command may start, and starts the shell for that ahead. A fence is
// mounted when its shell starts, so that shell may not wait; panes for one command never get that far.
func (s *Shell) finish(done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(done)
	if !s.hold.again || !s.hold.ahead {
		return
	}
	runtime.Gosched() // who waits for done tells the client first
	h, err := s.describe(ReadOnly, Capture)
	if err == nil {
		err = h.start()
	}
	if err == nil { // else the next command finds out what is wrong
		s.hold.ready = h
	}
}

// dropReady ends the shell that was started ahead, if there is one. The caller holds mu, and no command
// runs.
func (s *Shell) dropReady() {
	if s.hold.ready != nil {
		s.hold.ready.end()
		s.hold.ready = nil
	}
}

// describe returns the shell for the next held command, not started yet. The caller holds mu.
func (s *Shell) describe(within Sandboxed, mode Mode) (*heldShell, error) {
	switch {
	case s.env == nil:
		return nil, errNoGreeting
	case s.kind == kindZsh:
		return nil, fmt.Errorf("%w for zsh", impossible(within))
	case s.folder == "" && s.state != "":
		return nil, errors.New("the folder in which the last command ended is unknown; set it by a command that needs approval")
	}
	if err := s.inherit(); err != nil {
		return nil, err
	}
	by, environ, err := s.sandbox(within)
	if err != nil {
		return nil, err
	}
	dir, gone := s.folder, ""
	if !isFolder(dir) {
		dir, gone = s.temp(within), dir
	}
	at, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	main := confinedBash
	if s.kind == kindSh {
		main = confinedSh
	}
	cmd := &exec.Cmd{Path: s.exe, Args: append([]string{s.name, "-c", main, s.name, gone}, s.hold.plainNames()...), Dir: dir}
	now := slices.Concat(s.hold.exported, s.hold.plain)
	if s.state == "" {
		now = s.env
	}
	cmd.Env = append(environ(now), "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return &heldShell{mode: mode, by: by, proc: cmd, at: at, said: make(chan []byte, 1), ended: make(chan struct{})}, nil
}

// same reports whether h waits for a command and other, when started, would differ in nothing. h may be
// nil.
func (h *heldShell) same(other *heldShell) bool {
	if h == nil {
		return false
	}
	select {
	case <-h.ended: // the kernel ends it first when memory is short
		return false
	default:
	}
	a, b := h.proc, other.proc
	return h.mode == other.mode && h.by == other.by && os.SameFile(h.at, other.at) &&
		a.Path == b.Path && a.Dir == b.Dir && slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env)
}

// start starts the shell, which then waits. After an error nothing runs.
func (h *heldShell) start() (err error) {
	var theirs []*os.File // the shell's ends of the pipes
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	var command, out, errs, folder *os.File
	command, h.in = pipe()
	h.folder, folder = pipe()
	h.out, out = pipe()
	errs = out
	if h.mode != Merge {
		h.errs, errs = pipe()
	}
	theirs = append(theirs, command, folder, out, errs)
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	if err == nil {
		h.proc.Stdout, h.proc.Stderr = out, errs
		h.proc.ExtraFiles = []*os.File{command, nil, nil, nil, nil, nil, folder} // 3 and 9
		err = orphaned.start(h.proc, h.by.Start)
	}
	if err != nil {
		for _, f := range []*os.File{h.in, h.folder, h.out, h.errs} {
			_ = f.Close()
		}
		return err
	}
	go h.listen()
	go func() {
		h.err = orphaned.wait(h.proc)
		close(h.ended)
	}()
	return nil
}

// wait waits for the end of the process.
func (h *heldShell) wait() error {
	<-h.ended
	return h.err
}

// end ends a shell that got no command, and releases what it holds.
func (h *heldShell) end() {
	_ = h.proc.Process.Kill()
	_ = h.wait()
	_ = h.by.Sweep(h.proc.Process.Pid) // it was alone
	for _, f := range []*os.File{h.in, h.folder, h.out, h.errs} {
		_ = f.Close()
	}
}

// feed sends the shell its command.
func feed(in *os.File, text string) {
	_, _ = io.WriteString(in, text) // fails when the shell has ended
	_ = in.Close()
}

// listen reads the folder that a held command reports while it runs, and discards what
// goes beyond the limit so that the command never blocks.
func (h *heldShell) listen() {
	said, _ := io.ReadAll(io.LimitReader(h.folder, folderMax+1))
	_, _ = io.Copy(io.Discard, h.folder)
	h.said <- said
}
