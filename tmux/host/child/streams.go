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

// Close closes the input once.
func (i *input) Close() error {
	i.once.Do(func() {
		i.closed = time.Now()
		i.err = i.File.Close()
	})
	return i.err
}

// maxLate limits how much of an output is read after the program's exit, in bytes. It is more than any pipe holds, so
// nothing that the program wrote is lost, but reading ends even if other processes keep writing.
const maxLate = 1 << 20

// output reads a pipe of a program until the program has exited and the pipe is empty, even if another process still
// holds the pipe. Only one goroutine may call Read.
type output struct {
	file *os.File
	late int // bytes read after the exit
}

// end records that the program has exited.
func (o *output) end() { _ = o.file.SetReadDeadline(time.Unix(1, 0)) }

// Read reads available bytes; it waits while the program runs.
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
	err = raw.Control(func(fd uintptr) { // not raw.Read, which obeys the deadline
		for {
			if n, readErr = syscall.Read(int(fd), b); !errors.Is(readErr, syscall.EINTR) {
				return
			}
		}
	})
	if err != nil || readErr != nil || n <= 0 {
		return 0, io.EOF // the pipe is empty: EAGAIN
	}
	o.late += n
	return n, nil
}

// tail keeps the last maxStderr bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write adds b and drops old bytes.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-maxStderr):]...)
	if over := len(t.kept) - maxStderr; over > maxStderr { // rarely, because moving memory costs
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept[max(0, len(t.kept)-maxStderr):])
}
