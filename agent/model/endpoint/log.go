package endpoint

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// callLog logs where the time of a request goes, when slog wants lines for debugging. The
// nil callLog does nothing. Headers and bodies stay out of it.
type callLog struct {
	url   string
	began time.Time

	mu    sync.Mutex // guards all below: a dial may go on after the call
	attrs []any
	bytes int
	ended bool
}

// newCallLog returns the request with what watches it.
func newCallLog(req *http.Request, url string) (*callLog, *http.Request) {
	if !slog.Default().Enabled(req.Context(), slog.LevelDebug) {
		return nil, req
	}
	l := &callLog{url: url, began: time.Now()}
	trace := &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { l.note("reused", i.Reused); l.mark("connected_ms") },
		DNSDone:              func(httptrace.DNSDoneInfo) { l.mark("name_ms") },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { l.mark("tls_ms") },
		WroteRequest:         func(httptrace.WroteRequestInfo) { l.mark("sent_ms") },
		GotFirstResponseByte: func() { l.mark("first_byte_ms") },
	}
	return l, req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
}

// mark notes how long after the beginning something happened.
func (l *callLog) mark(what string) { l.note(what, time.Since(l.began).Milliseconds()) }

func (l *callLog) note(what string, value any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attrs = append(l.attrs, what, value)
}

// answered takes what Do came to.
func (l *callLog) answered(resp *http.Response, err error) {
	if l == nil {
		return
	}
	if err != nil {
		l.note("error", withoutURL(err))
		return
	}
	l.mark("headers_ms")
	l.note("status", resp.StatusCode)
	if id := resp.Header.Get("X-Request-Id"); id != "" {
		l.note("request_id", id)
	}
}

func (l *callLog) read(n int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += n
}

// end writes the line, once.
func (l *callLog) end() {
	if l == nil {
		return
	}
	l.mark("ended_ms")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	slog.Debug("request", append([]any{"url", l.url}, append(l.attrs, "bytes", l.bytes)...)...)
}
