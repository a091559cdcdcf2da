package repl

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"buddy/app/exit"
	"buddy/tmux/pane"

	"buddy/views/markup"
)

// typedAhead holds the typed bytes that have not been used yet.
type typedAhead struct {
	ahead   []byte   // lines end as Enter does: with \r where lines are edited here, else \n
	lined   int      // the number of unread bytes that the terminal itself took as lines
	quiet   bool     // the prompt shows only once something is typed
	yielded bool     // reading a line has to stop
	wake    *os.File // the end of a pipe that wakes the reader
	woken   *os.File // the reader's end
}

// errYield means that reading a line was stopped before the user started the line, because another question must be
// answered first.
var errYield = errors.New("another question must be answered first")

// attend must be called before a line is read, because it ends the effect of an earlier yield. quiet means that no
// prompt is shown until something is typed or reveal is called.
func (c *console) attend(quiet bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.yielded, c.quiet = false, quiet
	if c.tty && c.wake == nil {
		c.woken, c.wake, _ = os.Pipe() // without a pipe a question waits for the end of the line
	}
}

// reveal shows the prompt for a line that is read without echo.
func (c *console) reveal(prompt string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.quiet:
		return
	case c.line != nil:
		c.line.prompt = c.fitting(prompt)
	default:
		c.shown = prompt + markup.Plain(string(c.ahead)) // the terminal has echoed it elsewhere
	}
	c.loud()
}

// loud ends the quiet reading of a line and shows its prompt. The caller holds c.mu.
func (c *console) loud() {
	if !c.quiet {
		return
	}
	c.unspin()
	c.quiet = false
	if c.line != nil {
		c.show(c.line.row(c.columns()))
	} else {
		c.show(c.shown)
	}
}

// yield stops reading a line and returns true, unless the user has started the line.
func (c *console) yield() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gather()
	switch {
	case c.yielded:
		return true
	case len(c.ahead) > 0, c.line != nil && (!c.line.editor.Empty() || c.line.prompt == continuation), c.shown == continuation, c.wake == nil:
		return false
	}
	c.yielded = true
	_, _ = c.wake.Write([]byte{0}) // a pipe that nobody fills
	return true
}

// hasTyped reports whether the user has typed something that no line has used yet.
func (c *console) hasTyped() bool {
	if !c.tty {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gather()
	return len(c.ahead) > 0
}

func (c *console) waiting() int { return pane.Waiting(c.in) }

// gather reads all typed bytes. It switches to raw mode, because outside it a terminal does not return an unfinished
// line. The caller holds c.mu.
func (c *console) gather() {
	if c.line == nil {
		c.lined = c.waiting()
		mode, err := term.MakeRaw(int(c.in.Fd()))
		if err != nil {
			return // the terminal is gone; the reader gets the error
		}
		defer func() { _ = term.Restore(int(c.in.Fd()), mode) }()
	}
	if n := c.waiting(); n > 0 {
		buf := make([]byte, n)
		n, _ = c.in.Read(buf)
		c.typed(buf[:n])
	}
	if string(c.ahead) == "\x1b" { // Esc alone, as on the full screen, does not start a line
		c.ahead = nil
	}
}

// fetch waits for typed bytes and reads them. It returns errYield if yield is called first.
func (c *console) fetch() error {
	if err := c.await(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ready, _ := poll(0, c.in); !ready[0] {
		return nil // another goroutine has read them
	}
	buf := make([]byte, 4096)
	n, err := c.in.Read(buf)
	c.typed(buf[:n])
	if n > 0 {
		return nil
	}
	return err
}

// await waits until something can be read. It returns errYield if yield is called first.
func (c *console) await() error {
	files := []*os.File{c.in}
	if c.woken != nil {
		files = append(files, c.woken)
	}
	for {
		ready, err := poll(-1, files...)
		switch {
		case err != nil:
			return err
		case ready[0]:
			return nil
		}
		_, _ = c.woken.Read(make([]byte, 1))
		c.mu.Lock()
		yielded := c.yielded
		c.mu.Unlock()
		if yielded {
			return errYield
		}
	}
}

// poll waits until one of the files can be read, at most limit milliseconds unless limit is -1, and reports which of
// them can be read.
func poll(limit int, files ...*os.File) (ready []bool, err error) {
	fds := make([]unix.PollFd, len(files))
	for i, f := range files {
		fds[i] = unix.PollFd{Fd: int32(f.Fd()), Events: unix.POLLIN} //nolint:gosec // a descriptor is small
	}
	for {
		if _, err = unix.Poll(fds, limit); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	ready = make([]bool, len(files))
	for i := range fds {
		ready[i] = fds[i].Revents != 0
	}
	return ready, err
}

// typed appends bytes from the terminal to c.ahead. It unifies line ends, because outside raw mode a line ends in
// another byte than Enter sends in raw mode. The caller holds c.mu.
func (c *console) typed(p []byte) {
	n := min(c.lined, len(p))
	c.lined -= n
	if !c.edits {
		c.ahead = append(c.ahead, bytes.ReplaceAll(p, []byte("\r"), []byte("\n"))...)
		return
	}
	c.ahead = append(append(c.ahead, bytes.ReplaceAll(p[:n], []byte("\n"), []byte("\r"))...), p[n:]...)
}

// terminalLine reads a line that the terminal edits itself. Text typed earlier is shown again after the prompt.
func (c *console) terminalLine(prompt string) (string, error) {
	line, whole := c.cut()
	if whole {
		c.print(c.echo, prompt+markup.Plain(line)+"\n")
		return line, nil
	}
	defer c.prompting(prompt + markup.Plain(line))()
	for {
		err := c.fetch()
		if errors.Is(err, errYield) {
			c.leave()
			return "", err
		}
		line, whole = c.cut()
		switch {
		case len(line) > maxLine:
			return "", exit.Usage("a line is longer than %d MiB", maxLine>>20)
		case whole:
			return line, nil
		case errors.Is(err, io.EOF) && line != "":
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ahead = nil
			return line, nil
		case err != nil:
			return "", err
		}
	}
}

// leave ends or clears the row of a prompt that is given up.
func (c *console) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.quiet:
	case c.line != nil:
		c.show("\r\x1b[K")
	default:
		c.show("\n")
	}
}

// cut returns the first line of the typed bytes, and removes it if it is complete.
func (c *console) cut() (line string, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, rest, whole := bytes.Cut(c.ahead, []byte("\n"))
	if whole {
		c.ahead = rest
	}
	return string(text), whole
}

// flush discards typed bytes.
func (c *console) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tty {
		pane.FlushInput(int(c.in.Fd()))
		c.ahead = nil
	}
}
