package completions_test

import (
	"context"
	"errors"
	"fmt"
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
	"buddy/agent/model/modeltest"
	"buddy/agent/model/retry"
)

const secret = "sk-verysecretkey-0123456789"

// TestFaults plays every fault of a server (C13, C07, DESIGN "Bad input"): what the
// error says, whether it may be tried again, that the text before it was handed out and
// that the key is in no error, even if the server sends it back.
func TestFaults(t *testing.T) {
	html := "<html><title>Sign in</title>" + secret + strings.Repeat("-", 300) + "</html>"
	for _, tt := range []struct {
		name   string
		answer modeltest.Answer
		kind   model.ErrorKind
		retry  bool
		text   string
		want   []string
	}{
		{"401", modeltest.Answer{modeltest.Status{Code: 401, Body: `{"error":{"message":"Incorrect API key: ` + secret + `"}}`}}, model.StatusError, false, "", []string{
			"/v1/chat/completions: status 401 Unauthorized: ", "Incorrect API key: [key]", "; check the key from env TEST_KEY",
		}},
		{"404", modeltest.Answer{modeltest.Status{Code: 404, Body: "page not found\n"}}, model.StatusError, false, "", []string{
			"status 404 Not Found: page not found; ", `try the other protocol: api = "responses" in [models.work]`,
		}},
		{"429", modeltest.Answer{modeltest.Status{Code: 429, Header: map[string]string{"Retry-After": "7"}, Body: "slow\x1b[2Jdown"}}, model.StatusError, true, "", []string{"status 429 Too Many Requests: slow\ufffd[2Jdown"}},
		{"500 empty", modeltest.Answer{modeltest.Status{Code: 500}}, model.StatusError, true, "", []string{"status 500 Internal Server Error"}},
		{"long body", modeltest.Answer{modeltest.Status{Code: 400, Body: strings.Repeat("é", 400)}}, model.StatusError, false, "", []string{": " + strings.Repeat("é", 99) + "…"}},
		{"key at the cut", modeltest.Answer{modeltest.Status{Code: 400, Body: strings.Repeat("x", 180) + secret}}, model.StatusError, false, "", []string{"x[key]"}},
		{"redirect", modeltest.Answer{modeltest.Status{Code: 307, Header: map[string]string{"Location": "https://u:p@other.example/v2?k=" + secret}}}, model.SetupError, false, "", []string{"status 307", "it points to https://other.example/v2, which is not followed: set api_base_url"}},
		{"HTML", modeltest.Answer{modeltest.HTML(html)}, model.FormatError, true, "", []string{"web page instead of data: <html><title>Sign in</title>[key]---", "check api_base_url"}},
		{"cut", modeltest.Answer{modeltest.Text("half"), modeltest.Cut{}}, model.CutError, true, "half", []string{"the answer was cut off: the connection ended"}},
		{"cut in an event", modeltest.Answer{modeltest.Text("half"), modeltest.Raw(`data: {"choices":[{"del`), modeltest.End{}}, model.CutError, true, "half", []string{"the answer was cut off"}},
		{"no end", modeltest.Answer{modeltest.Text("half"), modeltest.End{}}, model.CutError, true, "half", []string{"/chat/completions: the answer was cut off"}},
		{"nothing", modeltest.Answer{modeltest.End{}}, model.CutError, true, "", []string{"the answer is empty"}},
		{"error object", modeltest.Answer{modeltest.Text("half"), modeltest.ErrorObject(`{"message":"overloaded ` + secret + `","code":503}`)}, model.ReportedError, true, "half", []string{"reported an error in its answer: overloaded [key]"}},
		{"error finish", modeltest.Answer{modeltest.Text("half"), modeltest.Finish("error")}, model.ReportedError, true, "half", []string{`finish_reason "error"`}},
		{"huge line", modeltest.Answer{modeltest.LongLine(50 << 20)}, model.FormatError, true, "", []string{"a line of the answer is longer than 8 MiB"}},
		{"malformed", modeltest.Answer{modeltest.Text("half"), modeltest.Raw("data: {\"choices\":[}\n\n")}, model.FormatError, true, "half", []string{`not a chat completion: {"choices":[}`}},
		{"wrong types", modeltest.Answer{modeltest.Event(`{"choices":"none"}`)}, model.FormatError, true, "", []string{`not a chat completion: {"choices":"none"}`}},
		{"calls are no list", modeltest.Answer{modeltest.Event(delta(`"tool_calls":7`))}, model.FormatError, true, "", []string{"tool calls that are not a list"}},
		{"function is no object", modeltest.Answer{modeltest.Event(delta(`"tool_calls":[{"function":7}]`))}, model.FormatError, true, "", []string{"a tool call that is not one"}},
		{"plain error", modeltest.Answer{modeltest.Raw(`{"error":"model not loaded"}`), modeltest.End{}}, model.ReportedError, true, "", []string{"model not loaded"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Steps(tt.answer))
			m := newModel(t, completions.Config{Profile: "work", BaseURL: srv.URL, Key: secret, KeySource: "env TEST_KEY"})
			r := collect(t.Context(), m, question)
			var e *model.Error
			if !errors.As(r.err, &e) || r.done != nil {
				t.Fatalf("error = %v, done = %v", r.err, r.done)
			}
			if e.Kind != tt.kind || e.Retryable() != tt.retry || e.Endpoint != srv.URL+"/chat/completions" || r.text != tt.text {
				t.Errorf("%+v after %q", e, r.text)
			}
			for _, want := range tt.want {
				if !strings.Contains(r.err.Error(), want) {
					t.Errorf("error = %q, want %q in it", r.err, want)
				}
			}
			if all := fmt.Sprintf("%v %+v %v", r.err, *e, errors.Unwrap(e)); strings.Contains(all, secret[:12]) || strings.ContainsAny(r.err.Error(), "\n\x1b") {
				t.Errorf("error = %q", all)
			}
			if tt.name == "429" && e.RetryAfter != 7*time.Second {
				t.Errorf("retry after %v", e.RetryAfter)
			}
		})
	}
}

// TestKeepAlives: comments keep an answer alive and are no part of it.
func TestKeepAlives(t *testing.T) {
	r := ask(t, modeltest.Answer{modeltest.KeepAlive{N: 20, Every: time.Millisecond}, modeltest.Text("a"), modeltest.KeepAlive{N: 3}, modeltest.Text("b")})
	if r.err != nil || r.text != "ab" {
		t.Errorf("%+v", r)
	}
}

// TestNoServer: nothing listens there.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := collect(t.Context(), newModel(t, completions.Config{BaseURL: "http://" + addr + "/v1"}), question)
	want := "http://" + addr + "/v1/chat/completions: connection refused; nothing listens at " + addr + ": start the server or check api_base_url"
	var e *model.Error
	if !errors.As(r.err, &e) || e.Kind != model.ConnectError || !e.Retryable() || r.err.Error() != want {
		t.Errorf("error = %v, want %s", r.err, want)
	}
}

// TestNotTheProtocol: TLS where there is none, a certificate that nobody signed, a
// server that hangs up, a host that is not there.
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
		r := collect(t.Context(), newModel(t, completions.Config{BaseURL: tt.url, HTTPClient: tt.client}), question)
		var e *model.Error
		if !errors.As(r.err, &e) || e.Retryable() != tt.retry || !strings.Contains(r.err.Error(), tt.want) {
			t.Errorf("error = %v, want %q", r.err, tt.want)
		}
	}
}

// failing is a transport that fails.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// TestNotSent: what the SDK refuses says how to get there (C13).
func TestNotSent(t *testing.T) {
	m := newModel(t, completions.Config{Profile: "work", BaseURL: "http://127.0.0.1:1", Model: "gpt-6-sol"})
	r := collect(t.Context(), m, model.Request{Messages: question.Messages, Tools: []model.ToolDef{toolDef("x")}})
	var e *model.Error
	if !errors.As(r.err, &e) || e.Retryable() || !strings.Contains(r.err.Error(), `api = "responses" in [models.work]`) {
		t.Error(r.err)
	}
}

// TestRetryEndToEnd (C07): a fault in the middle, then a whole answer.
func TestRetryEndToEnd(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Text("half"), modeltest.Cut{}},
		modeltest.Answer{modeltest.Text("whole")},
	))
	r := collect(t.Context(), retry.New(newModel(t, completions.Config{BaseURL: srv.URL})), question)
	if r.err != nil || r.text != "halfwhole" || r.done.Message.Content != "whole" || r.kinds[1] != model.Retry {
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
		var e *model.Error
		if !errors.As(r.err, &e) || e.RetryAfter > want || e.RetryAfter < want-5*time.Second || (want == 0 && e.RetryAfter != 0) {
			t.Errorf("%q: %+v, want %v", value, e, want)
		}
	}
}

// scripted is a transport for tests with a fake clock: write plays the body.
type scripted struct {
	headers time.Duration // until they come
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

// TestC12: the timeout bounds the wait for the headers and for each next byte, not the
// whole answer; a slow reader is not the server's fault; after the finish reason nobody
// waits for long.
func TestC12(t *testing.T) {
	say := func(w io.Writer, s string) { _, _ = io.WriteString(w, s) }
	const finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		server  scripted
		read    time.Duration // the reader's pause after each delta
		took    time.Duration
		want    string // in the error; "" means none
	}{
		{"default is 120 s", 0, scripted{headers: time.Hour}, 0, 120 * time.Second, "nothing came for 2m0s"},
		{"at least 1 s", time.Millisecond, scripted{headers: time.Hour}, 0, time.Second, "nothing came for 1s"},
		{"silence in the middle", 10 * time.Second, scripted{write: func(w io.Writer) {
			say(w, "data: "+delta(`"content":"a"`)+"\n\n")
			time.Sleep(time.Hour)
		}}, 0, 10 * time.Second, "nothing came for 10s"},
		{"slow but alive", 10 * time.Second, scripted{write: func(w io.Writer) {
			for range 10 {
				time.Sleep(9 * time.Second)
				say(w, ": wait\n\n")
			}
			say(w, "data: "+delta(`"content":"a"`)+"\n\n"+finish+"data: [DONE]\n\n")
		}}, 0, 90 * time.Second, ""},
		{"slow reader", time.Second, scripted{write: func(w io.Writer) {
			for range 3 {
				say(w, "data: "+delta(`"content":"a"`)+"\n\n")
			}
			say(w, finish+"data: [DONE]\n\n")
		}}, time.Minute, 3 * time.Minute, ""},
		{"no end after the finish reason", 0, scripted{write: func(w io.Writer) {
			say(w, "data: "+delta(`"content":"a"`)+"\n\n"+finish)
			time.Sleep(time.Hour)
		}}, 0, 5 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(2 * time.Hour) // the server's goroutine ends
				m := newModel(t, completions.Config{BaseURL: "http://x", Timeout: tt.timeout, HTTPClient: &http.Client{Transport: tt.server}})
				began := time.Now()
				var last error
				var took time.Duration
				done := false
				for d, err := range m.Stream(t.Context(), question) {
					last, took = err, time.Since(began)
					if done = d.Kind == model.Done; !done && err == nil {
						time.Sleep(tt.read)
					}
				}
				if took != tt.took || done != (tt.want == "") {
					t.Errorf("took %v, done %v, error %v", took, done, last)
				}
				var e *model.Error
				if tt.want != "" && (!errors.As(last, &e) || e.Kind != model.TimeoutError || !e.Retryable() || !strings.Contains(last.Error(), tt.want)) {
					t.Errorf("error = %v, want %q", last, tt.want)
				}
			})
		})
	}
}

// TestCancel: the cause of the cancelled context comes back, at any point.
func TestCancel(t *testing.T) {
	why := errors.New("the person said stop")
	for _, at := range []time.Duration{0, time.Second, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			defer time.Sleep(2 * time.Hour) // the server's goroutine ends
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
			r := collect(ctx, m, question)
			if !errors.Is(r.err, why) || time.Since(began) != at {
				t.Errorf("at %v: error = %v after %v", at, r.err, time.Since(began))
			}
		})
	}
}

// TestCancelOverNetwork: the same where a real server says nothing more.
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

// TestReaderLeaves: the request ends when the reader of the deltas has had enough.
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
