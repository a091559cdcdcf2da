package modeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/model"
)

// Result holds the answer to one request.
type Result struct {
	Text, Reasoning string
	Ready           []model.ToolCall
	Args            map[string]string // by call id, from deltas
	Kinds           []model.DeltaKind // runs of the same kind count once
	Needs           *model.Needs      // the changes to the request
	Done            *model.Delta      // nil if the answer was incomplete
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
		case model.Healed:
			r.Needs = d.Needs
		case model.Done:
			r.Done = &d
		}
	}
	return r
}

// Secret is the API key in TestFaults. The servers send it back in their answers, but no error may contain it.
const Secret = "sk-verysecretkey-0123456789"

// Fault is a faulty answer, with the error that it must cause.
type Fault struct {
	Name       string
	Answer     Answer
	Kind       model.ErrorKind
	Retry      bool          // it may be retried
	Overloaded bool          // the server was overloaded
	After      time.Duration // the wait that the server asks for, within 5 s
	Text       string        // the text emitted before the error
	Want       []string      // parts of the error
}

// faults returns the faults of all protocols. other is the protocol that buddy suggests after a 404.
func faults(other string) []Fault {
	return slices.Concat(statuses(other), tooLong(), broken())
}

// status returns an answer with a status, a body and, if given, one header: its name and value.
func status(code int, body string, header ...string) Answer {
	s := Status{Code: code, Body: body}
	if len(header) == 2 {
		s.Header = map[string]string{header[0]: header[1]}
	}
	return Answer{s}
}

// statuses returns answers with an error status, and the error texts that they must cause.
func statuses(other string) []Fault {
	hint := `check api_base_url and model, or try the other protocol: api = "` + other + `" in [models.work]`
	refused := func(name string, code int, body string, want ...string) Fault {
		return Fault{Name: name, Answer: status(code, body), Kind: model.StatusError, Want: want}
	}
	busy := func(name string, overloaded bool, answer Answer, after time.Duration, want ...string) Fault {
		return Fault{Name: name, Answer: answer, Kind: model.StatusError, Retry: true, Overloaded: overloaded, After: after, Want: want}
	}
	final := func(name string, answer Answer, want ...string) Fault {
		return Fault{Name: name, Answer: answer, Kind: model.SetupError, Want: want}
	}
	const html = "<html>\n<head><title>502 Bad Gateway</title></head></html>"
	date := time.Now().Add(100 * time.Second).UTC().Format(http.TimeFormat)
	return []Fault{
		refused("400", 400, `{"error":{"message":"tools.0: no schema"}}`, ": 400 bad request: ", "tools.0: no schema"),
		refused("401", 401, `{"error":{"message":"Incorrect API key: `+Secret+`"}}`, "The API key of work was refused (401). Incorrect API key: [key]; Key: env TEST_KEY"),
		refused("403", 403, "no", "403 forbidden: no; Key: env TEST_KEY"),
		refused("404", 404, "page not found\n", "404 not found: page not found; ", hint),
		refused("long body", 400, strings.Repeat("é", 400), ": "+strings.Repeat("é", 99)+"…"),
		refused("key at the cut", 400, strings.Repeat("x", 180)+Secret, "x[key]"),
		busy("408", false, status(408, ""), 0, "408 request timeout"),
		busy("429", true, status(429, "slow\x1b[2Jdown", "Retry-After", "7"), 7*time.Second, "429 too many requests: slow\ufffd[2Jdown"),
		busy("429 until a date", true, status(429, "", "Retry-After", date), 100*time.Second, "429"),
		busy("429 in milliseconds", true, status(429, "", "Retry-After-Ms", "7250"), 7250*time.Millisecond, "429"),
		busy("429 until a limit is reset", true, status(429, "", "Anthropic-Ratelimit-Tokens-Reset", time.Now().Add(70*time.Second).UTC().Format(time.RFC3339)), 70*time.Second, "429"),
		busy("429 that says so in words", true, status(429, `{"error":{"message":"Rate limit reached. Please try again in 1m2.5s."}}`), 62500*time.Millisecond, "429"),
		final("407", status(407, "who are you"), "407 proxy authentication required", "check the proxy in HTTPS_PROXY"),
		busy("500", false, status(500, ""), 0, "500 internal server error"),
		busy("502 of a proxy", false, status(502, html, "Content-Type", "text/html"), 0, "502 bad gateway"),
		busy("503", true, status(503, "loading model"), 0, "503 service unavailable: loading model"),
		busy("529", true, status(529, "Overloaded"), 0, "529 overloaded: Overloaded"),
		final("402", status(402, "pay"), "402 payment required: pay; the account has no credit left"),
		final("429 for good", status(429, `{"error":{"code":"insufficient_quota"}}`), "the account has no credit left"),
		final("redirect", status(307, "", "Location", "https://u:p@other.example/v2?k="+Secret), "307", "the server redirects to https://other.example/v2, which buddy does not follow: set api_base_url"),
	}
}

// tooLong returns the errors with which servers report that a conversation is too long.
func tooLong() (all []Fault) {
	row := func(name, text string, a Answer) {
		all = append(all, Fault{Name: "too long, " + name, Answer: a, Kind: model.ContextError, Text: text, Want: []string{"; the conversation is too long for the model: /compact makes it shorter"}})
	}
	row("413", "", status(413, "request too large"))
	row("OpenAI", "", status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`))
	row("OpenAI Responses", "", status(400, `{"error":{"message":"Your input exceeds the context window of this model."}}`))
	row("Anthropic", "", status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`))
	row("llama.cpp", "", status(400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`))
	row("vLLM", "", status(400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000"}`))
	row("LM Studio", "", status(400, `{"error":"Trying to keep the first 9000 tokens when context the overflows."}`))
	row("in a 200", "", Answer{Raw(`{"error":{"message":"This model's maximum context length is 8192 tokens."}}`), End{}})
	row("in the stream", "half", Answer{Text("half"), ErrorObject(`{"code":"context_length_exceeded","message":"too much"}`)})
	return all
}

// broken returns answers with status 200 that are faulty or break off.
func broken() []Fault {
	html := "<html><title>Sign in</title>" + Secret + strings.Repeat("-", 300) + "</html>"
	return []Fault{
		{Name: "HTML", Answer: Answer{HTML(html)}, Kind: model.FormatError, Retry: true, Want: []string{"web page instead of data: Sign in", "this is not an API: check api_base_url"}},
		{Name: "cut", Answer: Answer{Text("half"), Cut{}}, Kind: model.CutError, Retry: true, Text: "half", Want: []string{"the answer was cut off: the connection ended"}},
		{Name: "cut in an event", Answer: Answer{Text("half"), Raw(`data: {"choices":[{"del`), End{}}, Kind: model.CutError, Retry: true, Text: "half", Want: []string{"the answer was cut off"}},
		{Name: "nothing", Answer: Answer{End{}}, Kind: model.CutError, Retry: true, Want: []string{"the answer is empty"}},
		{Name: "garbage", Answer: Answer{Raw("\x00\x01\xff\xfe\x1b[2J\n\n"), End{}}, Kind: model.FormatError, Retry: true, Want: []string{"answered with plain text instead of data: \ufffd"}},
		{Name: "plain text", Answer: Answer{Raw("upstream connect error or disconnect/reset before headers\n"), End{}}, Kind: model.FormatError, Retry: true, Want: []string{"answered with plain text instead of data: upstream connect error or disconnect"}},
		{Name: "error event, text", Answer: Answer{Text("half"), Raw("event: error\ndata: model crashed\n\n"), End{}}, Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{"reported an error in its answer: model crashed"}},
		{Name: "error event, detail", Answer: Answer{Text("half"), Raw("event: error\ndata: {\"detail\":\"no GPU left\"}\n\n"), End{}}, Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{"in its answer: no GPU left"}},
		{Name: "error event, any object", Answer: Answer{Text("half"), Raw("event: error\ndata: {\"why\":7}\n\n"), End{}}, Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{"reported an error in its answer"}},
		{Name: "error line", Answer: Answer{Text("half"), Raw("error: {\"code\":500,\"message\":\"slot lost\"}\n\n"), End{}}, Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{"in its answer: slot lost"}},
		{Name: "error that asks to wait", Answer: Answer{Text("half"), ErrorObject(`{"type":"rate_limit_error","message":"Please try again in 2.5s"}`)}, Kind: model.ReportedError, Retry: true, Overloaded: true, After: 2500 * time.Millisecond, Text: "half", Want: []string{"try again in 2.5s"}},
		{Name: "no end", Answer: Answer{Text("half"), End{}}, Kind: model.CutError, Retry: true, Text: "half", Want: []string{"the answer was cut off"}},
		{Name: "no end of a call", Answer: Answer{Text("half"), Call{"c1", "run", `{"a":1}`}, End{}}, Kind: model.CutError, Retry: true, Text: "half", Want: []string{"the answer was cut off"}},
		{Name: "garbage in an event", Answer: Answer{Raw("data: \xff\xfe\x1b[2J\n\n"), End{}}, Kind: model.FormatError, Retry: true, Want: []string{"an event in the answer is not", ": \ufffd\ufffd\ufffd[2J"}},
		{Name: "error object", Answer: Answer{Text("half"), ErrorObject(`{"message":"broken ` + Secret + `","code":500}`)}, Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{"reported an error in its answer: broken [key]"}},
		{Name: "overloaded later", Answer: Answer{Text("half"), ErrorObject(`{"message":"Overloaded","type":"overloaded_error"}`)}, Kind: model.ReportedError, Retry: true, Overloaded: true, Text: "half", Want: []string{"in its answer: Overloaded"}},
		{Name: "huge line", Answer: Answer{LongLine(50 << 20)}, Kind: model.FormatError, Retry: true, Want: []string{"a line of the answer is longer than 8 MiB"}},
		{Name: "plain error", Answer: Answer{Raw(`{"error":"model not loaded"}`), End{}}, Kind: model.ReportedError, Retry: true, Want: []string{"model not loaded"}},
	}
}

// TestFaults makes a server answer with each fault, and with those in more, which are specific to one protocol. It
// checks the error's text, whether the request may be retried, that the text before the error was emitted, and that no
// error contains the key, even if the server sends it back. path is the protocol's path, and other is the protocol that
// buddy suggests after a 404. connect returns a model of the profile "work" with the key [Secret] from "env TEST_KEY".
func TestFaults(t *testing.T, path, other string, connect func(t *testing.T, url string) model.Model, more ...Fault) {
	for _, f := range append(faults(other), more...) {
		t.Run(f.Name, func(t *testing.T) {
			srv := Start(t, Steps(f.Answer))
			r := Collect(t.Context(), connect(t, srv.URL), model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}})
			f.check(t, r, srv.URL+path)
		})
	}
}

func (f Fault) check(t *testing.T, r Result, url string) {
	t.Helper()
	e, ok := errors.AsType[*model.Error](r.Err)
	if !ok || r.Done != nil {
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
	if e.Overloaded() != f.Overloaded || e.RetryAfter > f.After || e.RetryAfter < f.After-5*time.Second {
		t.Errorf("overloaded %v, retry after %v", e.Overloaded(), e.RetryAfter)
	}
}
