package anthropic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/retry"
)

const secret = "sk-ant-verysecretkey-0123456789"

// start is a block that begins, piece its text.
const (
	start = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	piece = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`
	ended = `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`
)

// TestFaults plays every fault of a server (C13, C07, DESIGN "Bad input"): what the
// error says, whether it may be tried again, that the text before it was handed out and
// that the key is in no error, even if the server sends it back.
func TestFaults(t *testing.T) {
	html := "<html><title>Sign in</title>" + secret + strings.Repeat("-", 300) + "</html>"
	reported := func(kind string) modeltest.Part {
		return modeltest.ErrorObject(`{"type":"` + kind + `","message":"no ` + secret + `"}`)
	}
	half := modeltest.Text("half")
	for _, tt := range []struct {
		name   string
		answer modeltest.Answer
		kind   model.ErrorKind
		status int
		retry  bool
		text   string
		want   []string
	}{
		{"401", modeltest.Answer{modeltest.Status{Code: 401, Body: `{"type":"error","error":{"message":"invalid x-api-key: ` + secret + `"}}`}}, model.StatusError, 401, false, "", []string{
			"/v1/messages: status 401 Unauthorized: ", "invalid x-api-key: [key]", "; check the key from env TEST_KEY",
		}},
		{"404", modeltest.Answer{modeltest.Status{Code: 404, Body: "page not found\n"}}, model.StatusError, 404, false, "", []string{
			"status 404 Not Found: page not found; ", `check api_base_url and model in [models.work]`,
		}},
		{"429", modeltest.Answer{modeltest.Status{Code: 429, Header: map[string]string{"Retry-After": "7"}, Body: "slow\x1b[2Jdown"}}, model.StatusError, 429, true, "", []string{"status 429 Too Many Requests: slow\ufffd[2Jdown"}},
		{"529", modeltest.Answer{modeltest.Status{Code: 529, Body: "Overloaded"}}, model.StatusError, 529, true, "", []string{"status 529: Overloaded"}},
		{"500 empty", modeltest.Answer{modeltest.Status{Code: 500}}, model.StatusError, 500, true, "", []string{"status 500 Internal Server Error"}},
		{"long body", modeltest.Answer{modeltest.Status{Code: 400, Body: strings.Repeat("é", 400)}}, model.StatusError, 400, false, "", []string{": " + strings.Repeat("é", 99) + "…"}},
		{"redirect", modeltest.Answer{modeltest.Status{Code: 307, Header: map[string]string{"Location": "https://u:p@other.example/v2?k=" + secret}}}, model.SetupError, 307, false, "", []string{"status 307", "it points to https://other.example/v2, which is not followed"}},
		{"HTML", modeltest.Answer{modeltest.HTML(html)}, model.FormatError, 0, true, "", []string{"web page instead of data: <html><title>Sign in</title>[key]---", "check api_base_url"}},
		{"cut", modeltest.Answer{half, modeltest.Cut{}}, model.CutError, 0, true, "half", []string{"the answer was cut off: the connection ended"}},
		{"cut in an event", modeltest.Answer{half, modeltest.Raw(`data: {"type":"content_blo`), modeltest.End{}}, model.CutError, 0, true, "half", []string{"the answer was cut off"}},
		{"no end", modeltest.Answer{half, modeltest.End{}}, model.CutError, 0, true, "half", []string{"/messages: the answer was cut off"}},
		{"nothing", modeltest.Answer{modeltest.End{}}, model.CutError, 0, true, "", []string{"the answer is empty"}},
		{"overloaded", modeltest.Answer{half, reported("overloaded_error")}, model.ReportedError, 529, true, "half", []string{"reported an error in its answer: no [key]"}},
		{"rate limit", modeltest.Answer{reported("rate_limit_error")}, model.ReportedError, 429, true, "", nil},
		{"server error", modeltest.Answer{reported("api_error")}, model.ReportedError, 500, true, "", nil},
		{"invalid", modeltest.Answer{reported("invalid_request_error")}, model.ReportedError, 400, false, "", nil},
		{"too large", modeltest.Answer{reported("request_too_large")}, model.ReportedError, 400, false, "", nil},
		{"error after the stop reason", modeltest.Answer{half, modeltest.Event(ended), reported("api_error")}, model.ReportedError, 500, true, "half", nil},
		{"huge line", modeltest.Answer{modeltest.LongLine(20 << 20)}, model.FormatError, 0, true, "", []string{"a line of the answer is longer than 8 MiB"}},
		{"malformed", modeltest.Answer{half, modeltest.Raw("data: {\"type\":[}\n\n")}, model.FormatError, 0, true, "half", []string{`not one of Messages: {"type":[}`}},
		{"wrong types", modeltest.Answer{modeltest.Event(`{"type":7}`)}, model.FormatError, 0, true, "", []string{`not one of Messages: {"type":7}`}},
		{"another protocol", modeltest.Answer{modeltest.Event(`{"choices":[{"delta":{"content":"a"}}]}`), modeltest.Event("[DONE]"), modeltest.End{}}, model.FormatError, 0, true, "", []string{`not one of Messages: {"choices":`}},
		{"block of no kind", modeltest.Answer{modeltest.Event(`{"type":"content_block_start","content_block":{}}`)}, model.FormatError, 0, true, "", []string{"a content block that is not one"}},
		{"block is a list", modeltest.Answer{modeltest.Event(`{"type":"content_block_start","content_block":{"type":"new","a":1}}`), modeltest.Event(`{"type":"content_block_delta","delta":[]}`)}, model.FormatError, 0, true, "", []string{"a delta that is not one: []"}},
		{"block never began", modeltest.Answer{modeltest.Event(`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta"}}`)}, model.FormatError, 0, true, "", []string{"a content block that never began"}},
		{"no stop reason", modeltest.Answer{modeltest.Event(`{"type":"message_delta","delta":7}`)}, model.FormatError, 0, true, "", []string{"not a stop reason"}},
		{"call goes on", modeltest.Answer{
			modeltest.Call{ID: "c", Name: "x", Arguments: "{}"},
			modeltest.Event(`{"type":"content_block_stop","index":0}`),
			modeltest.Event(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"x"}}`),
		}, model.FormatError, 0, true, "", []string{"a tool call that was complete: x"}},
		{"plain error", modeltest.Answer{modeltest.Raw(`{"type":"error","error":{"type":"api_error","message":"broken"}}`), modeltest.End{}}, model.ReportedError, 500, true, "", []string{"broken"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Steps(tt.answer))
			m := newModel(t, anthropic.Config{Profile: "work", BaseURL: srv.URL, Key: secret, KeySource: "env TEST_KEY"})
			r := collect(t.Context(), m, question)
			var e *model.Error
			if !errors.As(r.err, &e) || r.done != nil {
				t.Fatalf("error = %v, done = %v", r.err, r.done)
			}
			if e.Kind != tt.kind || e.Status != tt.status || e.Retryable() != tt.retry || e.Endpoint != srv.URL+"/messages" || r.text != tt.text {
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

// TestEndings: what is enough of an end. Events after message_stop do not count.
func TestEndings(t *testing.T) {
	for name, events := range map[string][]string{
		"the connection ends after the stop reason": {start, piece, ended},
		"[DONE] instead":            {start, piece, "[DONE]"},
		"no stop reason":            {start, piece, `{"type":"message_stop"}`},
		"something follows the end": {start, piece, ended, `{"type":"message_stop"}`, `{"type":7}`},
	} {
		if r := stream(t, events...); r.err != nil || r.text != "a" || r.done.Message.Content != "a" || r.done.Finish != model.FinishStop {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r := ask(t, modeltest.Answer{modeltest.Event(start), modeltest.Event(piece), modeltest.Event(ended), modeltest.Cut{}})
	if r.err != nil || r.done == nil || r.text != "a" {
		t.Errorf("the connection breaks after the stop reason: %+v", r)
	}
}

// TestRetryEndToEnd (C07): faults in the middle and at the beginning, then a whole answer.
func TestRetryEndToEnd(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Text("half"), modeltest.Cut{}},
		modeltest.Answer{modeltest.Text("whole")},
	))
	r := collect(t.Context(), retry.New(newModel(t, anthropic.Config{BaseURL: srv.URL})), question)
	if r.err != nil || r.text != "halfwhole" || r.done.Message.Content != "whole" || r.kinds[1] != model.Retry {
		t.Errorf("%+v", r)
	}
}

// scripted is a transport for tests with a fake clock: write plays the body.
type scripted func(w io.Writer)

func (s scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	stop := context.AfterFunc(req.Context(), func() { _ = pr.CloseWithError(req.Context().Err()) })
	go func() {
		defer stop()
		s(pw)
		_ = pw.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: req}, nil
}

// TestTimesOut (C12): silence ends an answer; after the stop reason nobody waits for
// long, and after message_stop not at all; cancelling gives its cause.
func TestTimesOut(t *testing.T) {
	say := func(events ...string) scripted {
		return func(w io.Writer) {
			for _, e := range events {
				_, _ = io.WriteString(w, "data: "+e+"\n\n")
			}
			time.Sleep(time.Hour)
		}
	}
	why := errors.New("the person said stop")
	for _, tt := range []struct {
		name   string
		server scripted
		cancel time.Duration
		took   time.Duration
		want   string
	}{
		{"silence", say(start, piece), 0, 120 * time.Second, "nothing came for 2m0s"},
		{"after the stop reason", say(start, piece, ended), 0, 5 * time.Second, ""},
		{"after the end", say(start, piece, ended, `{"type":"message_stop"}`), 0, 0, ""},
		{"cancelled", say(start, piece), 3 * time.Second, 3 * time.Second, why.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(2 * time.Hour) // the server's goroutine ends
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, func() { cancel(why) })
				}
				m := newModel(t, anthropic.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: tt.server}})
				began := time.Now()
				var last error
				var took time.Duration
				for _, err := range m.Stream(ctx, question) {
					last, took = err, time.Since(began)
				}
				if took != tt.took || (last == nil) != (tt.want == "") || last != nil && !strings.Contains(last.Error(), tt.want) {
					t.Errorf("took %v, error %v", took, last)
				}
			})
		})
	}
}

// TestReaderLeaves: nothing is yielded to a reader that has had enough.
func TestReaderLeaves(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("a"), modeltest.Hang{}}))
	for d, err := range newModel(t, anthropic.Config{BaseURL: srv.URL}).Stream(t.Context(), question) {
		if err != nil || d.Text != "a" {
			t.Errorf("%v, %v", d, err)
		}
		break
	}
}
