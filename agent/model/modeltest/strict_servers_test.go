package modeltest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/wire"
)

// strictServer refuses requests in the words of a real server.
type strictServer struct {
	name    string
	api     string // its only protocol; "" = all
	refuses func(seen) bool
	status  int // 0 = 400
	says    string
}

// seen is a request as a strict server reads it.
type seen struct {
	modeltest.Request
	roles []string
}

func (s seen) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(string(s.Body), w) })
}

// unordered reports whether a user's message follows a user's message or a result.
func (s seen) unordered() bool {
	for i, r := range s.roles {
		if i > 0 && r == "user" && (s.roles[i-1] == "user" || s.roles[i-1] == "tool") {
			return true
		}
	}
	return false
}

func (s seen) pictures() bool {
	return slices.ContainsFunc(s.Messages, func(m model.Message) bool { return len(m.Images) > 0 })
}

// thoughtless reports whether a request for thinking follows the result of a call made without thinking.
func (s seen) thoughtless() bool {
	var body struct {
		Thinking *struct{ Type string }
		Messages []struct{ Content []struct{ Type string } }
	}
	n := 0
	if json.Unmarshal(s.Body, &body) == nil {
		n = len(body.Messages)
	}
	return n > 1 && body.Thinking != nil && body.Messages[n-1].Content[0].Type == "tool_result" && !strings.HasSuffix(body.Messages[n-2].Content[0].Type, "thinking")
}

func has(words ...string) func(seen) bool { return func(s seen) bool { return s.has(words...) } }

const unexplained = `{"error":{"message":"Bad Request"}}`

// strictServers holds the refusals of real providers and servers.
var strictServers = []strictServer{
	// platform.claude.com/docs/en/build-with-claude/extended-thinking: signatures are checked, and with thinking
	// enabled a turn with tools starts with thinking.
	{"signature", "anthropic", has(`"signature"`), 0, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block\"}}"},
	{"changed thinking", "anthropic", has(`"signature"`), 0, "{\"error\":{\"message\":\"messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.\"}}"},
	{
		"signature, then thinking is due", "anthropic", func(s seen) bool { return s.has(`"signature"`) || s.thoughtless() }, 0,
		"{\"error\":{\"message\":\"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block\"}}",
	},
	// platform.claude.com/docs/en/build-with-claude/adaptive-thinking
	{"adaptive thinking", "anthropic", has(`"type":"enabled"`), 0, `{"error":{"message":"\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior."}}`},
	{"no thinking", "anthropic", has(`"thinking":{"`), 0, `{"error":{"message":"'claude-3-5-haiku-20241022' does not support thinking."}}`},
	{"no temperature", "anthropic", has(`"temperature"`), 0, "{\"error\":{\"message\":\"`temperature` is deprecated for this model.\"}}"},
	// docs.litellm.ai/docs/completion/prompt_caching; Bedrock and Vertex validate in the same words.
	{"cache marks", "anthropic", has(`cache_control`), 0, `{"error":{"message":"tools.0.custom.cache_control: Extra inputs are not permitted"}}`},
	// platform.claude.com/docs/en/build-with-claude/vision
	{"large picture", "anthropic", seen.pictures, 0, `{"error":{"message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"}}`},
	{"broken picture", "anthropic", seen.pictures, 0, `{"error":{"message":"Could not process image"}}`},
	// platform.openai.com/docs/guides/reasoning
	{"no temperature", "completions", has(`"temperature"`), 0, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`},
	// learn.microsoft.com/azure/ai-services/openai/how-to/reasoning
	{"no effort", "completions", has(`reasoning_effort`), 0, `{"error":{"message":"Unrecognized request argument supplied: reasoning_effort","type":"invalid_request_error"}}`},
	{"neither", "completions", has(`reasoning_effort`, `"temperature"`), 0, `{"error":{"message":"Unrecognized request arguments supplied: reasoning_effort, temperature"}}`},
	// docs.mistral.ai/api: unknown fields are refused.
	{"no stream_options", "completions", has(`stream_options`), 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`},
	// console.groq.com/docs/reasoning
	{"no reasoning back", "completions", has(`"reasoning_content"`), 0, `{"error":{"message":"'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]"}}`},
	// api-docs.deepseek.com/guides/thinking_mode
	{"reasoning is due", "completions", func(s seen) bool {
		return strings.Count(string(s.Body), `"role":"assistant"`) > strings.Count(string(s.Body), `"reasoning_content"`)
	}, 0, "{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\"}}"},
	// ai.google.dev/gemini-api/docs/thought-signatures
	{"thought signature", "completions", has(`"reasoning_content"`), 0, `[{"error":{"code":400,"message":"Thought signature is not valid.","status":"INVALID_ARGUMENT"}}]`},
	// github.com/mistralai/mistral-common, protocol/instruct/validator.py
	{"user after tool", "completions", seen.unordered, 0, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","param":null,"code":"3230"}`},
	// docs.vllm.ai/en/latest/serving/openai_compatible_server, "Chat template"; huggingface.co/mistralai, chat_template
	{"roles alternate", "completions", seen.unordered, 0, `{"object":"error","message":"After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.","type":"BadRequestError","code":400}`},
	// github.com/ggml-org/llama.cpp, common/chat.cpp: the answer is the template's exception.
	{"Jinja exception", "completions", seen.unordered, 500, `{"error":{"code":500,"message":"Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}`},
	{"roles alternate", "responses", seen.unordered, 0, `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}}`},
	// api-docs.deepseek.com
	{"image_url", "", seen.pictures, 422, "Failed to deserialize the JSON body into the target type: messages[5]: unknown variant `image_url`, expected `text`"},
	// openrouter.ai/docs/api-reference/errors
	{"no endpoint for pictures", "", seen.pictures, 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`},
	// github.com/ggml-org/llama.cpp, tools/server
	{"no projector", "", seen.pictures, 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`},
	// docs.vllm.ai/en/latest/features/multimodal_inputs
	{"not multimodal", "", seen.pictures, 0, `{"object":"error","message":"test-1 is not a multimodal model None","type":"BadRequestError","code":400}`},
	// nginx.org/en/docs/http/ngx_http_core_module.html#client_max_body_size
	{"large body", "", seen.pictures, 413, "<html><head><title>413 Request Entity Too Large</title></head></html>"},
	// platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
	{"encrypted reasoning", "responses", has(`encrypted_content":"`), 0, `{"error":{"message":"The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.","code":"invalid_encrypted_content"}}`},
	{"reasoning item", "responses", has(`"type":"reasoning"`), 0, `{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item."}}`},
	{"include", "responses", has(`"include"`), 0, `{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}`},
	{"store", "responses", has(`"store"`), 0, `{"error":{"message":"Unknown parameter: 'store'."}}`},
	{"no effort", "responses", has(`"effort"`), 0, `{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model."}}`},
	// Gateways without a reason: optional remedies are tried.
	{"says nothing of reasoning", "", has(`"signature"`, `"reasoning_content"`, `"type":"reasoning"`), 0, unexplained},
	{"says nothing of pictures", "", seen.pictures, 0, unexplained},
	{"says nothing of the order", "completions", seen.unordered, 0, ``},
	{"says nothing of fields", "", has(`stream_options`, `"temperature"`, `"include"`), 422, unexplained},
}

// TestStrictServers: whatever a server refuses, a conversation of any shape continues: at once in a changed form, later
// without a refusal, also in another process, and the history does not change. A user's text never becomes part of a
// result.
func TestStrictServers(t *testing.T) {
	for _, strict := range strictServers {
		modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
			if strict.api != "" && strict.api != p.Name {
				t.SkipNow()
			}
			t.Run(strict.name, func(t *testing.T) {
				for seed := range 4 {
					strict.heals(t, p, rand.New(rand.NewPCG(uint64(seed), 1)))
				}
			})
		})
	}
}

func (strict strictServer) heals(t *testing.T, p modeltest.Protocol, rng *rand.Rand) {
	t.Helper()
	var mu sync.Mutex
	refusing := false
	srv := modeltest.Start(t, func(r modeltest.Request) modeltest.Answer {
		mu.Lock()
		defer mu.Unlock()
		switch s := (seen{Request: r, roles: roles(r.Body)}); {
		case refusing && strict.refuses(s):
			return modeltest.Answer{modeltest.Status{Code: max(strict.status, 400), Body: strict.says}}
		case refusing:
			return modeltest.Answer{modeltest.Text("ok")}
		case len(r.Messages) == 1:
			return modeltest.Answer{modeltest.Reasoning{Text: "hm"}, modeltest.Text("Done.")}
		}
		return modeltest.Answer{modeltest.Reasoning{Text: "hm"}, modeltest.Call{ID: "c", Name: "look", Arguments: "{}"}}
	})
	connect := func() model.Model {
		m := p.New(t, modeltest.Config{BaseURL: srv.URL, Effort: "medium"})
		m.(interface{ Sample(wire.Sampling) }).Sample(wire.Sampling{Temperature: new(float64)})
		return m
	}
	m := connect()
	answer := modeltest.Collect(t.Context(), m, question).Done.Message
	call := modeltest.Collect(t.Context(), m, model.Request{Messages: []model.Message{question.Messages[0], {Role: model.Assistant, Content: "a"}, question.Messages[0]}}).Done.Message
	refusing = true
	history := anyHistory(rng, *answer, *call)
	before, _ := json.Marshal(history)
	var needs []model.Needs
	for n, m := range []model.Model{m, m, connect()} {
		had := len(srv.Requests())
		r := modeltest.Collect(t.Context(), m, model.Request{Messages: history, Needs: needs, Tools: []model.ToolDef{{Name: "look"}}})
		all := srv.Requests()[had:]
		if r.Err != nil || len(all) > 5 || n > 0 && len(all) > 1 {
			t.Fatalf("request %d: %v after %d requests, the last\n%s", n, r.Err, len(all), all[len(all)-1].Body)
		}
		if n == 0 && len(all) > 1 && r.Needs == nil {
			t.Error("nobody says what was changed")
		}
		if r.Needs != nil {
			needs = append(needs, *r.Needs)
		}
		for _, msg := range all[len(all)-1].Messages {
			if msg.Role == model.Tool && strings.Contains(msg.Content, "please") {
				t.Errorf("a person's words are in a result: %q", msg.Content)
			}
		}
	}
	if after, _ := json.Marshal(history); string(after) != string(before) {
		t.Errorf("the history was changed from\n%s\nto\n%s", before, after)
	}
}

// roles returns the roles of the messages in a request to an OpenAI protocol; a result of Responses is "tool".
func roles(body []byte) (all []string) {
	var b struct {
		Messages, Input []struct{ Role, Type string }
	}
	_ = json.Unmarshal(body, &b) // empty in another form
	for _, m := range append(b.Messages, b.Input...) {
		switch m.Type {
		case "function_call_output":
			m.Role = "tool"
		case "reasoning":
			continue
		}
		all = append(all, m.Role)
	}
	return all
}

// anyHistory returns a valid conversation: prompts, steering, reminders and pictures at allowed places, answers with
// and without calls, in any order. It ends with a prompt or with results and messages after them.
func anyHistory(rng *rand.Rand, answer, call model.Message) []model.Message {
	says := func(kind model.Kind, text string) model.Message {
		m := model.Message{Role: model.User, Kind: kind, Content: text}
		if rng.IntN(3) == 0 {
			m.Images = []model.Image{png}
		}
		return m
	}
	all := []model.Message{{Role: model.System, Content: "You help."}}
	for n := range 2 + rng.IntN(3) {
		all = append(all, says(model.Prompt, "please look"))
		for range rng.IntN(3) {
			all = append(all, says(model.Reminder, "<system-reminder>so</system-reminder>"))
		}
		for k := range 1 + rng.IntN(2) {
			c := call
			c.ToolCalls = slices.Clone(call.ToolCalls)
			c.ToolCalls[0].ID = fmt.Sprintf("call%d%d", n, k)
			all = append(all, c, model.Message{Role: model.Tool, ToolCallID: c.ToolCalls[0].ID, Content: "seen"})
			if rng.IntN(2) == 0 {
				all = append(all, says(model.Reminder, "<system-reminder>pictures</system-reminder>"))
			}
			if rng.IntN(3) == 0 {
				all = append(all, says(model.Steering, "and there, please"))
			}
		}
		if rng.IntN(4) > 0 {
			all = append(all, answer)
		}
	}
	if all[len(all)-1].Role == model.Assistant {
		all = append(all, says(model.Prompt, "once more, please"))
	}
	return all
}

// TestNeverHealed: a refusal that no change can mend is returned at once, in the server's words.
func TestNeverHealed(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"Your credit balance is too low to access the Anthropic API."}}`,                          // Anthropic
		`{"error":{"message":"Access denied, please make sure your account is in good standing.","code":"Arrearage"}}`, // DashScope
		`{"error":{"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`,          // Gemini
		`{"error":{"message":"The model gpt-9 does not exist or you do not have access to it."}}`,
		`{"message":"Invalid model: x","type":"invalid_model"}`,                                                             // Mistral
		`{"error":{"message":"The response was filtered","code":"content_filter"}}`,                                         // Azure
		`{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy."}}`,        // OpenAI
		`{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}`,             // DashScope
		`{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, // Gemini
	} {
		modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
			srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer {
				return modeltest.Answer{modeltest.Status{Code: 400, Body: body}}
			})
			ask := model.Request{Messages: []model.Message{{Role: model.User, Content: "a", Images: []model.Image{png}}, {Role: model.User, Content: "b"}}}
			if r := modeltest.Collect(t.Context(), p.Connect(t, srv.URL), ask); r.Err == nil || len(srv.Requests()) != 1 {
				t.Errorf("%s: %v after %d requests", body, r.Err, len(srv.Requests()))
			}
		})
	}
}

// TestRefusedForGood: if no change helps, the first error is returned, after five requests at most.
func TestRefusedForGood(t *testing.T) {
	for _, codes := range [][]int{{400}, {422}, {413, 400}, {413}, {500}, {404}} {
		modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
			n := 0
			srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer {
				n++
				return modeltest.Answer{modeltest.Status{Code: codes[min(n, len(codes))-1], Body: fmt.Sprintf(`{"error":{"message":"no %d"}}`, n)}}
			})
			ask := model.Request{Messages: []model.Message{{Role: model.User, Content: "a", Images: []model.Image{png}}, {Role: model.User, Content: "b"}}}
			r := modeltest.Collect(t.Context(), p.Connect(t, srv.URL), ask)
			if r.Err == nil || len(srv.Requests()) > 5 || len(codes) == 1 && codes[0] != 413 && !strings.Contains(r.Err.Error(), "no 1") {
				t.Errorf("%v: %v after %d requests", codes, r.Err, len(srv.Requests()))
			}
		})
	}
}
