package completions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/wire"
)

func newModel(t testing.TB, c completions.Config) *wire.Model {
	t.Helper()
	if c.Model == "" {
		c.Model = "test-1"
	}
	m, err := completions.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ask plays one answer to one request.
func ask(t testing.TB, a modeltest.Answer) modeltest.Result {
	t.Helper()
	srv := modeltest.Start(t, modeltest.Steps(a))
	return modeltest.Collect(t.Context(), newModel(t, completions.Config{Profile: "p", BaseURL: srv.URL}), question)
}

// stream plays events unchanged, then [DONE].
func stream(t testing.TB, events ...string) modeltest.Result {
	t.Helper()
	var a modeltest.Answer
	for _, e := range events {
		a = append(a, modeltest.Event(e))
	}
	return ask(t, append(a, modeltest.Event("[DONE]"), modeltest.End{}))
}

func delta(members string) string { return `{"choices":[{"index":0,"delta":{` + members + `}}]}` }

// noteKey is the member of a message with the origin of its extra members.
const noteKey = "buddy:completions"

// from returns its value for a model.
func from(t testing.TB, m *wire.Model) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(m.Origin())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

var question = model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}}

func toolDef(name string) model.ToolDef {
	return model.ToolDef{Name: name, Description: "does <it>", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// TestRoundTrip reads an answer as most servers send it, in pieces of any size.
func TestRoundTrip(t *testing.T) {
	for _, size := range []int{0, 1, 3, 1000} {
		for _, way := range []modeltest.Part{modeltest.Pause(0), modeltest.Dribble{}, modeltest.Plain{}} {
			r := ask(t, modeltest.Answer{
				way,
				modeltest.Chunks{Bytes: size},
				modeltest.Reasoning{Field: "reasoning_content", Text: "Let me think… 思考"},
				modeltest.Text("I will lööк. 👍"),
				modeltest.Call{ID: "c1", Name: "read_file", Arguments: `{"path": "a\"b"}`},
				modeltest.Call{ID: "c2", Name: "list_dir", Arguments: `{}`},
				modeltest.Usage{Prompt: 10, Completion: 5, Cached: 3},
			})
			name := fmt.Sprintf("%d %T", size, way)
			if r.Err != nil || r.Done == nil {
				t.Fatalf("%s: %v", name, r.Err)
			}
			calls := []model.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path": "a\"b"}`}, {ID: "c2", Name: "list_dir", Arguments: `{}`}}
			want := &model.Message{
				Role: model.Assistant, Content: "I will lööк. 👍", ToolCalls: calls,
				Extra: map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"Let me think… 思考"`), noteKey: r.Done.Message.Extra[noteKey]},
			}
			if d := cmp.Diff(want, r.Done.Message); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if d := cmp.Diff(&model.Usage{Prompt: 10, Completion: 5, Cached: 3}, r.Done.Usage); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if r.Text != want.Content || r.Reasoning != "Let me think… 思考" || r.Args["c1"] != calls[0].Arguments || r.Done.Finish != model.FinishToolCalls {
				t.Errorf("%s: %+v", name, r)
			}
			if d := cmp.Diff(calls, r.Ready); d != "" {
				t.Errorf("%s: ready: %s", name, d)
			}
		}
	}
}

// TestCallReadyEarly: a call is ready when the next one starts, not at the end.
func TestCallReadyEarly(t *testing.T) {
	r := ask(t, modeltest.Answer{modeltest.Call{ID: "a", Name: "x", Arguments: `{}`}, modeltest.Call{ID: "b", Name: "y", Arguments: `{}`}})
	want := []model.DeltaKind{model.CallDelta, model.CallReady, model.CallDelta, model.CallReady, model.Done}
	if d := cmp.Diff(want, r.Kinds); d != "" {
		t.Error(d)
	}
}

// TestRequestBytes checks the request on the wire: the messages of turn N are a byte prefix of those of turn N+1.
func TestRequestBytes(t *testing.T) {
	srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{modeltest.Text("ok")}
	})
	m := newModel(t, completions.Config{BaseURL: srv.URL + "//", Access: endpoint.Access{Key: "sk-12345"}})
	from := from(t, m)
	msgs := []model.Message{
		{Role: model.System, Content: "You are <buddy> & co."},
		{Role: model.User, Content: "hi \u2028 \"there\""},
		{
			Role:      model.Assistant,
			ToolCalls: []model.ToolCall{{ID: "c1", Name: "time", Arguments: `{"a": "<b>"}`, Extra: map[string]json.RawMessage{"extra_content": json.RawMessage(`{"sig":"x"}`), noteKey: from}}},
			Extra:     map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"hm <b>"`), "unknown": json.RawMessage(`[1,null]`), noteKey: from},
		},
		{Role: model.Tool, ToolCallID: "c1", Content: "noon"},
		{Role: model.Assistant, Content: "It is noon."},
		{Role: model.User, Content: "thanks"},
	}
	var arrays []string
	for _, n := range []int{2, 4, 6} {
		req := model.Request{Messages: msgs[:n]}
		if n > 2 {
			req.Tools = []model.ToolDef{toolDef("time"), {Name: "bare"}}
		}
		if r := modeltest.Collect(t.Context(), m, req); r.Err != nil {
			t.Fatal(r.Err)
		}
		sent := srv.Requests()[len(srv.Requests())-1]
		var body struct {
			Messages      json.RawMessage
			StreamOptions json.RawMessage `json:"stream_options"`
			Tools         json.RawMessage
		}
		if err := json.Unmarshal(sent.Body, &body); err != nil {
			t.Fatal(err)
		}
		noNotes := cmpopts.IgnoreMapEntries(func(k string, _ json.RawMessage) bool { return k == noteKey })
		if d := cmp.Diff(msgs[:n], sent.Messages, noNotes); d != "" {
			t.Error(d)
		}
		if (body.Tools != nil) != (n > 2) || string(body.StreamOptions) != `{"include_usage":true}` || sent.Header.Get("Authorization") != "Bearer sk-12345" {
			t.Errorf("request = %s %v", sent.Body, sent.Header)
		}
		arrays = append(arrays, strings.TrimSuffix(string(body.Messages), "]"))
	}
	for i := range arrays[1:] {
		if !strings.HasPrefix(arrays[i+1], arrays[i]) {
			t.Errorf("messages %d:\n%s\nare no prefix of\n%s", i, arrays[i], arrays[i+1])
		}
	}
	for _, want := range []string{`"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"time","arguments":"{\"a\": \"<b>\"}"},"extra_content":{"sig":"x"}}],"reasoning_content":"hm <b>","unknown":[1,null]`} {
		if !strings.Contains(arrays[1], want) {
			t.Errorf("no %s in %s", want, arrays[1])
		}
	}
}

// TestExtraGoesBack: unknown fields are sent back byte for byte.
func TestExtraGoesBack(t *testing.T) {
	details := `[{"type":"reasoning.encrypted","data":"A+/=","id":"r1", "index":0}]`
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Event(delta(`"reasoning_details":` + details + `,"annotations":{"a": 1.50}`)), modeltest.Text("hi")},
		modeltest.Answer{modeltest.Text("ok")},
	))
	m := newModel(t, completions.Config{BaseURL: srv.URL})
	first := modeltest.Collect(t.Context(), m, question)
	if first.Err != nil || first.Reasoning != "" {
		t.Fatalf("%+v", first)
	}
	msgs := []model.Message{question.Messages[0], *first.Done.Message, {Role: model.User, Content: "go on"}}
	if r := modeltest.Collect(t.Context(), m, model.Request{Messages: msgs}); r.Err != nil {
		t.Fatal(r.Err)
	}
	body := string(srv.Requests()[1].Body)
	// The encoder drops white space; every token is unchanged.
	if !strings.Contains(body, `"reasoning_details":`+strings.ReplaceAll(details, ", ", ",")) || !strings.Contains(body, `{"a":1.50}`) {
		t.Error(body)
	}
}

// TestNotes: another adapter's notes in a message are not sent, and stay there.
func TestNotes(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("ok")}))
	m := newModel(t, completions.Config{BaseURL: srv.URL})
	extra := map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"hm"`), noteKey: from(t, m), "buddy:responses": json.RawMessage(`{"places":[]}`)}
	msgs := []model.Message{question.Messages[0], {Role: model.Assistant, Content: "a", Extra: extra}, question.Messages[0]}
	r := modeltest.Collect(t.Context(), m, model.Request{Messages: msgs})
	body := string(srv.Requests()[0].Body)
	if r.Err != nil || strings.Contains(body, "buddy:") || !strings.Contains(body, `"reasoning_content":"hm"`) || len(extra) != 3 {
		t.Errorf("%v %s %v", r.Err, body, extra)
	}
}

// TestNoKey: a local server gets no Authorization.
func TestNoKey(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("ok")}))
	r := modeltest.Collect(t.Context(), newModel(t, completions.Config{BaseURL: srv.URL + "/"}), question)
	if _, ok := srv.Requests()[0].Header["Authorization"]; ok || r.Err != nil || r.Text != "ok" {
		t.Errorf("%+v, %v", r, srv.Requests()[0].Header)
	}
}

// TestEmpty: an answer without text is complete, and empty; one without a choice is a retryable error.
func TestEmpty(t *testing.T) {
	for _, a := range []modeltest.Answer{
		{modeltest.Event(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`), modeltest.Event("[DONE]"), modeltest.End{}},
		{modeltest.Event(`{"choices":[{"message":{"content":null}}]}`), modeltest.Event(`{"choices":[],"usage":{"prompt_tokens":1}}`), modeltest.Event("[DONE]"), modeltest.End{}},
		{modeltest.Plain{}},
	} {
		r := ask(t, a)
		if r.Err != nil || r.Done == nil || r.Done.Message.Content != "" || r.Done.Message.ToolCalls != nil {
			t.Errorf("%v: %+v", a, r)
		}
	}
	for _, a := range []modeltest.Answer{
		{modeltest.Event("[DONE]"), modeltest.End{}},
		{modeltest.Event(`{"choices":[]}`), modeltest.Event("[DONE]"), modeltest.End{}},
		{modeltest.Event(`{"choices":[],"usage":{"prompt_tokens":1}}`), modeltest.Event("[DONE]"), modeltest.End{}},
		{modeltest.Raw(`{"choices":[]}`), modeltest.End{}},
	} {
		r := ask(t, a)
		e, ok := errors.AsType[*model.Error](r.Err)
		if !ok || e.Kind != model.EmptyError || !e.Retryable() || !strings.Contains(r.Err.Error(), "model returned empty response") {
			t.Errorf("%v: %v", a, r.Err)
		}
	}
}

// TestWrongWhole: other JSON is an error, not an empty answer.
func TestWrongWhole(t *testing.T) {
	r := ask(t, modeltest.Answer{modeltest.Raw(`{"detail":"Not here"}`), modeltest.End{}})
	e, ok := errors.AsType[*model.Error](r.Err)
	if !ok || e.Kind != model.FormatError || !strings.Contains(r.Err.Error(), "not a chat completion: Not here") {
		t.Error(r.Err)
	}
}

// TestNoStreamOptions: after a refusal, the options are not sent again.
func TestNoStreamOptions(t *testing.T) {
	srv := modeltest.Start(t, func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(string(r.Body), "stream_options") {
			return modeltest.Answer{modeltest.Status{Code: 422, Body: `{"detail":"stream_options: extra inputs are not permitted"}`}}
		}
		return modeltest.Answer{modeltest.Text("ok")}
	})
	m := newModel(t, completions.Config{BaseURL: srv.URL})
	for range 2 {
		if r := modeltest.Collect(t.Context(), m, question); r.Err != nil || r.Text != "ok" {
			t.Errorf("%+v", r)
		}
	}
	if n := len(srv.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// TestConnectionIsUsedAgain: an answer is read to its end, so that the next request needs no new connection.
func TestConnectionIsUsedAgain(t *testing.T) {
	conns := make(chan net.Conn, 10)
	srv := modeltest.New(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("ok")} })
	h := httptest.NewUnstartedServer(srv)
	h.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns <- c
		}
	}
	h.Start()
	defer h.Close()
	m := newModel(t, completions.Config{BaseURL: h.URL})
	for range 5 {
		if r := modeltest.Collect(t.Context(), m, question); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if n := len(conns); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}

// TestNew: the error of a bad configuration is one line that names the setting.
func TestNew(t *testing.T) {
	for _, tt := range []struct{ url, key, want string }{
		{"", "", `models.work.api_base_url is empty`},
		{"api.openai.com/v1", "", `models.work.api_base_url = "api.openai.com/v1": the scheme must be http or https`},
		{"ftp://x", "", "the scheme must be"},
		{"http://", "", "the host is missing"},
		{"http://:80/v1", "", "the host is missing"},
		{"http://u:secret@x/v1#a", "", "no fragment"},
		{"http://x y:secret@z", "", "not a URL"},
		{"http://x/v1", "secret\n", "the key contains a character that is not allowed in a key, such as a line break; key: env K"},
	} {
		_, err := completions.New(completions.Config{Profile: "work", BaseURL: tt.url, Access: endpoint.Access{Key: tt.key, KeySource: "env K"}, Model: "m"})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q, %q) = %v, want %q", tt.url, tt.key, err, tt.want)
		}
	}
	m := newModel(t, completions.Config{Profile: "work", BaseURL: "https://u:secret@x/v1/", Window: 7})
	want := model.Info{Profile: "work", Model: "test-1", API: "completions", BaseURL: "https://x/v1", Window: 7, Auth: "no key"}
	if m.Info() != want {
		t.Errorf("Info = %+v", m.Info())
	}
	if _, err := completions.New(completions.Config{BaseURL: "http://x"}); err == nil || !strings.Contains(err.Error(), "model is empty") {
		t.Error(err)
	}
}
