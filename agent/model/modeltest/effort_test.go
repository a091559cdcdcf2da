package modeltest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/completions"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/responses"
)

// recorder keeps the last request and refuses it.
type recorder struct {
	body []byte
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var err error
	r.body, err = io.ReadAll(req.Body)
	return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: http.NoBody, Request: req}, err
}

func protocol(t *testing.T, name string) modeltest.Protocol {
	t.Helper()
	for _, p := range modeltest.Protocols {
		if p.Name == name {
			return p
		}
	}
	t.Fatal(name)
	return modeltest.Protocol{}
}

const (
	openAI     = "https://api.openai.com/v1"
	openRouter = "https://openrouter.ai/api/v1"
	ollama     = "http://localhost:11434/v1"
	lmStudio   = "http://localhost:1234/v1"
	vLLM       = "http://gpu:8000/v1"
	llamaCPP   = "http://127.0.0.1:8080/v1"
	other      = "https://api.example.com/v1"
	claude     = "https://api.anthropic.com/v1"
)

// members are the members of a request about thinking and tool calls.
var members = []string{"reasoning_effort", "reasoning", "include_reasoning", "chat_template_kwargs", "parallel_tool_calls", "thinking", "output_config", "max_tokens"}

// TestEffortOfEachProvider checks each provider's members beyond the protocol, for an effort and without one.
func TestEffortOfEachProvider(t *testing.T) {
	const maxTokens = `"max_tokens":8192`
	for _, tt := range []struct{ api, url, model, effort, want string }{
		{"completions", openAI, "gpt-5.1", "", ``},
		{"completions", openAI, "gpt-5.1", "None", `"reasoning_effort":"none"`},
		{"completions", openAI, "gpt-5-mini", "minimal", `"reasoning_effort":"minimal"`},
		{"completions", openAI, "o3", "high", `"reasoning_effort":"high"`},
		{"completions", openAI, "gpt-99", "minimal", `"reasoning_effort":"minimal"`},
		{"completions", openRouter, "anthropic/claude-opus-4.7", "", `"include_reasoning":true`},
		{"completions", openRouter, "openai/o1", "minimal", `"reasoning":{"effort":"minimal"}`},
		{"completions", openRouter, "x", "none", `"reasoning":{"effort":"none"}`},
		{"completions", ollama, "qwen3", "", ``},
		{"completions", ollama, "qwen3", "none", `"reasoning_effort":"none"`},
		{"completions", vLLM, "qwen3", "none", `"chat_template_kwargs":{"enable_thinking":false}`},
		{"completions", vLLM, "gpt-oss-20b", "low", `"reasoning_effort":"low"`},
		{"completions", llamaCPP, "qwen3", "", `"parallel_tool_calls":true`},
		{"completions", llamaCPP, "qwen3", "none", `"chat_template_kwargs":{"enable_thinking":false},"parallel_tool_calls":true`},
		{"completions", llamaCPP, "gpt-oss-20b", "high", `"chat_template_kwargs":{"reasoning_effort":"high"},"parallel_tool_calls":true`},
		{"completions", lmStudio, "gpt-oss-20b", "", ``},
		{"completions", other, "x", "low", `"reasoning_effort":"low"`},
		{"responses", openAI, "gpt-5", "", `"reasoning":{"summary":"auto"}`},
		{"responses", openAI, "gpt-5", "low", `"reasoning":{"effort":"low","summary":"auto"}`},
		{"responses", openAI, "gpt-5.2", "none", `"reasoning":{"effort":"none"}`},
		{"responses", openAI, "gpt-4.1", "", ``},
		{"responses", lmStudio, "gpt-oss-20b", "medium", `"reasoning":{"effort":"medium"}`},
		{"responses", other, "x", "", ``},
		{"anthropic", claude, "claude-sonnet-4-5", "", maxTokens},
		{"anthropic", claude, "claude-sonnet-4-5-20250929", "none", maxTokens},
		{"anthropic", claude, "claude-sonnet-4-5-20250929", "minimal", `"thinking":{"type":"enabled","budget_tokens":1024},"max_tokens":9216`},
		{"anthropic", claude, "claude-3-7-sonnet-20250219", "high", `"thinking":{"type":"enabled","budget_tokens":16384},"max_tokens":24576`},
		{"anthropic", claude, "claude-sonnet-4-20250514", "medium", `"thinking":{"type":"enabled","budget_tokens":10240},"max_tokens":18432`},
		{"anthropic", claude, "claude-opus-4-7", "medium", `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"},"max_tokens":18432`},
		{"anthropic", other, "anthropic/claude-sonnet-4.6", "minimal", `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},"max_tokens":9216`},
		{"anthropic", claude, "claude-opus-5", "low", `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},"max_tokens":12288`},
		{"anthropic", claude, "claude-mythos-preview", "high", `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"},"max_tokens":24576`},
	} {
		server := &recorder{}
		m := protocol(t, tt.api).New(t, config(tt.url, tt.model, tt.effort, server))
		req := question
		req.Tools = []model.ToolDef{{Name: "x"}}
		modeltest.Collect(t.Context(), m, req)
		var top map[string]json.RawMessage
		if err := json.Unmarshal(server.body, &top); err != nil {
			t.Fatalf("%v in %s", err, server.body)
		}
		var got []string
		for _, k := range members {
			if top[k] != nil {
				got = append(got, `"`+k+`":`+string(top[k]))
			}
		}
		if s := strings.Join(got, ","); s != tt.want {
			t.Errorf("%s %s %s %q: %s, want %s", tt.api, tt.url, tt.model, tt.effort, s, tt.want)
		}
	}
}

func config(url, name, effort string, server http.RoundTripper) modeltest.Config {
	return modeltest.Config{Profile: "work", BaseURL: url, Model: name, Effort: modeltest.Effort(effort), HTTPClient: &http.Client{Transport: server}}
}

// TestEffortRefused: an invalid value is refused at once, with the valid ones.
func TestEffortRefused(t *testing.T) {
	const key = "models.work.reasoning_effort = "
	for _, tt := range []struct{ api, url, model, effort, want string }{
		{"completions", other, "x", "much", key + `"much" is not possible (allowed: none, minimal, low, medium, high, xhigh, max)`},
		{"completions", openAI, "gpt-5", "none", key + `"none" is not possible with the model gpt-5 (allowed: minimal, low, medium, high)`},
		{"completions", openAI, "gpt-5.1", "minimal", key + `"minimal" is not possible with the model gpt-5.1 (allowed: none, low, medium, high)`},
		{"responses", openAI, "gpt-5-pro", "low", key + `"low" is not possible with the model gpt-5-pro (allowed: high)`},
		{"completions", openAI, "gpt-4o", "low", key + `"low": the model gpt-4o does not reason; leave the key out`},
		{"completions", ollama, "qwen3", "minimal", key + `"minimal" is not possible with Ollama (allowed: none, low, medium, high)`},
		{"completions", lmStudio, "x", "low", key + `"low": LM Studio ignores it in this protocol; use api = "responses", or set it in LM Studio`},
		{"responses", lmStudio, "x", "none", key + `"none" is not possible with LM Studio (allowed: low, medium, high)`},
		{"anthropic", claude, "claude-opus-4-7", "more", key + `"more" is not possible (allowed: none, minimal, low, medium, high, xhigh, max)`},
	} {
		c := config(tt.url, tt.model, tt.effort, nil)
		var err error
		switch tt.api {
		case "completions":
			_, err = completions.New(c)
		case "responses":
			_, err = responses.New(c)
		default:
			_, err = anthropic.New(anthropic.Config{Profile: c.Profile, BaseURL: c.BaseURL, Model: c.Model, Effort: c.Effort})
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s %s %s %q: %v\nwant %s", tt.api, tt.url, tt.model, tt.effort, err, tt.want)
		}
	}
	_, err := anthropic.New(anthropic.Config{BaseURL: claude, Model: "claude-3-7-sonnet", Effort: "high", MaxTokens: 4096})
	if want := `max_tokens = 4096 leaves no room for an answer: reasoning_effort = "high" may use 16384 tokens of it`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestThinkingCorrected: if a model's name does not show which form of thinking it needs, one refusal corrects it.
func TestThinkingCorrected(t *testing.T) {
	srv := modeltest.Start(t, func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(string(r.Body), `"type":"enabled"`) {
			return modeltest.Answer{modeltest.Status{Code: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\"."}}`}}
		}
		return modeltest.Answer{modeltest.Text("ok")}
	})
	m := protocol(t, "anthropic").New(t, modeltest.Config{BaseURL: srv.URL, Model: "my-model", Effort: "high"})
	for n, want := range []int{2, 3} { // the second request is right at once
		r := modeltest.Collect(t.Context(), m, question)
		all := srv.Requests()
		if r.Err != nil || len(all) != want || !strings.Contains(string(all[want-1].Body), `"thinking":{"type":"adaptive"`) {
			t.Errorf("request %d: %v, %d in all", n, r.Err, len(all))
		}
	}
}

// TestThinkingRoundTrip: the server accepts the request, and the thinking sent back.
func TestThinkingRoundTrip(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Reasoning{Text: "Well."}, modeltest.Text("ok")}))
	m := protocol(t, "anthropic").New(t, modeltest.Config{BaseURL: srv.URL, Model: "claude-3-7-sonnet", Effort: "low"})
	if r := modeltest.Collect(t.Context(), m, question); r.Err != nil || r.Reasoning != "Well." {
		t.Errorf("%+v", r)
	}
}
