package responses_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/responses"
	"buddy/agent/model/wire"
)

func newModel(t testing.TB, c responses.Config) *wire.Model {
	t.Helper()
	if c.Model == "" {
		c.Model = "test-1"
	}
	m, err := responses.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var question = model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}}

// ask plays one answer to one request.
func ask(t testing.TB, a modeltest.Answer) modeltest.Result {
	t.Helper()
	srv := modeltest.Start(t, modeltest.Steps(a))
	return modeltest.Collect(t.Context(), newModel(t, responses.Config{Profile: "p", BaseURL: srv.URL}), question)
}

// stream plays events unchanged, and nothing else.
func stream(t testing.TB, events ...string) modeltest.Result {
	t.Helper()
	var a modeltest.Answer
	for _, e := range events {
		a = append(a, modeltest.Event(e))
	}
	return ask(t, append(a, modeltest.End{}))
}

// TestRoundTrip reads an answer as OpenAI sends it, in pieces of any size: every text arrives four times and is emitted
// once.
func TestRoundTrip(t *testing.T) {
	for _, size := range []int{0, 1, 3, 1000} {
		for _, way := range []modeltest.Part{modeltest.Pause(0), modeltest.Dribble{}, modeltest.Plain{}} {
			for _, field := range []string{"reasoning_text", ""} {
				r := ask(t, modeltest.Answer{
					way,
					modeltest.Chunks{Bytes: size},
					modeltest.Reasoning{Field: field, Text: "Let me think… 思考"},
					modeltest.Text("I will lööк. 👍"),
					modeltest.Call{ID: "c1", Name: "read_file", Arguments: `{"path": "a\"b"}`},
					modeltest.Call{ID: "c2", Name: "list_dir", Arguments: `{}`},
					modeltest.Usage{Prompt: 10, Completion: 5, Cached: 3},
				})
				name := fmt.Sprintf("%d %T %s", size, way, field)
				if r.Err != nil || r.Done == nil {
					t.Fatalf("%s: %v", name, r.Err)
				}
				calls := []model.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path": "a\"b"}`}, {ID: "c2", Name: "list_dir", Arguments: `{}`}}
				if d := cmp.Diff(calls, r.Ready); d != "" {
					t.Errorf("%s: ready: %s", name, d)
				}
				if d := cmp.Diff(calls, r.Done.Message.ToolCalls); d != "" {
					t.Errorf("%s: %s", name, d)
				}
				if d := cmp.Diff(&model.Usage{Prompt: 10, Completion: 5, Cached: 3}, r.Done.Usage); d != "" {
					t.Errorf("%s: %s", name, d)
				}
				if r.Text != "I will lööк. 👍" || r.Done.Message.Content != r.Text || r.Reasoning != "Let me think… 思考" ||
					r.Args["c1"] != calls[0].Arguments || r.Done.Finish != model.FinishToolCalls || len(r.Done.Message.Extra) != 1 {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
	}
}

// TestCallReadyEarly: a call is ready when its item is done, not at the end.
func TestCallReadyEarly(t *testing.T) {
	r := ask(t, modeltest.Answer{modeltest.Call{ID: "a", Name: "x", Arguments: `{}`}, modeltest.Call{ID: "b", Name: "y", Arguments: `{}`}})
	want := []model.DeltaKind{model.CallDelta, model.CallReady, model.CallDelta, model.CallReady, model.Done}
	if d := cmp.Diff(want, r.Kinds); d != "" {
		t.Error(d)
	}
}

// conversation has everything that an input can hold.
func conversation() []model.Message {
	return []model.Message{
		{Role: model.System, Content: "You are <buddy> & co."},
		{Role: model.System, Content: "Be brief."},
		{Role: model.User, Content: "hi \u2028 \"<there>\""},
		{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "time", Arguments: `{"a": "<b>"}`}, {ID: "c2", Name: "time", Arguments: `{`}}},
		{Role: model.Tool, ToolCallID: "c1", Name: "time", Content: "noon"},
		{Role: model.Tool, ToolCallID: "c2", Name: "time", Content: "bad arguments"},
		{Role: model.Tool, Content: "of nothing"},
		{Role: model.Assistant, Content: "It is noon.", Extra: map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"hm"`)}},
		{Role: model.User, Content: "thanks"},
		{Role: model.User, Content: " "},
	}
}

// TestRequest checks the request on the wire: the input of turn N is a byte prefix of that of turn N+1.
func TestRequest(t *testing.T) {
	srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("ok")} })
	m := newModel(t, responses.Config{BaseURL: srv.URL + "/", Access: endpoint.Access{Key: "sk-12345"}})
	var inputs []string
	for _, n := range []int{3, 7, 10} {
		req := model.Request{Messages: conversation()[:n]}
		if n > 3 {
			req.Tools = []model.ToolDef{{Name: "time", Description: "tells it", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "bare"}}
		}
		if r := modeltest.Collect(t.Context(), m, req); r.Err != nil {
			t.Fatal(r.Err)
		}
		sent := srv.Requests()[len(srv.Requests())-1]
		var body map[string]json.RawMessage
		if err := json.Unmarshal(sent.Body, &body); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, strings.TrimSuffix(string(body["input"]), "]"))
		want := map[string]string{
			"model": `"test-1"`, "store": "false", "stream": "true", "include": `["reasoning.encrypted_content"]`,
			"instructions": `"You are \u003cbuddy\u003e \u0026 co.\n\nBe brief."`,
		}
		if n > 3 {
			want["tools"] = `[{"type":"function","name":"time","description":"tells it","parameters":{"type":"object"},"strict":false},` +
				`{"type":"function","name":"bare","parameters":{"type":"object","properties":{}},"strict":false}]`
		}
		delete(body, "input")
		got := make(map[string]string)
		for k, v := range body {
			got[k] = string(v)
		}
		if d := cmp.Diff(want, got); d != "" || sent.Header.Get("Authorization") != "Bearer sk-12345" {
			t.Errorf("%d messages: %s, %v", n, d, sent.Header)
		}
	}
	want := `[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi \u2028 \"<there>\""}]},` +
		`{"type":"function_call","call_id":"c1","name":"time","arguments":"{\"a\": \"<b>\"}"},` +
		`{"type":"function_call","call_id":"c2","name":"time","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c1","output":"noon"},` +
		`{"type":"function_call_output","call_id":"c2","output":"bad arguments"},` +
		`{"type":"message","role":"assistant","content":"It is noon."},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"thanks"}]}`
	if d := cmp.Diff(want, inputs[2]); d != "" {
		t.Error(d)
	}
	for i := range inputs[1:] {
		if !strings.HasPrefix(inputs[i+1], inputs[i]) {
			t.Errorf("input %d:\n%s\nis no prefix of\n%s", i, inputs[i], inputs[i+1])
		}
	}
}

// sendBack stores an answer as the journal does and sends it with a question after it. It returns the items between the
// two questions.
func sendBack(t *testing.T, c responses.Config, edit func(*model.Message), a modeltest.Answer) []string {
	t.Helper()
	srv := modeltest.Start(t, modeltest.Steps(a, modeltest.Answer{modeltest.Text("ok")}))
	c.BaseURL = srv.URL
	first := modeltest.Collect(t.Context(), newModel(t, responses.Config{BaseURL: srv.URL}), question)
	if first.Err != nil {
		t.Fatal(first.Err)
	}
	stored, err := first.Done.Message.MarshalJSON() // as the journal does
	if err != nil {
		t.Fatal(err)
	}
	var back model.Message
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(&back)
	}
	msgs := []model.Message{question.Messages[0], back}
	for _, call := range back.ToolCalls {
		msgs = append(msgs, model.Message{Role: model.Tool, ToolCallID: call.ID, Content: "done"})
	}
	if r := modeltest.Collect(t.Context(), newModel(t, c), model.Request{Messages: msgs}); r.Err != nil {
		t.Fatalf("%v\n%s", r.Err, srv.Requests()[1].Body)
	}
	var body struct{ Input []json.RawMessage }
	if err := json.Unmarshal(srv.Requests()[1].Body, &body); err != nil {
		t.Fatal(err)
	}
	var items []string
	for _, it := range body.Input[1:] {
		items = append(items, string(it))
	}
	return items
}

func done(index int, item string) modeltest.Event {
	return modeltest.Event(fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item))
}

const completed = `{"type":"response.completed","response":{"status":"completed","output":[]}}`

// TestItemsGoBack: opaque items are sent again with the same values and in their places, through the journal; not to
// another model, and not when nothing follows the reasoning.
func TestItemsGoBack(t *testing.T) {
	const (
		sealed  = `{"encrypted_content":"A+/=<&>","id":"rs_1","summary":[{"text":"<why>","type":"summary_text"}],"type":"reasoning"}`
		sealed2 = `{"encrypted_content":"B","id":"rs_2","status":null,"summary":[],"type":"reasoning"}`
		back2   = `{"encrypted_content":"B","id":"rs_2","summary":[],"type":"reasoning"}` // nulls are dropped
		open    = `{"id":"rs_3","summary":[],"type":"reasoning"}`
		search  = `{"action":{"query":"q","n":1.50},"id":"ws_1","status":"completed","type":"web_search_call"}`
		hello   = `{"type":"message","role":"assistant","content":"Hello.","phase":"commentary"}`
		bye     = `{"type":"message","role":"assistant","content":"Bye."}`
		call    = `{"type":"function_call","call_id":"c1","name":"x","arguments":"{}"}`
		output  = `{"type":"function_call_output","call_id":"c1","output":"done"}`
		both    = `{"type":"message","role":"assistant","content":"Hello.\n\nBye."}`
	)
	answer := modeltest.Answer{done(0, sealed), done(1, hello), done(2, search), done(3, open), done(4, sealed2), done(5, call), done(6, bye), modeltest.Event(completed), modeltest.End{}}
	for _, tt := range []struct {
		name   string
		config responses.Config
		edit   func(*model.Message)
		want   []string
	}{
		{"all", responses.Config{}, nil, []string{sealed, hello, search, back2, call, bye, output}},
		{"another model", responses.Config{Model: "other"}, nil, []string{both, call, output}},
		{"no calls", responses.Config{}, func(m *model.Message) { m.ToolCalls = nil }, []string{sealed, hello, search, back2, bye}},
		{"other text", responses.Config{}, func(m *model.Message) { m.Content = "Hello.\n\nBye" }, []string{strings.Replace(both, "Bye.", "Bye", 1), call, output}},
		{"broken note", responses.Config{}, func(m *model.Message) { m.Extra["buddy:responses"] = json.RawMessage(`[]`) }, []string{both, call, output}},
	} {
		got := sendBack(t, tt.config, tt.edit, answer)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	// Reasoning before each of text and call, and once before nothing.
	got := strings.Join(sendBack(t, responses.Config{}, nil, modeltest.Answer{
		modeltest.Reasoning{Text: "why"}, modeltest.Text("Hello."), modeltest.Reasoning{Text: "and"}, modeltest.Call{ID: "c1", Name: "x", Arguments: "{}"}, modeltest.Reasoning{Text: "to nothing"},
	}), "\n")
	if strings.Count(got, "sealed") != 2 || strings.Index(got, "sealed 3") > strings.Index(got, "Hello.") || strings.LastIndex(got, "sealed") > strings.Index(got, `"function_call"`) {
		t.Error(got)
	}
}

// TestNoNote: an answer of only text and calls needs none.
func TestNoNote(t *testing.T) {
	r := ask(t, modeltest.Answer{modeltest.Text("a"), modeltest.Call{ID: "c", Name: "x", Arguments: "{}"}})
	if r.Err != nil || r.Done.Message.Extra != nil {
		t.Errorf("%+v", r)
	}
}

// TestRefused: a refused field is never sent again.
func TestRefused(t *testing.T) {
	srv := modeltest.Start(t, func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(string(r.Body), `"include"`) {
			return modeltest.Answer{modeltest.Status{Code: 400, Body: `{"error":{"message":"Encrypted content is not supported with this model."}}`}}
		}
		return modeltest.Answer{modeltest.Text("ok")}
	})
	m := newModel(t, responses.Config{BaseURL: srv.URL})
	for range 2 {
		if r := modeltest.Collect(t.Context(), m, question); r.Err != nil || r.Text != "ok" {
			t.Errorf("%+v", r)
		}
	}
	if n := len(srv.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// TestNew: the error of a bad configuration is one line; a missing model defaults to the profile.
func TestNew(t *testing.T) {
	if _, err := responses.New(responses.Config{Profile: "work", BaseURL: "ftp://x"}); err == nil || !strings.Contains(err.Error(), "models.work.api_base_url") {
		t.Error(err)
	}
	m, err := responses.New(responses.Config{Profile: "work", BaseURL: "https://u:secret@x/v1/", Window: 7})
	want := model.Info{Profile: "work", Model: "work", API: "responses", BaseURL: "https://x/v1", Window: 7, Auth: "no key"}
	if err != nil || m.Info() != want {
		t.Errorf("%+v, %v", m.Info(), err)
	}
}

// openAI refuses summaries, and records its requests.
type openAI struct{ bodies []string }

func (o *openAI) RoundTrip(req *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	o.bodies = append(o.bodies, string(b))
	code, answer := 200, "data: "+delta+"\n\ndata: "+completed+"\n\n"
	if strings.Contains(string(b), `"summary"`) {
		code, answer = 400, `{"error":{"message":"Unsupported parameter: 'reasoning.summary' is not supported with this model."}}`
	}
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
}

// TestSummariesOfReasoning: only OpenAI is asked for summaries of the reasoning, until it refuses.
func TestSummariesOfReasoning(t *testing.T) {
	for url, want := range map[string]int{"https://api.openai.com/v1": 3, "https://example.com/v1": 2} {
		server := &openAI{}
		m := newModel(t, responses.Config{BaseURL: url, HTTPClient: &http.Client{Transport: server}})
		for range 2 {
			if r := modeltest.Collect(t.Context(), m, question); r.Err != nil || r.Text != "ab" {
				t.Errorf("%s: %+v", url, r)
			}
		}
		if len(server.bodies) != want || !strings.Contains(server.bodies[want-1], `"include"`) {
			t.Errorf("%s: %q", url, server.bodies)
		}
	}
}

// TestNothingIsStored: requests set store to false, except for servers that do not know the field; answers are always
// streamed.
func TestNothingIsStored(t *testing.T) {
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if bodies = append(bodies, string(b)); strings.Contains(string(b), `"store"`) {
			http.Error(w, `{"error":{"message":"Unknown parameter: 'store'"}}`, http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "data: "+delta+"\n\ndata: "+completed+"\n\n")
	}))
	defer srv.Close()
	m := newModel(t, responses.Config{BaseURL: srv.URL})
	for range 2 {
		if r := modeltest.Collect(t.Context(), m, question); r.Err != nil || r.Text != "ab" {
			t.Errorf("%+v", r)
		}
	}
	if len(bodies) != 3 || !strings.Contains(bodies[0], `"store":false`) || !strings.Contains(bodies[2], `"stream":true`) {
		t.Errorf("%q", bodies)
	}
}
