package child

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// input is a standard input that can be closed more than once.
type input struct {
	*os.File
	once   sync.Once
	closed time.Time // the first time
	err    error
}

// Close closes it.
func (i *input) Close() error {
	i.once.Do(func() {
		i.closed = time.Now()
		i.err = i.File.Close()
	})
	return i.err
}

// maxLate limits what is read of an output after the program's exit, in bytes: more than any
// pipe holds, and an end to what others write into it.
const maxLate = 1 << 20

// output reads a pipe of a program until the program has exited and the pipe is empty, whoever
// else still holds it. One goroutine may read it.
type output struct {
	file *os.File
	late int // bytes that were read after the exit
}

// end says that the program has exited.
func (o *output) end() { _ = o.file.SetReadDeadline(time.Unix(1, 0)) }

// Read reads what is there, waiting for it as long as the program runs.
func (o *output) Read(b []byte) (int, error) {
	n, err := o.file.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	if o.late >= maxLate || len(b) == 0 {
		return 0, io.EOF
	}
	raw, err := o.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var readErr error
	err = raw.Control(func(fd uintptr) { // not raw.Read, which heeds the deadline
		for {
			if n, readErr = syscall.Read(int(fd), b); !errors.Is(readErr, syscall.EINTR) {
				return
			}
		}
	})
	if err != nil || readErr != nil || n <= 0 {
		return 0, io.EOF // nothing is there: EAGAIN
	}
	o.late += n
	return n, nil
}

// tail keeps the last maxStderr bytes that were written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write keeps b, and drops what is too old.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-maxStderr):]...)
	if over := len(t.kept) - maxStderr; over > maxStderr { // rarely: moving costs
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept[max(0, len(t.kept)-maxStderr):])
}
