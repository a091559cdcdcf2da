package endpoint

import (
	"context"
	"net"
	"net/http/httptrace"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// gatherTime delays a read, so that it returns several words. Each read makes the screen draw a frame, which is the
	// main cost of a streaming answer.
	gatherTime = 50 * time.Millisecond

	slowRead  = time.Millisecond // a read that takes this long had to wait for the server
	largeRead = 8 << 10          // bytes; a larger read that had to wait happens only a few times a second
)

// gather delays reads of text that arrives word by word, so that one read returns several words: waking the process for
// each word is most of the cost of an answer. The first words and tool calls are read at once. Only the reading
// goroutine uses it.
type gather struct {
	text  bool            // the last content was text or a thought, and more will follow
	words bool            // the last reads returned a few words each
	last  time.Time       // when the last read ended
	conn  syscall.RawConn // the connection if it carries only this answer; nil if unknown
}

// hold waits until the next read is due, or ctx ends.
func (g *gather) hold(ctx context.Context) {
	if !g.text || !g.words || g.arrived() {
		return
	}
	g.wakeAt(largeRead)
	defer g.wakeAt(1)
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// note records a read of n bytes that took elapsed.
func (g *gather) note(n int, now time.Time, elapsed time.Duration) {
	waited := elapsed >= slowRead
	soon := now.Sub(g.last) < gatherTime
	g.words = n < largeRead && (waited && soon || !waited && g.words)
	g.last = now
}

// arrived reports whether bytes can be read without waiting. With TLS, one read returns only the words of one record,
// even if more have arrived.
func (g *gather) arrived() (some bool) {
	if g.conn != nil {
		_ = g.conn.Control(func(fd uintptr) { // the next read reports the error
			_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
			some = err == nil
		})
	}
	return some
}

// wakeAt sets how many bytes must arrive before the operating system wakes the process. By default, a single word does,
// even if nothing is reading.
func (g *gather) wakeAt(n int) {
	if g.conn != nil {
		_ = g.conn.Control(func(fd uintptr) { // a failure is harmless
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, n)
		})
	}
}

// trace returns a trace that stores which connection the request uses.
func (g *gather) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		conn := info.Conn
		if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = secure.NetConn()
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			g.conn, _ = tcp.SyscallConn()
		}
	}}
}
