package pane

import "os"

// Record records one stream of a command: its beginning in a file, its end in memory and
// at last in a second file. Its owner serialises the calls. Use [NewRecord].
type Record struct {
	path   string
	file   *os.File // nil until there is output
	size   int64    // bytes in file, those that came after the end included
	total  int64    // bytes of the command itself
	tail   []byte   // ends with the last TailMax bytes of the command
	sealed bool
	fault  error // the first error of writing; recording has stopped then
}

// NewRecord returns a Record whose files are path and path + ".tail".
func NewRecord(path string) *Record { return &Record{path: path} }

// Open makes the file. Without it the first output does: a file costs time, and most
// commands say nothing on stderr.
func (c *Record) Open() (err error) {
	c.file, err = os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return err
}

// Total is how many bytes the command itself wrote.
func (c *Record) Total() int64 { return c.total }

// Fault is the first error of writing, nil if there was none.
func (c *Record) Fault() error { return c.fault }

// Add records p. After Seal it only fills up the file: that is output of a job which
// the command left in the background.
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

// SkipTo says that the stream has total bytes by now, of which end holds the last.
func (c *Record) SkipTo(total int64, end []byte) {
	c.total = total
	c.tail = keepLast(c.tail[:0], end, TailMax)
}

// Seal ends the command's own output and writes the tail file if it is needed.
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

// Close is for when nothing can be written any more.
func (c *Record) Close() {
	if c.file != nil {
		_ = c.file.Close()
	}
}

// keepLast appends p to buf and drops from the front what is not among the last n bytes;
// the result may be up to 2n long, so that not every call moves memory.
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
