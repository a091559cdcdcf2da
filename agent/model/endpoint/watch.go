package endpoint

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"buddy/agent/model"
)

// Waits says for how long an answer may be silent, in any state of it; 0 stands for the
// usual value. Every byte ends a silence, those of a ping and of a comment too. How long an
// answer takes as a whole is not limited.
type Waits struct {
	FirstByte time.Duration // until something of the answer is there; usually 300 s, 600 s near
	Stall     time.Duration // after that; usually 120 s, and 300 s once it thinks or writes a call
	KeepAlive time.Duration // how long only pings and the like may come; usually 600 s
}

// The usual waits. Models think for minutes and write a file's contents as one piece:
// gateways were measured to be silent for 78 and 329 s. Servers nearby compute long prompts
// on small machines.
const (
	firstByte     = 300 * time.Second
	firstByteNear = 600 * time.Second
	stall         = 120 * time.Second
	stallDeep     = 300 * time.Second
	keepAlive     = 600 * time.Second
)

// filled returns w with the usual values in place of zeros. The wait of an answer that
// thinks or writes a call is found in deep.
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

// stalls returns how long an answer that has begun may be silent.
func (w Waits) stalls(deep bool) time.Duration {
	switch {
	case w.Stall > 0:
		return w.Stall
	case deep:
		return stallDeep
	}
	return stall
}

// near reports whether a host is this machine or one of the same network.
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

// silence is a wait for bytes that was too long.
type silence uint8

const (
	noAnswer  silence = iota // nothing of the answer came
	stalled                  // it stopped in the middle
	noContent                // only pings and the like came
)

// watch knows which silence the call is in. One goroutine uses it: that which reads.
type watch struct {
	begun bool          // something of the answer came
	deep  bool          // that was no text: a thought, a piece of a call
	pings time.Time     // since when only bytes came that are nothing of the answer; zero = none did
	grace time.Duration // the longest wait at the end of an answer; 0 = it is not there
	limit time.Duration // of the wait that goes on, or was the last
	kind  silence
}

// begin starts a wait and returns how long it may take.
func (w *watch) begin(waits Waits, now time.Time) time.Duration {
	w.kind, w.limit = noAnswer, waits.FirstByte
	if w.begun {
		w.kind, w.limit = stalled, waits.stalls(w.deep)
	}
	if left := waits.KeepAlive - now.Sub(w.pings); !w.pings.IsZero() && left < w.limit {
		w.kind, w.limit = noContent, waits.KeepAlive
		return max(left, 0)
	}
	if w.grace > 0 {
		w.limit = min(w.limit, w.grace)
	}
	return w.limit
}

// end ends a wait in which n bytes came. Content tells it when they were of the answer.
func (w *watch) end(n int, now time.Time) {
	if n > 0 && w.pings.IsZero() {
		w.pings = now
	}
}

// Content says that something of the answer came, of a kind.
func (c *Call) Content(kind model.DeltaKind) {
	c.watch.begun, c.watch.pings = true, time.Time{}
	c.watch.deep = c.watch.deep || kind != model.Text
	c.gather.text = kind == model.Text || kind == model.Reasoning
}

// Working says that the server processes the request, of whose answer nothing came.
func (c *Call) Working() { c.watch.pings = time.Time{} }

// Expect shortens the wait for further bytes, when the answer is known to be nearly over.
func (c *Call) Expect(wait time.Duration) { c.watch.grace, c.gather.text = wait, false }

// watched bounds every wait for bytes. The timer runs during a read only: a slow
// reader is not the server's fault.
type watched struct {
	io.ReadCloser
	call *Call
}

func (w watched) Read(p []byte) (int, error) {
	w.call.gather.hold(w.call.ctx)
	began := time.Now()
	w.call.timer.Reset(w.call.watch.begin(w.call.e.waits, began))
	n, err := w.ReadCloser.Read(p)
	w.call.timer.Stop()
	now := time.Now()
	w.call.watch.end(n, now)
	w.call.log.read(n)
	w.call.gather.note(n, now, now.Sub(began))
	return n, err
}

// silent fills in why a call that was silent for too long was ended.
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
		e.Kind, e.What = model.TimeoutError, fmt.Sprintf("no answer began within %v", c.watch.limit)
		e.Hint = "first_byte_timeout in " + c.section() + " allows more"
		if c.e.near {
			e.Kind = model.SlowError
			e.What += "; the server may still compute the prompt, so it is not sent again"
		}
	}
}
