package statusline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"buddy/app/compose"
	"buddy/texts"
	"buddy/tmux/pane/confine"
)

const (
	maxOutput = 64 << 10 // bytes of an output that are read
	maxLine   = 1 << 10  // bytes of the line
	maxReason = 200      // bytes of a line of standard error in an error
	// lateTime limits the wait for processes that keep the output open after the command's end.
	lateTime = 500 * time.Millisecond
)

// startScript starts the command in $1. It waits for a line of input first, because the sandbox is not complete before
// the script has started.
const startScript = `IFS= read -r start; exec /bin/sh -c "$1"`

// failure is an error of a run. Its reason has no text of the command.
type failure struct {
	reason string
	said   string // the last line of standard error
}

func (f failure) Error() string {
	if f.said == "" {
		return f.reason
	}
	return f.reason + ": " + f.said
}

// reasonOf returns the part of an error that may be logged.
func reasonOf(err error) string {
	var f failure
	if errors.As(err, &f) {
		return f.reason
	}
	return err.Error()
}

// execute runs a command once and returns the first line of its output.
func (r *Runner) execute(ctx context.Context, c Command, input []byte) (string, error) {
	if c.Confined { // before the time counts, because reading a large folder takes seconds
		if err := r.sandbox.renew(c.Line, &r.options); err != nil {
			return "", err
		}
	}
	limited, cancel := context.WithTimeout(ctx, r.most)
	defer cancel()
	cmd := exec.CommandContext(limited, "/bin/sh", "-c", startScript, "sh", c.Line) //nolint:gosec // only the person's own settings name it
	cmd.Dir = r.options.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a process group of its own, without the terminal
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = lateTime
	var stdout, stderr head
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	sweep, err := r.start(cmd, c)
	if err != nil {
		return "", err
	}
	_, _ = stdin.Write(append([]byte("\n"), input...)) // less than a pipe holds; a command need not read it
	_ = stdin.Close()
	err = cmd.Wait()
	if left := sweep(); left != nil {
		return "", left
	}
	var exited *exec.ExitError
	switch {
	case stdout.full, err == nil, errors.Is(err, exec.ErrWaitDelay):
		return firstLine(stdout.text), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", failure{reason: fmt.Sprintf("it did not end within %d s", r.most/time.Second)}
	case errors.As(err, &exited):
		return "", failure{strings.Replace(exited.Error(), "exit status", "exit code", 1), lastLine(stderr.text)}
	}
	return "", err
}

// start starts the command and returns a function that ends its remaining processes, for after its end.
func (r *Runner) start(cmd *exec.Cmd, c Command) (sweep func() error, err error) {
	if c.Confined {
		return r.sandbox.start(cmd, &r.options)
	}
	cmd.Env = r.options.Env
	return func() error { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); return nil }, cmd.Start()
}

// sandbox holds the read-only sandbox of the command, which is created again when the files in it have changed.
type sandbox struct {
	box   *confine.Box
	files []string // named by the command, which may read and run them
	temp  string
}

// start is Runner.start in the sandbox.
func (s *sandbox) start(cmd *exec.Cmd, o *Options) (sweep func() error, err error) {
	cmd.Env = append(confine.Environ(o.Env, o.Env, o.Withheld, s.temp), "PWD="+o.Dir)
	if err := s.box.Start(cmd); err != nil {
		return nil, err
	}
	return func() error { return s.box.Sweep(cmd.Process.Pid) }, nil
}

// renew creates the sandbox, again if the files in it have changed.
func (s *sandbox) renew(line string, o *Options) (err error) {
	if s.temp == "" {
		if s.temp, err = os.MkdirTemp("", "buddy-status-"); err != nil {
			return err
		}
	}
	files := compose.NamedFiles(strings.Fields(line))
	for i, file := range files {
		files[i] = texts.RealPath(file)
	}
	var box *confine.Box
	switch {
	case s.box == nil || !slices.Equal(files, s.files):
		box, err = confine.New(confine.Config{
			Reach: confine.Reach{Read: []string{texts.RealPath(o.Dir)}, Hidden: o.Hidden}, Env: o.Env, Temp: texts.RealPath(s.temp), Run: files,
		})
	case s.box.Stale():
		box, err = s.box.Renew()
	default:
		return nil
	}
	switch {
	case errors.Is(err, confine.ErrImpossible):
		return fmt.Errorf("%w (with [ui] status_sandbox = false, it runs without a sandbox)", err)
	case err != nil:
		return err
	}
	s.box.Close()
	s.box, s.files = box, files
	return nil
}

// close releases the sandbox.
func (s *sandbox) close() {
	s.box.Close()
	if s.temp != "" {
		_ = os.RemoveAll(s.temp)
	}
}

// head keeps the start of an output. It refuses the rest, which ends the program that prints it.
type head struct {
	text []byte
	full bool
}

// Write implements [io.Writer].
func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), maxOutput-len(h.text))
	h.text = append(h.text, p[:n]...)
	if n < len(p) {
		h.full = true
		return n, errors.New("the output is too long")
	}
	return n, nil
}

// firstLine returns the first line of an output.
func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return texts.ClipBytes(strings.TrimRight(string(line), "\r"), maxLine)
}

// lastLine returns the last line of an output.
func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return texts.ClipBytes(texts.OneLine(string(text[bytes.LastIndexByte(text, '\n')+1:])), maxReason)
}
