package completions_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/retry"
)

// TestFaults plays the faults of all protocols, and this protocol's own.
func TestFaults(t *testing.T) {
	connect := func(t *testing.T, url string) model.Model {
		return newModel(t, completions.Config{Profile: "work", BaseURL: url, Access: endpoint.Access{Key: modeltest.Secret, KeySource: "env TEST_KEY"}})
	}
	modeltest.TestFaults(
		t, "/chat/completions", "responses", connect,
		modeltest.Fault{Name: "no end", Answer: modeltest.Answer{modeltest.Text("half"), modeltest.End{}}, Kind: model.CutError, Retry: true, Text: "half", Want: []string{": the answer was cut off"}},
		modeltest.Fault{Name: "error finish", Answer: modeltest.Answer{modeltest.Text("half"), modeltest.Finish("error")}, Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{`finish_reason "error"`}},
		modeltest.Fault{Name: "malformed", Answer: modeltest.Answer{modeltest.Text("half"), modeltest.Raw("data: {\"choices\":[}\n\n")}, Kind: model.FormatError, Retry: true, Text: "half", Want: []string{"not a chat completion"}},
		modeltest.Fault{Name: "wrong types", Answer: modeltest.Answer{modeltest.Event(`{"choices":"none"}`)}, Kind: model.FormatError, Retry: true, Want: []string{"not a chat completion"}},
		modeltest.Fault{Name: "calls are no list", Answer: modeltest.Answer{modeltest.Event(delta(`"tool_calls":7`))}, Kind: model.FormatError, Retry: true, Want: []string{"the tool calls in the answer are not a list"}},
		modeltest.Fault{Name: "function is no object", Answer: modeltest.Answer{modeltest.Event(delta(`"tool_calls":[{"function":7}]`))}, Kind: model.FormatError, Retry: true, Want: []string{"a tool call in the answer is invalid"}},
	)
}

// TestKeepAlives: comments keep an answer alive and are not part of it.
func TestKeepAlives(t *testing.T) {
	r := ask(t, modeltest.Answer{modeltest.KeepAlive{N: 20, Every: time.Millisecond}, modeltest.Text("a"), modeltest.KeepAlive{N: 3}, modeltest.Text("b")})
	if r.Err != nil || r.Text != "ab" {
		t.Errorf("%+v", r)
	}
}

// TestNoServer: nothing listens at the address.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := modeltest.Collect(t.Context(), newModel(t, completions.Config{BaseURL: "http://" + addr + "/v1"}), question)
	want := addr + ": connection refused; nothing listens at " + addr + ": start the server or check api_base_url"
	e, ok := errors.AsType[*model.Error](r.Err)
	if !ok || e.Kind != model.ConnectError || !e.Retryable() || r.Err.Error() != want {
		t.Errorf("error = %v, want %s", r.Err, want)
	}
}

// TestNotTheProtocol: a server without TLS, an untrusted certificate, a server that hangs up, an unknown host.
func TestNotTheProtocol(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	signed := httptest.NewUnstartedServer(http.NotFoundHandler())
	signed.Config.ErrorLog = log.New(io.Discard, "", 0)
	signed.StartTLS()
	defer signed.Close()
	rude := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer rude.Close()
	nowhere := &http.Client{Transport: failing{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere.example", Err: "no such host", IsNotFound: true}}}}
	for _, tt := range []struct {
		url    string
		client *http.Client
		retry  bool
		want   string
	}{
		{strings.Replace(plain.URL, "http:", "https:", 1), nil, false, "the server does not speak TLS; check api_base_url: it may have to begin with http://"},
		{signed.URL, nil, false, "the certificate is not trusted: x509: "},
		{rude.URL, nil, true, "the server closed the connection without an answer"},
		{"http://nowhere.example", nowhere, true, `host "nowhere.example" not found; check api_base_url and the network`},
	} {
		r := modeltest.Collect(t.Context(), newModel(t, completions.Config{BaseURL: tt.url, HTTPClient: tt.client}), question)
		e, ok := errors.AsType[*model.Error](r.Err)
		if !ok || e.Retryable() != tt.retry || !strings.Contains(r.Err.Error(), tt.want) {
			t.Errorf("error = %v, want %q", r.Err, tt.want)
		}
	}
}

// failing is a transport that fails.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// TestNotSent: a request refused by the SDK has a hint.
func TestNotSent(t *testing.T) {
	m := newModel(t, completions.Config{Profile: "work", BaseURL: "http://127.0.0.1:1", Model: "gpt-6-sol"})
	r := modeltest.Collect(t.Context(), m, model.Request{Messages: question.Messages, Tools: []model.ToolDef{toolDef("x")}})
	e, ok := errors.AsType[*model.Error](r.Err)
	if !ok || e.Retryable() || !strings.Contains(r.Err.Error(), `api = "responses" in [models.work]`) {
		t.Error(r.Err)
	}
}

// TestRetryEndToEnd: a fault in the middle, then a complete answer.
func TestRetryEndToEnd(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Text("half"), modeltest.Cut{}},
		modeltest.Answer{modeltest.Text("whole")},
	))
	r := modeltest.Collect(t.Context(), retry.New(newModel(t, completions.Config{BaseURL: srv.URL}), ""), question)
	if r.Err != nil || r.Text != "halfwhole" || r.Done.Message.Content != "whole" || r.Kinds[1] != model.Retry {
		t.Errorf("%+v", r)
	}
}

// TestRetryAfterDate: the header may be a date.
func TestRetryAfterDate(t *testing.T) {
	for value, want := range map[string]time.Duration{
		time.Now().Add(100 * time.Second).UTC().Format(http.TimeFormat): 100 * time.Second,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat):        0,
		"1.5": 1500 * time.Millisecond, "-3": 0, "soon": 0, "": 0, "1e99": 0,
	} {
		r := ask(t, modeltest.Answer{modeltest.Status{Code: 503, Header: map[string]string{"Retry-After": value}}})
		e, ok := errors.AsType[*model.Error](r.Err)
		if !ok || e.RetryAfter > want || e.RetryAfter < want-5*time.Second || (want == 0 && e.RetryAfter != 0) {
			t.Errorf("%q: %+v, want %v", value, e, want)
		}
	}
}

// scripted is a transport for tests with a fake clock: write plays the body.
type scripted struct {
	headers time.Duration // until the headers arrive
	write   func(w io.Writer)
}

func (s scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.headers):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	pr, pw := io.Pipe()
	stop := context.AfterFunc(req.Context(), func() { _ = pr.CloseWithError(req.Context().Err()) })
	go func() {
		defer stop()
		s.write(pw)
		_ = pw.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: req}, nil
}

// TestNoEndAfterTheFinishReason: the wait after the finish reason is short.
func TestNoEndAfterTheFinishReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(2 * time.Hour) // the server ends
		server := scripted{write: func(w io.Writer) {
			_, _ = io.WriteString(w, "data: "+delta(`"content":"a"`)+"\n\n"+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n")
			time.Sleep(time.Hour)
		}}
		began := time.Now()
		r := modeltest.Collect(t.Context(), newModel(t, completions.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: server}}), question)
		if r.Done == nil || r.Text != "a" || time.Since(began) != 5*time.Second {
			t.Errorf("%+v after %v", r, time.Since(began))
		}
	})
}

// TestCancel: the cause of the cancelled context is returned, at any point.
func TestCancel(t *testing.T) {
	why := errors.New("the person said stop")
	for _, at := range []time.Duration{0, time.Second, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			defer time.Sleep(2 * time.Hour) // the server ends
			server := scripted{headers: 2 * time.Second, write: func(w io.Writer) {
				_, _ = io.WriteString(w, "data: "+delta(`"content":"a"`)+"\n\n")
				time.Sleep(time.Hour)
			}}
			m := newModel(t, completions.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: server}})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			began := time.Now()
			if at == 0 {
				cancel(why)
			}
			time.AfterFunc(at, func() { cancel(why) })
			r := modeltest.Collect(ctx, m, question)
			if !errors.Is(r.Err, why) || time.Since(began) != at {
				t.Errorf("at %v: error = %v after %v", at, r.Err, time.Since(began))
			}
		})
	}
}

// TestCancelOverNetwork: the same with a real server that sends nothing more.
func TestCancelOverNetwork(t *testing.T) {
	why := errors.New("the person said stop")
	srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("a"), modeltest.Hang{}}))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for d, err := range newModel(t, completions.Config{BaseURL: srv.URL}).Stream(ctx, question) {
		if last = err; d.Kind == model.Text {
			cancel(why)
		}
	}
	if !errors.Is(last, why) {
		t.Errorf("error = %v", last)
	}
}

// TestReaderLeaves: the request ends when the reader of the deltas stops.
func TestReaderLeaves(t *testing.T) {
	left := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "data: "+delta(`"content":"a"`)+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	}))
	defer srv.Close()
	for d, err := range newModel(t, completions.Config{BaseURL: srv.URL}).Stream(t.Context(), question) {
		if err != nil || d.Text != "a" {
			t.Errorf("%v, %v", d, err)
		}
		break
	}
	<-left
}
