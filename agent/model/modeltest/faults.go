package modeltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"buddy/agent/model"
)

// Result is what one request gave.
type Result struct {
	Text, Reasoning string
	Ready           []model.ToolCall
	Args            map[string]string // by call id, from deltas
	Kinds           []model.DeltaKind // runs of the same kind are one
	Done            *model.Delta      // nil when the answer was not whole
	Err             error
}

// Collect sends a request and reads its answer to the end.
func Collect(ctx context.Context, m model.Model, req model.Request) Result {
	r := Result{Args: make(map[string]string)}
	for d, err := range m.Stream(ctx, req) {
		if err != nil {
			r.Err = err
			continue
		}
		if n := len(r.Kinds); n == 0 || r.Kinds[n-1] != d.Kind {
			r.Kinds = append(r.Kinds, d.Kind)
		}
		switch d.Kind {
		case model.Text:
			r.Text += d.Text
		case model.Reasoning:
			r.Reasoning += d.Text
		case model.CallDelta:
			r.Args[d.CallID] += d.Text
		case model.CallReady:
			r.Ready = append(r.Ready, *d.Call)
		case model.Done:
			r.Done = &d
		}
	}
	return r
}

// Secret is a key that servers of TestFaults send back and that no error may hold.
const Secret = "sk-verysecretkey-0123456789"

// Fault is an answer that goes wrong and the error that it must give.
type Fault struct {
	Name   string
	Answer Answer
	Kind   model.ErrorKind
	Retry  bool
	Text   string   // what was handed out before
	Want   []string // parts of the error
}

// faults are those that do not depend on the protocol (C13, C07, DESIGN "Bad input").
// other is the protocol that a 404 names.
func faults(path, other string) []Fault {
	hint := `check api_base_url and model, or try the other protocol: api = "` + other + `" in [models.work]`
	html := "<html><title>Sign in</title>" + Secret + strings.Repeat("-", 300) + "</html>"
	return []Fault{
		{"401", Answer{Status{Code: 401, Body: `{"error":{"message":"Incorrect API key: ` + Secret + `"}}`}}, model.StatusError, false, "", []string{
			"/v1" + path + ": status 401 Unauthorized: ", "Incorrect API key: [key]", "; check the key from env TEST_KEY",
		}},
		{"404", Answer{Status{Code: 404, Body: "page not found\n"}}, model.StatusError, false, "", []string{
			"status 404 Not Found: page not found; ", hint,
		}},
		{"429", Answer{Status{Code: 429, Header: map[string]string{"Retry-After": "7"}, Body: "slow\x1b[2Jdown"}}, model.StatusError, true, "", []string{"status 429 Too Many Requests: slow\ufffd[2Jdown"}},
		{"500 empty", Answer{Status{Code: 500}}, model.StatusError, true, "", []string{"status 500 Internal Server Error"}},
		{"long body", Answer{Status{Code: 400, Body: strings.Repeat("é", 400)}}, model.StatusError, false, "", []string{": " + strings.Repeat("é", 99) + "…"}},
		{"key at the cut", Answer{Status{Code: 400, Body: strings.Repeat("x", 180) + Secret}}, model.StatusError, false, "", []string{"x[key]"}},
		{"redirect", Answer{Status{Code: 307, Header: map[string]string{"Location": "https://u:p@other.example/v2?k=" + Secret}}}, model.SetupError, false, "", []string{"status 307", "it points to https://other.example/v2, which is not followed: set api_base_url"}},
		{"HTML", Answer{HTML(html)}, model.FormatError, true, "", []string{"web page instead of data: <html><title>Sign in</title>[key]---", "check api_base_url"}},
		{"cut", Answer{Text("half"), Cut{}}, model.CutError, true, "half", []string{"the answer was cut off: the connection ended"}},
		{"cut in an event", Answer{Text("half"), Raw(`data: {"choices":[{"del`), End{}}, model.CutError, true, "half", []string{"the answer was cut off"}},
		{"nothing", Answer{End{}}, model.CutError, true, "", []string{"the answer is empty"}},
		{"error object", Answer{Text("half"), ErrorObject(`{"message":"overloaded ` + Secret + `","code":503}`)}, model.ReportedError, true, "half", []string{"reported an error in its answer: overloaded [key]"}},
		{"huge line", Answer{LongLine(50 << 20)}, model.FormatError, true, "", []string{"a line of the answer is longer than 8 MiB"}},
		{"plain error", Answer{Raw(`{"error":"model not loaded"}`), End{}}, model.ReportedError, true, "", []string{"model not loaded"}},
	}
}

// TestFaults plays every fault of a server to an adapter, and more that its protocol
// has: what the error says, whether it may be tried again, that the text before it was
// handed out and that the key is in no error, even if the server sends it back. path is
// the adapter's, other the protocol that it names for a 404. connect returns a model of
// the profile "work" with the key [Secret] from "env TEST_KEY".
func TestFaults(t *testing.T, path, other string, connect func(t *testing.T, url string) model.Model, more ...Fault) {
	for _, f := range append(faults(path, other), more...) {
		t.Run(f.Name, func(t *testing.T) {
			srv := Start(t, Steps(f.Answer))
			r := Collect(t.Context(), connect(t, srv.URL), model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}})
			f.check(t, r, srv.URL+path)
		})
	}
}

func (f Fault) check(t *testing.T, r Result, url string) {
	t.Helper()
	var e *model.Error
	if !errors.As(r.Err, &e) || r.Done != nil {
		t.Fatalf("error = %v, done = %v", r.Err, r.Done)
	}
	if e.Kind != f.Kind || e.Retryable() != f.Retry || e.Endpoint != url || r.Text != f.Text {
		t.Errorf("%+v after %q", e, r.Text)
	}
	for _, want := range f.Want {
		if !strings.Contains(r.Err.Error(), want) {
			t.Errorf("error = %q, want %q in it", r.Err, want)
		}
	}
	if all := fmt.Sprintf("%v %+v %v", r.Err, *e, errors.Unwrap(e)); strings.Contains(all, Secret[:12]) || strings.ContainsAny(r.Err.Error(), "\n\x1b") {
		t.Errorf("error = %q", all)
	}
	if f.Name == "429" && e.RetryAfter != 7*time.Second {
		t.Errorf("retry after %v", e.RetryAfter)
	}
}
