package sessions

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	maxLine   = 64 << 20 // bytes; a longer line is never written and never read
	blockSize = 64 << 10
)

// scan calls f for each line, without its newline, until f returns false. It passes a line longer than limit as nil.
// The line is valid during the call. It returns the number of bytes of a last line without newline.
func scan(br *bufio.Reader, limit int, f func(off int64, line []byte) bool) (torn int64, err error) {
	var (
		long []byte // collects a line that does not fit into br's buffer
		off  int64  // of the line
		n    int64  // bytes of the line so far
	)
	for {
		part, err := br.ReadSlice('\n')
		n += int64(len(part))
		keep := n <= int64(limit)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if keep {
				long = append(long, part...)
			}
			continue
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		line := part
		if len(long) > 0 {
			long = append(long, part...)
			line = long
		}
		if keep {
			line = line[:len(line)-1]
		} else {
			line = nil
		}
		if !f(off, line) {
			return 0, nil
		}
		off, n, long = off+n, 0, long[:0]
	}
}

// backward walks a file's lines from the end.
type backward struct {
	r   io.ReaderAt
	pos int64  // start of the last line found; the next one ends there
	buf []byte // the file's bytes from off on
	off int64
}

// prev moves pos to the start of the previous line.
func (b *backward) prev() error {
	at := b.pos - 1 // its newline
	for at > 0 {
		if at <= b.off || at > b.off+int64(len(b.buf)) {
			if err := b.load(at); err != nil {
				return err
			}
		}
		if i := bytes.LastIndexByte(b.buf[:at-b.off], '\n'); i >= 0 {
			b.pos = b.off + int64(i) + 1
			return nil
		}
		at = b.off
	}
	b.pos = 0
	return nil
}

// load fills buf with the block that ends at end.
func (b *backward) load(end int64) error {
	n := min(blockSize, end)
	if b.buf == nil {
		b.buf = make([]byte, blockSize)
	}
	b.buf, b.off = b.buf[:n], end-n
	if _, err := b.r.ReadAt(b.buf, b.off); err != nil {
		b.buf = b.buf[:0]
		return err
	}
	return nil
}
