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
	// gatherTime says how long words are gathered before they are read. Each read is a frame of the
	// screen, so this is what an answer that streams costs.
	gatherTime = 50 * time.Millisecond

	slowRead  = time.Millisecond // a read that took as long had to wait for the server
	largeRead = 8 << 10          // bytes of a read, of which there are few a second if it had to wait
)

// gather lets text that comes word by word be read some words at a time: one wake-up of the process
// for each word is most of what an answer costs. While words come it waits before it reads what is
// not there yet. The first words are read as they come, and so are calls, for which something waits.
// One goroutine uses it: that which reads.
type gather struct {
	text  bool            // what came last was text or a thought, and more is to come
	words bool            // the last reads brought some words each
	last  time.Time       // when the last read ended
	conn  syscall.RawConn // over which the answer comes, and nothing else; nil if it is not known
}

// hold returns when it is time to read, or ctx ends.
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

// note tells of a read of n bytes that took so long.
func (g *gather) note(n int, now time.Time, took time.Duration) {
	waited := took >= slowRead
	soon := now.Sub(g.last) < gatherTime
	g.words = n < largeRead && (waited && soon || !waited && g.words)
	g.last = now
}

// arrived reports whether bytes are there already: of a connection with TLS a read gives the words
// of one record.
func (g *gather) arrived() (some bool) {
	if g.conn != nil {
		_ = g.conn.Control(func(fd uintptr) { // an error is told by the next read
			_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
			some = err == nil
		})
	}
	return some
}

// wakeAt makes the system wake the process only when n bytes have come: it would for each word,
// though nobody reads.
func (g *gather) wakeAt(n int) {
	if g.conn != nil {
		_ = g.conn.Control(func(fd uintptr) { // it is no harm if that fails
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, n)
		})
	}
}

// trace returns what finds out the connection of a request.
func (g *gather) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		conn := got.Conn
		if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = secure.NetConn()
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			g.conn, _ = tcp.SyscallConn()
		}
	}}
}
