package host

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"buddy/texts"
	"buddy/texts/searchpath"
)

// saidMax limits how much of a dying process's last messages is kept, in bytes.
const saidMax = 8 << 10

// shell is a sh on the target that runs one script after another. One goroutine may use it at a time.
type shell struct {
	cmd  *exec.Cmd
	in   *os.File
	out  *bufio.Reader
	errs *bufio.Reader
	done chan struct{} // closed when the process has ended
	err  error         // result of its Wait; valid when done is closed
	once sync.Once
}

// lostError means that the shell ended before it had finished a script.
type lostError struct {
	message string
	err     error
}

func (e *lostError) Error() string { return e.err.Error() }

func startShell(cmd *exec.Cmd) (*shell, error) {
	var files []*os.File
	open := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil
		}
		files = append(files, r, w)
		return r, w
	}
	inR, inW := open()
	outR, outW := open()
	errR, errW := open()
	fail := func(err error) (*shell, error) {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, err
	}
	if len(files) < 6 {
		return fail(errors.New("no more file descriptors"))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	_, _, _ = inR.Close(), outW.Close(), errW.Close()
	s := &shell{cmd: cmd, in: inW, out: bufio.NewReaderSize(outR, 64<<10), errs: bufio.NewReaderSize(errR, 16<<10), done: make(chan struct{})}
	go func() {
		s.err = cmd.Wait()
		close(s.done)
		_ = inW.Close()
		// The readers end by themselves, unless a process that survives the shell holds the pipes open.
		limit := time.Now().Add(time.Second)
		_, _ = outR.SetReadDeadline(limit), errR.SetReadDeadline(limit)
	}()
	return s, nil
}

func (s *shell) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// end ends the process on this machine; the shell on the target sees the end of its input.
func (s *shell) end() {
	s.once.Do(func() {
		_ = s.in.Close()
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // on this machine the script is in the same group
	})
}

// do runs a script. After an error the shell must not be used any more. In each stream, two marks enclose the script's
// output, because a login script may have printed something before.
func (s *shell) do(ctx context.Context, script string, stdout, stderr io.Writer) (int, error) {
	mark := "\x1e" + rand.Text()
	stop := context.AfterFunc(ctx, s.end)
	defer stop()
	message := &lastBytes{}
	errsDone := make(chan error, 1)
	go func() {
		err := copyUntil(message, s.errs, mark)
		if err == nil {
			message.b = nil
			err = copyUntil(io.MultiWriter(message, stderr), s.errs, mark)
		}
		if err != nil {
			s.end() // otherwise the script waits for a reader
		}
		errsDone <- err
	}()
	sign := "printf " + mark
	_, err := io.WriteString(s.in, sign+"; "+sign+" >&2; (\n"+script+"\n) </dev/null; "+sign+"'%d\\n' $?; "+sign+" >&2\n")
	code := -1
	if err == nil {
		err = copyUntil(io.Discard, s.out, mark)
	}
	if err == nil {
		if err = copyUntil(stdout, s.out, mark); err == nil {
			var line string
			if line, err = s.out.ReadString('\n'); err == nil {
				code, err = strconv.Atoi(strings.TrimSuffix(line, "\n"))
			}
		}
	}
	if err != nil {
		s.end()
	}
	stderrErr := <-errsDone
	var w *writerError
	switch {
	case ctx.Err() != nil:
		return -1, context.Cause(ctx)
	case errors.As(err, &w), errors.As(stderrErr, &w):
		return -1, w.error
	case err != nil || stderrErr != nil:
		<-s.done
		err = errors.New("the shell ended")
		if s.err != nil {
			err = fmt.Errorf("the shell ended: %w", s.err)
		}
		return -1, &lostError{message: string(message.b), err: err}
	}
	return code, nil
}

// writerError wraps an error of the writer that receives output.
type writerError struct{ error }

// copyUntil copies from r up to the mark, which it omits. It holds back a possible start of the mark and passes on
// everything else as it arrives.
func copyUntil(w io.Writer, r *bufio.Reader, mark string) error {
	need := 1
	for {
		if _, err := r.Peek(need); err != nil {
			rest, _ := r.Peek(r.Buffered())
			_, _ = w.Write(rest[:len(rest)-texts.Overlap(rest, mark)])
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		b, _ := r.Peek(r.Buffered())
		n, found := bytes.Index(b, []byte(mark)), true
		if n < 0 {
			n, found = len(b)-texts.Overlap(b, mark), false
		}
		if n > 0 {
			if _, err := w.Write(b[:n]); err != nil {
				return &writerError{err}
			}
		}
		_, _ = r.Discard(n)
		if found {
			_, _ = r.Discard(len(mark))
			return nil
		}
		need = len(b) - n + 1
	}
}

// lastBytes keeps the last bytes written to it.
type lastBytes struct{ b []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	l.b = append(l.b, p...)
	if over := len(l.b) - saidMax; over > 0 {
		l.b = l.b[:copy(l.b, l.b[over:])]
	}
	return len(p), nil
}

// lastLine returns the last non-empty line of a text, without control characters.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return clean(lines[len(lines)-1])
}

// clean returns text of a foreign program as one line without control characters.
func clean(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || 0x7f <= r && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "…"
	}
	return text
}

// exitCode returns the exit code of a process whose Wait returned err, or -1 if err is no exit status.
func exitCode(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode()
	}
	return -1
}

// output runs a process of this machine and returns its output, within limit.
func output(ctx context.Context, limit time.Duration, argv ...string) (stdout, stderr string, err error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := searchpath.Command(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("%s: no answer within %v", argv[0], limit)
	}
	return out.String(), errs.String(), err
}
