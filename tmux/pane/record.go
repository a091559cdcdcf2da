package pane

import "os"

// Record records one stream of a command: its beginning in a file, its end in memory and at
// last in a second file. Its owner serialises the calls. Use [NewRecord].
type Record struct {
	path   string
	file   *os.File // nil until the first output
	size   int64    // bytes in file, including those after the end of the command
	total  int64    // bytes of the command itself
	tail   []byte   // ends with the command's last TailMax bytes
	sealed bool
	fault  error // first error of writing; recording has stopped then
}

// NewRecord returns a Record whose files are path and path + ".tail".
func NewRecord(path string) *Record { return &Record{path: path} }

// Open creates the file. Without it the first output does: a file costs time, and most
// commands write nothing to stderr.
func (c *Record) Open() (err error) {
	c.file, err = os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return err
}

// Total returns the number of bytes that the command itself wrote.
func (c *Record) Total() int64 { return c.total }

// Fault returns the first error of writing, or nil.
func (c *Record) Fault() error { return c.fault }

// Add records p. After Seal it only fills up the file, with output of jobs that the command
// left in the background.
func (c *Record) Add(p []byte) {
	if c.file == nil && c.fault == nil {
		c.fault = c.Open()
	}
	if room := HeadMax - c.size; room > 0 && c.fault == nil {
		n, err := c.file.Write(p[:min(room, int64(len(p)))])
		c.size += int64(n)
		c.fault = err
	}
	if !c.sealed {
		c.total += int64(len(p))
		c.tail = keepLast(c.tail, p, TailMax)
	}
}

// SkipTo records that the stream has total bytes by now, of which end holds the last.
func (c *Record) SkipTo(total int64, end []byte) {
	c.total = total
	c.tail = keepLast(c.tail[:0], end, TailMax)
}

// Seal marks the end of the command's own output and writes the tail file if it is needed.
func (c *Record) Seal() {
	if c.sealed {
		return
	}
	c.sealed = true
	if c.total > HeadMax {
		if err := os.WriteFile(c.path+".tail", lastOf(c.tail, TailMax), 0o600); c.fault == nil {
			c.fault = err
		}
	}
}

// Close closes the file, once nothing can be written any more.
func (c *Record) Close() {
	if c.file != nil {
		_ = c.file.Close()
	}
}

// keepLast appends p to buf and drops bytes from the front, keeping at least the last n. The
// result may be up to 2n long, so that not every call moves memory.
func keepLast(buf, p []byte, n int) []byte {
	if len(p) >= n {
		return append(buf[:0], p[len(p)-n:]...)
	}
	buf = append(buf, p...)
	if len(buf) > 2*n {
		buf = buf[:copy(buf, buf[len(buf)-n:])]
	}
	return buf
}

func lastOf(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
