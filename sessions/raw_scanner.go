package sessions

import (
	"bytes"
	"errors"
	"io"
)

// rawBlock is the number of bytes that a rawScanner reads at once.
const rawBlock = 256 << 10

// rawScanner finds lines by their bytes, without decoding them. It reuses its buffer for each file.
type rawScanner struct{ buf []byte }

// lines calls f for each line of r between two offsets in which find finds something, until f returns false, and
// returns the offset reached. from must be the start of a line. It skips an incomplete last line and lines longer than
// any that we write. A line is valid during the call.
func (s *rawScanner) lines(r io.ReaderAt, from, to int64, find func([]byte) int, f func(line []byte) bool) (int64, error) {
	if s.buf == nil {
		s.buf = make([]byte, rawBlock)
	}
	kept, skipping := 0, false
	for from+int64(kept) < to {
		want := min(int64(len(s.buf)-kept), to-from-int64(kept))
		n, err := r.ReadAt(s.buf[kept:kept+int(want)], from+int64(kept))
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return from, notEOF(err)
		}
		text := s.buf[:kept+n]
		if skipping { // until the end of a line that is too long
			i := bytes.IndexByte(text, '\n')
			if skipping = i < 0; skipping {
				i = n - 1
			}
			from += int64(i) + 1
			continue
		}
		whole := 0
		if i := bytes.LastIndexByte(text[kept:], '\n'); i >= 0 {
			whole = kept + i + 1
		}
		if !matches(text[:whole], find, f) {
			return from + int64(whole), nil
		}
		kept = copy(s.buf, text[whole:])
		from += int64(whole)
		if kept == maxLine {
			from, kept, skipping = from+int64(kept), 0, true
		}
		if kept == len(s.buf) {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
	}
	return from, nil
}

func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// matches calls f for the lines of text in which find finds something.
func matches(text []byte, find func([]byte) int, f func(line []byte) bool) bool {
	for len(text) > 0 {
		i := find(text)
		if i < 0 {
			return true
		}
		start := bytes.LastIndexByte(text[:i], '\n') + 1
		end := i + bytes.IndexByte(text[i:], '\n')
		if !f(text[start:end]) {
			return false
		}
		text = text[end+1:]
	}
	return true
}
