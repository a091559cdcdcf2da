package modeltest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
)

// Transport returns a transport that passes requests to the server without a network, so that tests can use
// [testing/synctest]:
//
//	srv := modeltest.New(modeltest.Steps(…))
//	m := p.New(t, modeltest.Config{BaseURL: "http://host/v1", HTTPClient: &http.Client{Transport: srv.Transport()}})
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

// RoundTrip returns as soon as the server has sent the headers of its answer. The body is streamed until the answer or
// the request's context ends.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close() // it is read
	asked := req.Clone(req.Context())
	asked.Body, asked.RequestURI = io.NopCloser(bytes.NewReader(body)), req.URL.RequestURI()
	from, to := io.Pipe()
	w := &answering{to: to, header: make(http.Header), started: make(chan struct{})}
	stop := func() { _ = to.CloseWithError(req.Context().Err()) }
	end := func(err error) {
		w.WriteHeader(http.StatusOK) // for an answer without a body
		_ = to.CloseWithError(err)
	}
	unwatch := context.AfterFunc(req.Context(), stop)
	go func() {
		defer unwatch()
		defer func() {
			if recover() != nil { // http.ErrAbortHandler: see Cut
				end(io.ErrUnexpectedEOF)
			}
		}()
		t.server.ServeHTTP(w, asked)
		end(req.Context().Err())
	}()
	select {
	case <-w.started:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return &http.Response{
		StatusCode: w.code, Header: w.sent, Body: from, Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

// answering is the http.ResponseWriter that a server writes its answer to.
type answering struct {
	to      *io.PipeWriter
	header  http.Header
	once    sync.Once
	started chan struct{} // closed when code and sent are set
	code    int
	sent    http.Header
}

func (w *answering) Header() http.Header { return w.header }

func (w *answering) WriteHeader(code int) {
	w.once.Do(func() {
		w.code, w.sent = code, w.header.Clone()
		close(w.started)
	})
}

func (w *answering) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.to.Write(p)
}

// Flush does nothing, because nothing is buffered.
func (*answering) Flush() {}
