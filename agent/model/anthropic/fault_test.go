package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/retry"
)

// start starts a block, piece is its text.
const (
	start = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	piece = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`
	ended = `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`
)

func connect(t *testing.T, url string) model.Model {
	return newModel(t, anthropic.Config{Profile: "work", BaseURL: url, Access: endpoint.Access{Key: modeltest.Secret, KeySource: "env TEST_KEY"}})
}

// TestFaults plays the faults of all protocols, and this protocol's own.
func TestFaults(t *testing.T) {
	half := func(last ...modeltest.Part) modeltest.Answer {
		return append(modeltest.Answer{modeltest.Text("half")}, last...)
	}
	odd := func(name string, answer modeltest.Answer, text, want string) modeltest.Fault {
		return modeltest.Fault{Name: name, Answer: answer, Kind: model.FormatError, Retry: true, Text: text, Want: []string{want}}
	}
	events := func(all ...modeltest.Event) (a modeltest.Answer) {
		for _, e := range all {
			a = append(a, e)
		}
		return append(a, modeltest.End{})
	}
	late := modeltest.ErrorObject(`{"type":"api_error","message":"no ` + modeltest.Secret + `"}`)
	modeltest.TestFaults(
		t, "/messages", "completions", connect,
		modeltest.Fault{Name: "no end", Answer: half(modeltest.End{}), Kind: model.CutError, Retry: true, Text: "half", Want: []string{": the answer was cut off"}},
		modeltest.Fault{Name: "error after the stop reason", Answer: half(modeltest.Event(ended), late), Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{"no [key]"}},
		modeltest.Fault{Name: "plain error of a kind", Answer: modeltest.Answer{modeltest.Raw(`{"type":"error","error":{"type":"api_error","message":"broken"}}`), modeltest.End{}}, Kind: model.ReportedError, Retry: true, Want: []string{"broken"}},
		odd("malformed", half(modeltest.Raw("data: {\"type\":[}\n\n")), "half", "not in the Messages format"),
		odd("wrong types", events(`{"type":7}`), "", "not in the Messages format"),
		odd("another protocol", events(`{"choices":[{"delta":{"content":"a"}}]}`, "[DONE]"), "", "not in the Messages format"),
		odd("block of no kind", events(`{"type":"content_block_start","content_block":{}}`), "", "a content block in the answer is invalid"),
		odd("block is a list", events(`{"type":"content_block_start","content_block":{"type":"new","a":1}}`, `{"type":"content_block_delta","delta":[]}`), "", "a delta in the answer is invalid: []"),
		odd("block never began", events(`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta"}}`), "", "a content block that never started"),
		odd("no stop reason", events(`{"type":"message_delta","delta":7}`), "", "an invalid stop reason"),
		odd("call goes on", append(modeltest.Answer{modeltest.Call{ID: "c", Name: "x", Arguments: "{}"}},
			events(`{"type":"content_block_stop","index":0}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"x"}}`)...), "", "a tool call that was complete: x"),
	)
}

// TestReported: an error in the answer counts as the status that its kind usually has, which decides about retries.
func TestReported(t *testing.T) {
	for kind, status := range map[string]int{
		"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "invalid_request_error": 400, "request_too_large": 400,
	} {
		r := ask(t, modeltest.Answer{modeltest.ErrorObject(`{"type":"` + kind + `","message":"no"}`)})
		e, ok := errors.AsType[*model.Error](r.Err)
		if !ok || e.Kind != model.ReportedError || e.Status != status || e.Retryable() != (status != 400) {
			t.Errorf("%s: %+v", kind, e)
		}
	}
}

// TestEndings: which ends make an answer complete. Events after message_stop do not count.
func TestEndings(t *testing.T) {
	for name, events := range map[string][]string{
		"the connection ends after the stop reason": {start, piece, ended},
		"[DONE] instead": {start, piece, "[DONE]"},
		"no stop reason": {start, piece, `{"type":"message_stop"}`},
		"something wrong follows the stop reason": {start, piece, ended, `{"type":7}`},
		"something follows the end":               {start, piece, ended, `{"type":"message_stop"}`, `{"type":7}`},
	} {
		if r := stream(t, events...); r.Err != nil || r.Text != "a" || r.Done.Message.Content != "a" || r.Done.Finish != model.FinishStop {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r := ask(t, modeltest.Answer{modeltest.Event(start), modeltest.Event(piece), modeltest.Event(ended), modeltest.Cut{}})
	if r.Err != nil || r.Done == nil || r.Text != "a" {
		t.Errorf("the connection breaks after the stop reason: %+v", r)
	}
}

// TestRetryEndToEnd: faults in the middle and at the start, then a complete answer.
func TestRetryEndToEnd(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Text("half"), modeltest.Cut{}},
		modeltest.Answer{modeltest.Text("whole")},
	))
	r := modeltest.Collect(t.Context(), retry.New(newModel(t, anthropic.Config{BaseURL: srv.URL}), ""), question)
	if r.Err != nil || r.Text != "halfwhole" || r.Done.Message.Content != "whole" || r.Kinds[1] != model.Retry {
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

// TestTimesOut: silence ends an answer; after the stop reason the wait is short, and after message_stop there is none;
// cancelling returns its cause.
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

// TestReaderLeaves: a reader that has stopped gets nothing more.
func TestReaderLeaves(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("a"), modeltest.Hang{}}))
	for d, err := range newModel(t, anthropic.Config{BaseURL: srv.URL}).Stream(t.Context(), question) {
		if err != nil || d.Text != "a" {
			t.Errorf("%v, %v", d, err)
		}
		break
	}
}
