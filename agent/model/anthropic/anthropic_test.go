package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/wire"
)

func newModel(t testing.TB, c anthropic.Config) *wire.Model {
	t.Helper()
	if c.Model == "" {
		c.Model = "test-1"
	}
	m, err := anthropic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ask plays one answer to one request.
func ask(t testing.TB, a modeltest.Answer) modeltest.Result {
	t.Helper()
	srv := modeltest.Start(t, modeltest.Steps(a))
	return modeltest.Collect(t.Context(), newModel(t, anthropic.Config{Profile: "p", BaseURL: srv.URL}), question)
}

// stream plays events unchanged, and nothing after them.
func stream(t testing.TB, events ...string) modeltest.Result {
	t.Helper()
	var a modeltest.Answer
	for _, e := range events {
		a = append(a, modeltest.Event(e))
	}
	return ask(t, append(a, modeltest.End{}))
}

var question = model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}}

// TestRoundTrip reads an answer in pieces of any size, as a stream and as one document.
func TestRoundTrip(t *testing.T) {
	for _, size := range []int{0, 1, 3, 1000} {
		for _, way := range []modeltest.Part{modeltest.Pause(0), modeltest.Dribble{}, modeltest.Plain{}} {
			r := ask(t, modeltest.Answer{
				way,
				modeltest.Chunks{Bytes: size},
				modeltest.Reasoning{Text: "Let me think… 思考"},
				modeltest.KeepAlive{N: 2},
				modeltest.Text("I will lööк. 👍"),
				modeltest.Call{ID: "c1", Name: "read_file", Arguments: `{"path":"a\"b"}`},
				modeltest.Call{ID: "c2", Name: "list_dir", Arguments: `{}`},
				modeltest.Usage{Prompt: 10, Completion: 5, Cached: 3},
			})
			name := fmt.Sprintf("%d %T", size, way)
			if r.Err != nil || r.Done == nil {
				t.Fatalf("%s: %v", name, r.Err)
			}
			calls := []model.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"a\"b"}`}, {ID: "c2", Name: "list_dir", Arguments: `{}`}}
			got := *r.Done.Message
			got.Extra = nil
			if d := cmp.Diff(model.Message{Role: model.Assistant, Content: "I will lööк. 👍", ToolCalls: calls}, got); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if d := cmp.Diff(&model.Usage{Prompt: 10, Completion: 5, Cached: 3}, r.Done.Usage); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if d := cmp.Diff(calls, r.Ready); d != "" || r.Text != got.Content || r.Reasoning != "Let me think… 思考" || r.Done.Finish != model.FinishToolCalls {
				t.Errorf("%s: %s %+v", name, d, r)
			}
			if _, stream := way.(modeltest.Plain); !stream && r.Args["c1"] != calls[0].Arguments {
				t.Errorf("%s: %q", name, r.Args)
			}
		}
	}
}

// TestThinkingGoesBack: thinking, redacted thinking and unknown blocks are sent back in their places, through the
// journal, in a tool loop; the server checks the signatures. Another model does not get them.
func TestThinkingGoesBack(t *testing.T) {
	first := modeltest.Answer{
		modeltest.Chunks{Bytes: 4},
		modeltest.Reasoning{Text: `Is 1 < 2 & "so"? 思考`},
		modeltest.Reasoning{Field: "redacted_thinking", Text: "b3BhcXVl"},
		modeltest.Text("I look."),
		modeltest.Reasoning{Text: "again"},
		modeltest.Text("Twice."),
		modeltest.Call{ID: "c1", Name: "look", Arguments: `{"n":1}`},
		modeltest.Reasoning{Text: "between"},
		modeltest.Call{ID: "c2", Name: "look", Arguments: `{oops`},
		modeltest.Reasoning{Text: "led to nothing"},
	}
	srv := modeltest.Start(t, modeltest.Steps(first, modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("ok")}))
	m := newModel(t, anthropic.Config{BaseURL: srv.URL})
	r := modeltest.Collect(t.Context(), m, question)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	line, err := json.Marshal(r.Done.Message) // escapes for HTML, as the journal may
	if err != nil {
		t.Fatal(err)
	}
	var back model.Message
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	next := model.Request{Messages: []model.Message{
		question.Messages[0], back,
		{Role: model.Tool, ToolCallID: "c1", Content: "one"},
		{Role: model.Tool, ToolCallID: "c2", Content: "Tool error: invalid arguments"},
	}}
	for _, name := range []string{"test-1", "other"} {
		if r := modeltest.Collect(t.Context(), newModel(t, anthropic.Config{BaseURL: srv.URL, Model: name}), next); r.Err != nil {
			t.Fatal(name, r.Err)
		}
	}
	kinds := func(body []byte) (all []string) {
		for _, b := range content(t, body, 1) {
			line := fmt.Sprint(b["type"])
			for _, k := range []string{"text", "thinking", "data", "input"} {
				if v, ok := b[k]; ok {
					line += fmt.Sprint(" ", v)
				}
			}
			all = append(all, line)
		}
		return all
	}
	want := []string{
		`thinking Is 1 < 2 & "so"? 思考`, "redacted_thinking b3BhcXVl", "text I look.", "thinking again", "text Twice.",
		"tool_use map[n:1]", "thinking between", "tool_use map[]",
	}
	if d := cmp.Diff(want, kinds(srv.Requests()[1].Body)); d != "" {
		t.Error(d)
	}
	want = []string{"text I look.Twice.", "tool_use map[n:1]", "tool_use map[]"}
	if d := cmp.Diff(want, kinds(srv.Requests()[2].Body)); d != "" {
		t.Error("another model:", d)
	}
}

// content returns the blocks of one message of a request.
func content(t *testing.T, body []byte, i int) []map[string]any {
	t.Helper()
	var b struct {
		Messages []struct{ Content []map[string]any }
	}
	if err := json.Unmarshal(body, &b); err != nil || len(b.Messages) <= i {
		t.Fatalf("%v in %s", err, body)
	}
	return b.Messages[i].Content
}

// TestUnknownBlocks: an unknown block is kept, with its deltas added.
func TestUnknownBlocks(t *testing.T) {
	r := stream(t,
		`{"type":"message_start","message":{"usage":null}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{},"n":1e400}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"q\":"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"novel","a":"x"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"novel_delta","a":"y","b":[1]}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"novel_delta","a":"z","b":[2]}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"invented"}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"never begun"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`,
	)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	want := `{"model":"test-1","blocks":[` +
		`{"text":0,"calls":0,"block":{"id":"s1","input":{"q":1},"n":1e400,"name":"web_search","type":"server_tool_use"}},` +
		`{"text":0,"calls":0,"block":{"a":"xyz","b":[2],"type":"novel"}}]}`
	if got := string(r.Done.Message.Extra["buddy:anthropic"]); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r.Text != "never begun" || r.Done.Finish != model.FinishStop || r.Done.Usage != nil {
		t.Errorf("%+v", r)
	}
}

// TestFinish: stop reasons get the names that the loop knows; calls of an answer that was cut off are never ready.
func TestFinish(t *testing.T) {
	for reason, want := range map[string]string{
		"end_turn": "stop", "stop_sequence": "stop", "pause_turn": "stop", "tool_use": "tool_calls",
		"max_tokens": "length", "model_context_window_exceeded": "context_full", "refusal": "content_filter", "Novel": "novel",
	} {
		r := ask(t, modeltest.Answer{modeltest.Text("a"), modeltest.Call{ID: "c", Name: "x", Arguments: `{"half":`}, modeltest.Finish(reason)})
		cut := want == model.FinishLength || want == model.FinishContext || want == model.FinishContentFilter
		if r.Err != nil || r.Done.Finish != want || (len(r.Ready) == 0) != cut || len(r.Done.Message.ToolCalls) != 1 {
			t.Errorf("%s: %+v", reason, r)
		}
	}
}

// Zeros at the end of an answer do not replace counts from its start.
func TestUsageAtTheEnd(t *testing.T) {
	r := stream(t,
		`{"type":"message_start","message":{"usage":{"input_tokens":100,"cache_read_input_tokens":5000,"cache_creation_input_tokens":1000,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":null,"output_tokens":7}}`,
		`{"type":"message_stop"}`,
	)
	if want := (model.Usage{Prompt: 6100, Completion: 7, Cached: 5000, CacheWrite: 1000}); r.Err != nil || r.Done.Usage == nil || *r.Done.Usage != want {
		t.Errorf("%v, %+v, want %+v", r.Err, r.Done.Usage, want)
	}
}

// A refusal has the provider's reason.
func TestRefusal(t *testing.T) {
	for details, want := range map[string]string{
		`{"type":"refusal","category":"cyber","explanation":"It could\nharm."}`: "It could harm.",
		`{"type":"refusal","category":"cyber","explanation":null}`:              "cyber",
		`null`: "", `"odd"`: "",
	} {
		r := stream(t, `{"type":"message_start","message":{}}`, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":`+details+`}}`, `{"type":"message_stop"}`)
		if r.Err != nil || r.Done.Finish != model.FinishContentFilter || r.Done.Refusal != want {
			t.Errorf("%s: %q, %v", details, r.Done.Refusal, r.Err)
		}
	}
}

// TestCalls: calls in the spellings of other servers.
func TestCalls(t *testing.T) {
	r := stream(t,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x","input":{"whole":1}}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"y"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","name":"z","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
		`[DONE]`,
	)
	if r.Err != nil || len(r.Ready) != 3 || r.Done.Finish != model.FinishToolCalls {
		t.Fatalf("%+v", r)
	}
	if a, b, c := r.Ready[0], r.Ready[1], r.Ready[2]; a.ID != "a" || a.Arguments != `{"whole":1}` || b.ID == "a" || b.ID == "" || b.Arguments != "{}" || c.ID == "" || c.ID == b.ID || c.Arguments != "{}" {
		t.Errorf("%+v", r.Ready)
	}
}

func toolDef(name string) model.ToolDef {
	return model.ToolDef{Name: name, Description: "does <it>", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// TestRequestBytes checks a request on the wire.
func TestRequestBytes(t *testing.T) {
	srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("ok")} })
	m := newModel(t, anthropic.Config{BaseURL: srv.URL + "/", Access: endpoint.Access{Key: "k-123"}, MaxTokens: 99})
	msgs := []model.Message{
		{Role: model.System, Content: "You are <buddy>."},
		{Role: model.System, Content: " "},
		{Role: model.System, Content: "Be kind."},
		{Role: model.User, Content: "one"},
		{Role: model.User, Content: "two"},
		{Role: model.Assistant, Content: " ", ToolCalls: []model.ToolCall{
			{ID: "c1", Name: "do", Arguments: `{"a":"<&>"}`}, {ID: "f.do:0", Name: "do", Arguments: "[1]"}, {ID: "c3", Name: "do"},
		}, Extra: map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"of another provider"`), "buddy:anthropic": json.RawMessage(`7`)}},
		{Role: model.Tool, ToolCallID: "c1", Content: "done"},
		{Role: model.Tool, ToolCallID: "f.do:0", Content: "Tool error: no object", Failed: true},
		{Role: model.Tool, ToolCallID: "c3", Content: "\n"},
		{Role: model.User, Content: "go on"},
	}
	if r := modeltest.Collect(t.Context(), m, model.Request{Messages: msgs, Tools: []model.ToolDef{toolDef("a"), {Name: "do"}}}); r.Err != nil {
		t.Fatal(r.Err)
	}
	got := srv.Requests()[0]
	const mark = `,"cache_control":{"type":"ephemeral"}}`
	want := `{"model":"test-1","max_tokens":99,"system":[{"type":"text","text":"You are <buddy>."},{"type":"text","text":"Be kind."` + mark + `],` +
		`"tools":[{"name":"a","description":"does <it>","input_schema":{"type":"object","properties":{}}},{"name":"do","input_schema":{"type":"object","properties":{}}` + mark + `],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"` + mark + `]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"do","input":{"a":"<&>"}},{"type":"tool_use","id":"f_do_0_ID","name":"do","input":{}},{"type":"tool_use","id":"c3","name":"do","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"done"},{"type":"tool_result","tool_use_id":"f_do_0_ID","content":"Tool error: no object","is_error":true},` +
		`{"type":"tool_result","tool_use_id":"c3"},{"type":"text","text":"go on"` + mark + `]}],"stream":true}`
	body := regexp.MustCompile(`f_do_0_[0-9a-f]{8}`).ReplaceAllString(string(got.Body), "f_do_0_ID")
	if d := cmp.Diff(want, body); d != "" {
		t.Error(d)
	}
	if h := got.Header; h.Get("X-Api-Key") != "k-123" || h.Get("Anthropic-Version") != "2023-06-01" || h.Get("Authorization") != "" || h.Get("Content-Type") != "application/json" {
		t.Errorf("%v", h)
	}
}

// TestEagerArguments: only Anthropic's own endpoint is asked to stream arguments; other servers may refuse an unknown
// member.
func TestEagerArguments(t *testing.T) {
	for base, want := range map[string]bool{
		"https://api.anthropic.com":             true,
		"https://API.anthropic.com/v1/":         true,
		"https://api.anthropic.com.example.org": false,
		"https://example.org/api.anthropic.com": false,
		"https://openrouter.ai/api":             false,
		"http://127.0.0.1:8080":                 false,
	} {
		var sent []byte
		look := transport(func(req *http.Request) { sent, _ = io.ReadAll(req.Body) })
		m := newModel(t, anthropic.Config{BaseURL: base, HTTPClient: &http.Client{Transport: look}})
		modeltest.Collect(t.Context(), m, model.Request{Messages: question.Messages, Tools: []model.ToolDef{toolDef("a"), toolDef("b")}})
		all := 0
		if want {
			all = 2
		}
		if n := strings.Count(string(sent), `"eager_input_streaming":true`); n != all || strings.Count(string(sent), `"input_schema"`) != 2 {
			t.Errorf("%q: %d of 2 tools are streamed eagerly, not %d: %s", base, n, all, sent)
		}
	}
}

// TestNoKey checks a request with no key, no tools, and the default of max_tokens.
func TestNoKey(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("ok")}))
	if r := modeltest.Collect(t.Context(), newModel(t, anthropic.Config{BaseURL: srv.URL}), question); r.Err != nil {
		t.Fatal(r.Err)
	}
	got := srv.Requests()[0]
	if _, ok := got.Header["X-Api-Key"]; ok {
		t.Error("a key was sent")
	}
	if s := string(got.Body); strings.Contains(s, "tools") || strings.Contains(s, "system") || !strings.Contains(s, `"max_tokens":8192`) {
		t.Error(s)
	}
}

// TestStablePrefix: a request starts like the previous one, apart from the cache marks, at most four; the last marked
// place is marked again.
func TestStablePrefix(t *testing.T) {
	srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("ok")} })
	m := newModel(t, anthropic.Config{BaseURL: srv.URL})
	req := model.Request{Messages: []model.Message{{Role: model.System, Content: "s"}}, Tools: []model.ToolDef{toolDef("do")}}
	for i := range 6 {
		id := fmt.Sprint("c", i)
		if i > 0 {
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Content: "a", ToolCalls: []model.ToolCall{{ID: id, Name: "do", Arguments: "{}"}}},
				model.Message{Role: model.Tool, ToolCallID: id, Content: "r"})
		}
		if i%2 == 0 {
			req.Messages = append(req.Messages, model.Message{Role: model.User, Content: "q" + id})
		}
		if r := modeltest.Collect(t.Context(), m, req); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	const mark = `,"cache_control":{"type":"ephemeral"}`
	before, marked := "", ""
	for i, r := range srv.Requests() {
		body := strings.TrimSuffix(string(r.Body), `]}],"stream":true}`)
		if n := strings.Count(body, mark); n > 4 || n < 3 {
			t.Errorf("request %d: %d marks", i, n)
		}
		plain := strings.ReplaceAll(body, mark, "")
		if !strings.HasPrefix(plain, before) {
			t.Errorf("request %d:\n%s\ndoes not begin with\n%s", i, plain, before)
		}
		var places []string
		parts := strings.Split(body, mark)
		for n := range len(parts) - 1 {
			places = append(places, strings.Join(parts[:n+1], ""))
		}
		if marked != "" && !slices.Contains(places, marked) {
			t.Errorf("request %d: the place that was marked last is not marked", i)
		}
		before, marked = plain, places[len(places)-1]
	}
}

// TestConnectionIsUsedAgain: an answer is read to its end, so that the next request needs no new connection.
func TestConnectionIsUsedAgain(t *testing.T) {
	var conns atomic.Int32
	h := httptest.NewUnstartedServer(modeltest.New(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("ok")} }))
	h.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	h.Start()
	defer h.Close()
	m := newModel(t, anthropic.Config{BaseURL: h.URL})
	for range 5 {
		if r := modeltest.Collect(t.Context(), m, question); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}

// TestNew: errors in a configuration name the setting.
func TestNew(t *testing.T) {
	for want, c := range map[string]anthropic.Config{
		"models.p.api_base_url is empty": {Profile: "p", Model: "m"},
		"model is empty":                 {BaseURL: "http://x"},
		"as a line break; key: env K":    {BaseURL: "http://x", Model: "m", Access: endpoint.Access{Key: "a\nb", KeySource: "env K"}},
	} {
		if _, err := anthropic.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
	m := newModel(t, anthropic.Config{Profile: "p", BaseURL: "https://u:pw@x/v1/", Model: "m", Window: 5})
	if want := (model.Info{Profile: "p", Model: "m", API: "anthropic", BaseURL: "https://x/v1", Window: 5, Auth: "no key"}); m.Info() != want {
		t.Errorf("%+v", m.Info())
	}
}

// TestTokenCounts: counts may be strings, arrive in parts, or be missing.
func TestTokenCounts(t *testing.T) {
	const head, tail = `{"type":"message_start","message":{"usage":`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`
	for _, tt := range []struct {
		head, tail string
		want       *model.Usage
	}{
		{`null`, `{}`, nil},
		{`{"input_tokens":"7"}`, `{"output_tokens":"3"}`, &model.Usage{Prompt: 7, Completion: 3, CacheUnknown: true}},
		{`{"input_tokens":7,"output_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":null}`, `{"output_tokens":3}`, &model.Usage{Prompt: 27, Completion: 3, Cached: 20}},
		{`{"input_tokens":7}`, `{"output_tokens":3,"input_tokens":8,"cache_creation_input_tokens":5}`, &model.Usage{Prompt: 13, Completion: 3, CacheWrite: 5, CacheUnknown: true}},
		{`{"input_tokens":-7}`, `{"output_tokens":1e300}`, nil},
	} {
		r := stream(t, head+tt.head+`}}`, start, piece, tail+tt.tail+`}`)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if d := cmp.Diff(tt.want, r.Done.Usage); d != "" {
			t.Errorf("%s, %s: %s", tt.head, tt.tail, d)
		}
	}
}

// TestBreakpoints: the listed system messages and the newest message are marked, never more than four places.
func TestBreakpoints(t *testing.T) {
	srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("ok")} })
	m := newModel(t, anthropic.Config{BaseURL: srv.URL})
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for i, c := range []struct {
		at   []int
		want string // of the three
	}{{nil, "c"}, {[]int{0}, "a"}, {[]int{0, 2, 7}, "ac"}, {[]int{0, 1, 2}, "bc"}, {[]int{}, ""}} {
		req := model.Request{Breakpoints: c.at, Tools: []model.ToolDef{toolDef("do")}, Messages: []model.Message{
			{Role: model.System, Content: "a"},
			{Role: model.System, Content: " "},
			{Role: model.System, Content: "b"},
			{Role: model.System, Content: "c"},
			{Role: model.User, Content: "one"},
			{Role: model.Assistant, Content: "two"},
			{Role: model.User, Content: "newest"},
		}}
		if r := modeltest.Collect(t.Context(), m, req); r.Err != nil {
			t.Fatal(r.Err)
		}
		body := string(srv.Requests()[i].Body)
		got := ""
		for _, s := range []string{"a", "b", "c"} {
			if strings.Contains(body, `{"type":"text","text":"`+s+`"`+mark) {
				got += s
			}
		}
		if n := strings.Count(body, mark); got != c.want || n > 4 || !strings.Contains(body, `"text":"newest"`+mark) {
			t.Errorf("%v: %q is marked, want %q, %d marks in\n%s", c.at, got, c.want, n, body)
		}
	}
}
