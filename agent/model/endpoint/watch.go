package endpoint

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"buddy/agent/model"
)

// Waits limits how long an answer may be silent in each of its states; 0 means the default. Every byte ends a silence,
// even a byte of a ping or a comment. The total time of an answer is not limited.
type Waits struct {
	FirstByte time.Duration // until the first byte of the answer; default 300 s, or 600 s for a server nearby
	Stall     time.Duration // after that; default 120 s, or 300 s once the model thinks or writes a call
	KeepAlive time.Duration // while only pings and the like arrive; default 600 s
}

// The default waits. Models think for minutes, and gateways hold back a file's contents until it is complete: silences
// of 78 and 329 s were measured. Servers nearby may process long prompts on slow machines.
const (
	firstByte     = 300 * time.Second
	firstByteNear = 600 * time.Second
	stall         = 120 * time.Second
	stallDeep     = 300 * time.Second
	keepAlive     = 600 * time.Second
)

// filled returns w with defaults in place of zeros, except for Stall: its default depends on the answer, see stalls.
func (w Waits) filled(near bool) Waits {
	if w.FirstByte <= 0 {
		w.FirstByte = firstByte
		if near {
			w.FirstByte = firstByteNear
		}
	}
	if w.KeepAlive <= 0 {
		w.KeepAlive = keepAlive
	}
	return w
}

// stalls returns how long an answer that has started may be silent.
func (w Waits) stalls(deep bool) time.Duration {
	switch {
	case w.Stall > 0:
		return w.Stall
	case deep:
		return stallDeep
	}
	return stall
}

// near reports whether a host is this machine or on the same network.
func near(host string) bool {
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan"} { // RFC 6761, 6762; host.docker.internal
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return host == "localhost"
}

// silence says in which state of an answer nothing arrived.
type silence uint8

const (
	noAnswer  silence = iota // no byte of the answer arrived
	stalled                  // the answer has started, then nothing arrived
	noContent                // only pings and the like arrived
)

// watch tracks what the call is waiting for, and for how long. Only the reading goroutine uses it.
type watch struct {
	started bool          // some of the answer arrived
	deep    bool          // some of it was not text: a thought, a piece of a call
	pings   time.Time     // when bytes without content started to arrive; zero = none since the last content
	grace   time.Duration // the longest wait at the end of an answer; 0 = the end is not reached
	limit   time.Duration // of the current wait, or of the last one
	kind    silence
}

// start starts a wait and returns how long it may take.
func (w *watch) start(waits Waits, now time.Time) time.Duration {
	w.kind, w.limit = noAnswer, waits.FirstByte
	if w.started {
		w.kind, w.limit = stalled, waits.stalls(w.deep)
	}
	if remaining := waits.KeepAlive - now.Sub(w.pings); !w.pings.IsZero() && remaining < w.limit {
		w.kind, w.limit = noContent, waits.KeepAlive
		return max(remaining, 0)
	}
	if w.grace > 0 {
		w.limit = min(w.limit, w.grace)
	}
	return w.limit
}

// end records that a wait has ended with n bytes. If the bytes turn out to be content, the caller also calls Content.
func (w *watch) end(n int, now time.Time) {
	if n > 0 && w.pings.IsZero() {
		w.pings = now
	}
}

// Content records that content of a kind arrived.
func (c *Call) Content(kind model.DeltaKind) {
	c.watch.started, c.watch.pings = true, time.Time{}
	c.watch.deep = c.watch.deep || kind != model.Text
	c.gather.text = kind == model.Text || kind == model.Reasoning
}

// Working records that the server is still processing the request, so that the limit for the time without content
// starts again.
func (c *Call) Working() { c.watch.pings = time.Time{} }

// Expect shortens the wait for further bytes, when the answer is known to be nearly over.
func (c *Call) Expect(wait time.Duration) { c.watch.grace, c.gather.text = wait, false }

// watched limits every wait for bytes. The timer runs only during a read, because the server is not to blame for a slow
// reader.
type watched struct {
	io.ReadCloser
	call *Call
}

func (w watched) Read(p []byte) (int, error) {
	w.call.gather.hold(w.call.ctx)
	started := time.Now()
	w.call.timer.Reset(w.call.watch.start(w.call.e.waits, started))
	n, err := w.ReadCloser.Read(p)
	w.call.timer.Stop()
	now := time.Now()
	w.call.watch.end(n, now)
	w.call.log.read(n)
	w.call.gather.note(n, now, now.Sub(started))
	return n, err
}

// silent sets the fields of e for a call that ended because the server was silent for too long.
func (c *Call) silent(e *model.Error) {
	e.Kind, e.Silence = model.StallError, c.watch.limit
	switch c.watch.kind {
	case noContent:
		e.What = fmt.Sprintf("stream stalled: only keep-alives came for %v", c.watch.limit)
		e.Hint = "keepalive_timeout in " + c.section() + " allows more"
	case stalled:
		e.What = fmt.Sprintf("stream stalled: nothing came for %v", c.watch.limit)
		e.Hint = "stall_timeout in " + c.section() + " allows more"
	default:
		e.Kind, e.What = model.TimeoutError, fmt.Sprintf("no answer started within %v", c.watch.limit)
		e.Hint = "first_byte_timeout in " + c.section() + " allows more"
		if c.e.near {
			e.Kind = model.SlowError
			e.What += "; the server may still be processing the prompt, so the request is not sent again"
		}
	}
}
