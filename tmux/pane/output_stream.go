package pane

import (
	"errors"
	"os"
	"sync"
	"time"
)

var streamBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// outputStream carries one stream of a command from its pipe to its record, the pane and the clients. A background job
// may hold the pipe open long after the command's end; the output of such a job is called late output.
type outputStream struct {
	stream string
	pipe   *os.File
	rec    *Record
	sealed chan struct{} // closed when all output of the command itself is recorded
	cmd    *Command
}

// run copies until nobody holds the pipe any more.
func (l *outputStream) run() {
	buf := streamBuffers.Get().(*[32 << 10]byte)
	defer streamBuffers.Put(buf)
	for {
		n, err := l.pipe.Read(buf[:])
		if n > 0 {
			l.cmd.record(l, buf[:n])
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = l.pipe.SetReadDeadline(time.Time{})
			l.drain(buf[:])
			if atEOF(l.pipe) {
				l.close()
				return
			}
			l.seal()
		default:
			l.close()
			return
		}
	}
}

// ended seals the stream after the end of the command's process, when the pipe has all output of the process. A
// deadline on the pipe wakes run, which then reads exactly that output.
func (l *outputStream) ended() {
	_ = l.pipe.SetReadDeadline(time.Unix(1, 0))
}

// lateMax limits the bytes of a terminal that may still be in transit at the end of a command.
const lateMax = 1 << 20

// drain reads the current contents of the pipe, without output that a background job adds meanwhile. It reads a
// terminal until it is empty, because the kernel may pass on output in several pieces.
func (l *outputStream) drain(buf []byte) {
	if l.cmd.started.inner == nil {
		l.drainOnce(buf)
		return
	}
	for all := 0; all < lateMax && readable(l.pipe); {
		n := l.drainOnce(buf)
		if n == 0 {
			return
		}
		all += n
	}
}

// drainOnce reads the bytes that are in the pipe now, and returns their number.
func (l *outputStream) drainOnce(buf []byte) (all int) {
	for remaining := Waiting(l.pipe); remaining > 0; {
		n, err := l.pipe.Read(buf[:min(remaining, len(buf))])
		if n > 0 {
			l.cmd.record(l, buf[:n])
		}
		all += n
		if err != nil {
			return all
		}
		remaining -= n
	}
	return all
}

// close closes the stream when nobody holds the pipe any more.
func (l *outputStream) close() {
	_ = l.pipe.Close()
	l.seal()
	l.rec.Close()
}

func (l *outputStream) seal() {
	select {
	case <-l.sealed:
		return
	default:
	}
	l.cmd.mu.Lock()
	l.rec.Seal()
	l.cmd.mu.Unlock()
	close(l.sealed)
}
