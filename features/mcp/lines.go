package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// maxFrame limits one message of a server, in bytes.
const maxFrame = 8 << 20

// errFrame ends a connection whose server sent a message that is too long.
var errFrame = fmt.Errorf("it sent a message of more than %d MiB", maxFrame>>20)

// lines reads a program's output and returns only lines with messages. Programs also print greetings and logs, and one
// such line would end the connection.
type lines struct {
	from    *bufio.Reader
	stop    func() // unblocks a read
	pending []byte
	noise   atomic.Int64 // dropped lines
	broken  atomic.Bool  // a message was too long
}

func newLines(from io.Reader, stop func()) *lines {
	return &lines{from: bufio.NewReaderSize(from, 64<<10), stop: stop}
}

// Read returns bytes of messages only.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.pending) == 0 {
		line, err := l.line()
		if err != nil {
			return 0, err
		}
		if isMessage(line) {
			l.pending = append(line, '\n')
		} else if len(bytes.TrimSpace(line)) > 0 {
			l.noise.Add(1)
		}
	}
	n := copy(p, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// Close ends the program, which unblocks Read.
func (l *lines) Close() error {
	l.stop()
	return nil
}

// line returns the next line. A line that is too long is an error if it starts like a message; otherwise it is skipped.
func (l *lines) line() ([]byte, error) {
	var line []byte
	skipping := false
	for {
		part, err := l.from.ReadSlice('\n')
		if !skipping {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if len(line) > 0 && errors.Is(err, io.EOF) {
				return line, nil // the last line has no newline
			}
			return nil, err
		case !skipping && !startsMessage(line):
			skipping, line = true, line[:1]
		case len(line) > maxFrame:
			l.broken.Store(true)
			return nil, errFrame
		}
	}
}

// startsMessage reports whether a line starts like a message or a batch of messages.
func startsMessage(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	if rest, ok := bytes.CutPrefix(line, []byte{'['}); ok {
		line = bytes.TrimLeft(rest, " \t")
	}
	return len(line) > 0 && line[0] == '{'
}

// isMessage reports whether a line is a message or a batch. It parses the line because logs may start with a bracket,
// too.
func isMessage(line []byte) bool { return startsMessage(line) && json.Valid(line) }
