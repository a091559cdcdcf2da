package pane

import (
	"fmt"
	"os"
)

// Record records one stream of a command in a file. If the stream is longer than the limit, the file has its start, a
// line with the number of missing bytes, and its end. Calls must not overlap. Create it with [NewRecord].
type Record struct {
	path   string
	file   *os.File // nil until the first output
	most   int64    // maximum bytes from the start in the file
	size   int64    // bytes in file, including those after the end of the command
	total  int64    // bytes of the command itself
	gap    int64    // bytes of the command missing in the file, once sealed
	tail   []byte   // ends with the last TailMax bytes of the command's output
	sealed bool
	fault  error // first error of writing; recording has stopped then
}

// NewRecord returns a Record that writes to the file at path. most limits the bytes from the start of the stream; 0
// means [WholeMax]. If the stream is longer, its last TailMax bytes are written, too.
func NewRecord(path string, most int64) *Record {
	if most <= 0 {
		most = WholeMax
	}
	return &Record{path: path, most: most}
}

// Open creates the file. Without Open, the file is created with the first output. This saves time, because most
// commands write nothing to stderr.
func (c *Record) Open() (err error) {
	c.file, err = os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return err
}

// Total returns the number of bytes that the command itself wrote.
func (c *Record) Total() int64 { return c.total }

// Gap returns the number of the command's bytes that are missing in the file. It is known after Seal.
func (c *Record) Gap() int64 { return c.gap }

// Fault returns the first error of writing, or nil.
func (c *Record) Fault() error { return c.fault }

// Add records p. After Seal, p is output of background jobs, and only as much of it is written as the file has room
// for.
func (c *Record) Add(p []byte) {
	if room := c.most - c.size; room > 0 && c.size >= c.total || c.sealed {
		c.write(p[:min(max(room, 0), int64(len(p)))])
	}
	if !c.sealed {
		c.total += int64(len(p))
		c.tail = keepLast(c.tail, p, TailMax)
	}
}

// write writes to the file, unless an earlier write has failed.
func (c *Record) write(p []byte) {
	if c.file == nil && c.fault == nil {
		c.fault = c.Open()
	}
	if c.fault == nil && len(p) > 0 {
		n, err := c.file.Write(p)
		c.size += int64(n)
		c.fault = err
	}
}

// SkipTo records that the stream now has total bytes; end holds the last of them.
func (c *Record) SkipTo(total int64, end []byte) {
	if known := total - int64(len(end)); known <= c.total && c.total <= total { // no bytes are missing before end
		c.Add(end[c.total-known:])
		return
	}
	c.total = total
	c.tail = keepLast(c.tail[:0], end, TailMax)
}

// Seal marks the end of the command's own output. If the file is incomplete, the end of the output is added.
func (c *Record) Seal() {
	if c.sealed {
		return
	}
	c.sealed = true
	missing := c.total - c.size
	if missing <= 0 || c.fault != nil {
		c.gap = max(missing, 0)
		return
	}
	end := lastOf(c.tail, int(min(missing, TailMax)))
	if c.gap = missing - int64(len(end)); c.gap > 0 {
		c.write(fmt.Appendf(nil, "\n[buddy did not record %d bytes of this output here]\n", c.gap))
	}
	c.write(end)
	c.most = 0 // output of jobs must not follow a gap
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
