package endpoint

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// callLog measures where the time of a request is spent, and logs it if slog logs debug lines. A nil callLog does
// nothing. Headers and bodies are never logged.
type callLog struct {
	url     string
	started time.Time

	mu    sync.Mutex // guards the fields below: a dial may outlast the call
	attrs []any
	bytes int
	ended bool
}

// newCallLog returns a log, and req with a trace that records into the log.
func newCallLog(req *http.Request, url string) (*callLog, *http.Request) {
	if !slog.Default().Enabled(req.Context(), slog.LevelDebug) {
		return nil, req
	}
	l := &callLog{url: url, started: time.Now()}
	trace := &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { l.note("reused", i.Reused); l.mark("connected_ms") },
		DNSDone:              func(httptrace.DNSDoneInfo) { l.mark("name_ms") },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { l.mark("tls_ms") },
		WroteRequest:         func(httptrace.WroteRequestInfo) { l.mark("sent_ms") },
		GotFirstResponseByte: func() { l.mark("first_byte_ms") },
	}
	return l, req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
}

// mark logs how long after the start of the request something happened.
func (l *callLog) mark(what string) { l.note(what, time.Since(l.started).Milliseconds()) }

func (l *callLog) note(what string, value any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attrs = append(l.attrs, what, value)
}

// answered logs the result of Do.
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

// end writes the log line. Later calls do nothing.
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
