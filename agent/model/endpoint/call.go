package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/sse"
)

// errTimeout is the cancellation cause if no data arrived in time.
var errTimeout = errors.New("timeout")

// Call is one request to an endpoint. Its method Do stands in for that of an HTTP client and may be called once. The
// caller must close the Call.
type Call struct {
	e      *Endpoint
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	watch  watch
	gather gather
	shown  string // the URL of the request
	cost   string // cost as stated in a gateway's header; "" if none
	limits []model.RateLimit
	body   *sse.Reader
	log    *callLog // nil: no debug log
}

// Call starts one request. Cancelling ctx ends it at any point.
func (e *Endpoint) Call(ctx context.Context) *Call {
	c := &Call{e: e, parent: ctx, shown: e.shown}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.timer = time.AfterFunc(time.Hour, func() { c.cancel(errTimeout) })
	c.timer.Stop()
	return c
}

// Context returns the context that the request must be sent with.
func (c *Call) Context() context.Context { return c.ctx }

// Close ends the request. After a complete answer, it first reads the rest of the body.
func (c *Call) Close() {
	if c.body != nil {
		_ = c.body.Close() // the answer was read or abandoned
	}
	c.log.end()
	c.timer.Stop()
	c.cancel(nil)
}

// Finished reports whether the answer was marked as complete, see [sse.Reader.Finished].
func (c *Call) Finished() bool { return c.body != nil && c.body.Finished() }

// Finish marks the answer as complete, for protocols whose end mark is not [DONE].
func (c *Call) Finish() { c.body.Finish() }

// Next returns the next event of the answer, see [sse.Reader.Next]. It returns io.EOF at [DONE]. If it returns nil
// without an error, bytes have arrived, but no complete event.
func (c *Call) Next() ([]byte, error) {
	event, err := c.body.Next()
	if event == nil && err == nil && c.body.Partial() {
		c.watch.pings = time.Time{} // not a ping, but a part of an event
	}
	if string(event) == "[DONE]" {
		return nil, io.EOF
	}
	return event, err
}

// Cost returns the cost of the request, if a gateway states it in a header, or 0. LiteLLM does so for answers that are
// not streamed: docs.litellm.ai/docs/proxy/response_headers.
func (c *Call) Cost() model.Money {
	f, _ := strconv.ParseFloat(c.cost, 64) // "" and "None" become 0
	return model.Dollars(f)
}

// Limits returns the account's rate limits as headers of the answer state them.
func (c *Call) Limits() []model.RateLimit { return c.limits }

// More reports whether Next has another event without waiting.
func (c *Call) More() bool { return c.body.More() }

// Do sends req, which must have the Call's context. It returns a [model.Error], or the cancellation cause if the
// caller's context has ended. The body of the response is empty; read the answer with Next.
func (c *Call) Do(req *http.Request) (*http.Response, error) {
	c.e.dress(req)
	shown := *req.URL
	shown.User, shown.RawQuery = nil, ""
	c.shown = shown.String()
	c.log, req = newCallLog(req, c.shown)
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), c.gather.trace()))
	c.timer.Reset(c.watch.start(c.e.waits, time.Now()))
	resp, err := c.e.client.Do(req)
	c.log.answered(resp, err)
	if err != nil {
		c.timer.Stop()
		return nil, c.Explain(err)
	}
	if resp.ProtoMajor > 1 {
		c.gather.conn = nil // the connection has other answers as well
	}
	plain, err := unpacked(watched{resp.Body, c}, resp.Header.Get("Content-Encoding"))
	if err != nil {
		_ = resp.Body.Close() // it cannot be read
		c.timer.Stop()
		return nil, c.Explain(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		head, _ := io.ReadAll(io.LimitReader(plain, maxPage)) // only the start is shown
		_ = resp.Body.Close()
		c.timer.Stop()
		return nil, c.unknownModel(req, c.status(resp, head), head)
	}
	c.timer.Stop()
	c.cost, c.limits = resp.Header.Get("X-Litellm-Response-Cost"), limits(resp.Header, time.Now())
	c.body = sse.NewReader(body{plain, resp.Body}, resp.Header.Get("Content-Type"))
	resp.Body = http.NoBody
	return resp, nil
}
