package completions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model"
)

// TestCalls: the ways in which servers split tool calls.
func TestCalls(t *testing.T) {
	type calls = []model.ToolCall
	tc := func(members string) string { return delta(`"tool_calls":[` + members + `]`) }
	for _, tt := range []struct {
		name   string
		events []string
		want   calls // an empty ID matches any generated one
	}{
		{"split arguments", []string{
			tc(`{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":""}}`),
			tc(`{"index":0,"function":{"arguments":"{\"k\":"}}`),
			tc(`{"index":0,"function":{"arguments":" 1}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{"k": 1}`}}},
		{"several, interleaved", []string{
			tc(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}},{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}`),
			tc(`{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":":1}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{"k":1}`}, {ID: "b", Name: "y", Arguments: `{}`}}},
		{"index as a string, id null, name null", []string{
			tc(`{"index":"0","id":"a","function":{"name":"x","arguments":null}}`),
			tc(`{"index":"0","id":null,"function":{"name":null,"arguments":"{}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{}`}}},
		{"no index", []string{
			tc(`{"id":"a","function":{"name":"x","arguments":"{\"k\""}}`),
			tc(`{"function":{"arguments":":1}"}}`),
			tc(`{"id":"b","function":{"name":"x","arguments":"{}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{"k":1}`}, {ID: "b", Name: "x", Arguments: `{}`}}},
		{"no index, id in every piece", []string{
			tc(`{"id":"a","function":{"name":"x","arguments":"{"}}`),
			tc(`{"id":"b","function":{"name":"y","arguments":"{"}}`),
			tc(`{"id":"a","function":{"arguments":"}"}}`),
			tc(`{"id":"b","function":{"arguments":"}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{}`}, {ID: "b", Name: "y", Arguments: `{}`}}},
		{"neither index nor id", []string{
			tc(`{"function":{"name":"x","arguments":"{\"k\":"}}`),
			tc(`{"function":{"name":"x","arguments":"1}"}}`),
			tc(`{"function":{"name":"x","arguments":"{}"}}`),
			tc(`{"function":{"name":"y","arguments":"{}"}}`),
		}, calls{{Name: "x", Arguments: `{"k":1}`}, {Name: "x", Arguments: `{}`}, {Name: "y", Arguments: `{}`}}},
		{"the same index for all", []string{
			tc(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`),
			tc(`{"index":0,"id":"b","function":{"name":"x","arguments":"{}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{}`}, {ID: "b", Name: "x", Arguments: `{}`}}},
		{"the same id for all", []string{
			tc(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`),
			tc(`{"index":1,"id":"a","function":{"name":"y","arguments":"{}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{}`}, {Name: "y", Arguments: `{}`}}},
		{"another id in each piece", []string{
			tc(`{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}`),
			tc(`{"index":0,"id":"b","function":{"arguments":"}"}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{}`}}},
		{"name in pieces, name repeated", []string{
			tc(`{"index":0,"id":"a","function":{"name":"read_"}}`),
			tc(`{"index":0,"function":{"name":"file","arguments":"{"}}`),
			tc(`{"index":1,"id":"b","function":{"name":"x","arguments":"{"}}`),
			tc(`{"index":1,"function":{"name":"x","arguments":"}"}}`),
			tc(`{"index":0,"function":{"arguments":"}"}}`),
		}, calls{{ID: "a", Name: "read_file", Arguments: `{}`}, {ID: "b", Name: "x", Arguments: `{}`}}},
		{"arguments as an object", []string{
			tc(`{"index":0,"id":"a","function":{"name":"x","arguments":{"k": [1, 2]}}}`),
		}, calls{{ID: "a", Name: "x", Arguments: `{"k":[1,2]}`}}},
		{"no arguments", []string{tc(`{"index":0,"id":"a","function":{"name":"x"}}`)}, calls{{ID: "a", Name: "x", Arguments: `{}`}}},
		{"arguments that are not JSON stay", []string{tc(`{"index":0,"id":"a","function":{"name":"x","arguments":"{oops"}}`)}, calls{{ID: "a", Name: "x", Arguments: `{oops`}}},
		{"one call instead of a list", []string{delta(`"tool_calls":{"id":"a","function":{"name":"x","arguments":"{}"}}`)}, calls{{ID: "a", Name: "x", Arguments: `{}`}}},
		{"none", []string{delta(`"content":"hi","tool_calls":null`), delta(`"tool_calls":[]`)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := stream(t, tt.events...)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			got := r.Done.Message.ToolCalls
			if d := cmp.Diff(got, r.Ready); d != "" {
				t.Errorf("ready: %s", d)
			}
			for i, c := range got {
				if r.Args[c.ID] != c.Arguments && c.Arguments != "{}" {
					t.Errorf("deltas of %s = %q, want %q", c.ID, r.Args[c.ID], c.Arguments)
				}
				if i < len(tt.want) && tt.want[i].ID == "" && strings.HasPrefix(c.ID, "call_") {
					got[i].ID = ""
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if len(got) > 0 && r.Done.Finish != model.FinishToolCalls {
				t.Errorf("finish = %q", r.Done.Finish)
			}
		})
	}
}

// TestCallGoesOn: a call that was emitted as ready must not change.
func TestCallGoesOn(t *testing.T) {
	r := stream(t,
		delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]`),
		delta(`"tool_calls":[{"index":1,"id":"b","function":{"name":"x","arguments":"{}"}}]`),
		delta(`"tool_calls":[{"index":0,"function":{"arguments":" \n"}}]`),
		delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"k\":1}"}}]`),
	)
	if r.Err == nil || !strings.Contains(r.Err.Error(), "continues a tool call that was complete") || len(r.Ready) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestStoppedCalls: no call of an answer that hit the token limit or the content filter is ready, unless it was
// complete before.
func TestStoppedCalls(t *testing.T) {
	for finish, want := range map[string]string{"length": "length", "MAX_TOKENS": "length", "content_filter": "content_filter"} {
		r := stream(t,
			delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":\"ab"}}]`),
			`{"choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`)
		if r.Err != nil || len(r.Ready) != 0 || r.Done.Finish != want || len(r.Done.Message.ToolCalls) != 1 {
			t.Errorf("%s: %+v", finish, r)
		}
	}
}

// TestReasoningShownAndSentBack checks the shown reasoning and the reasoning sent back.
func TestReasoningShownAndSentBack(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []string
		shown  string
		field  string // in Extra
		back   string
	}{
		{"reasoning_content", []string{delta(`"reasoning_content":"I "`), delta(`"reasoning_content":"think"`)}, "I think", "reasoning_content", `"I think"`},
		{"any name, any case", []string{delta(`"my_Thinking_text":"a"`), delta(`"my_Thinking_text":"b"`)}, "ab", "my_Thinking_text", `"ab"`},
		{"the same piece again is text", []string{delta(`"reasoning":"ha"`), delta(`"reasoning":"ha"`)}, "haha", "reasoning", `"haha"`},
		{"null, empty", []string{delta(`"reasoning":null`), delta(`"reasoning":""`), delta(`"content":"x"`)}, "", "reasoning", ""},
		{"none", []string{delta(`"reasoning":"None"`)}, "", "reasoning", `"None"`},
		{"null as text", []string{delta(`"reasoning":"nu"`), delta(`"reasoning":"ll"`)}, "null", "reasoning", `"null"`},
		{"n/a, [] and {}", []string{delta(`"reasoning":" N/A "`), delta(`"thought":"[]"`), delta(`"thinking":"{}"`)}, "", "thought", `"[]"`},
		{"none of it", []string{delta(`"reasoning":"none"`), delta(`"reasoning":" of it"`)}, "none of it", "reasoning", `"none of it"`},
		{"two fields alike", []string{
			delta(`"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]`),
			delta(`"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]`),
			delta(`"reasoning_details":[{"type":"reasoning.text","signature":"S","index":0}]`),
		}, "ab", "reasoning_details", `[{"index":0,"signature":"S","text":"ab","type":"reasoning.text"}]`},
		{"alike but later", []string{delta(`"thinking":"abc"`), delta(`"reasoning":"ab"`), delta(`"reasoning":"cd"`), delta(`"thinking":"d"`)}, "abcd", "thinking", `"abcd"`},
		{"alike by chance", []string{delta(`"thinking":"The end"`), delta(`"reasoning":"The"`), delta(`"reasoning":" cat"`)}, "The endThe cat", "reasoning", `"The cat"`},
		{"nested", []string{delta(`"reasoning_details":[{"type":"x","content":[{"text":"a"},{"text":"b"}]}]`)}, "ab", "reasoning_details", `[{"type":"x","content":[{"text":"a"},{"text":"b"}]}]`},
		{"summary twice", []string{delta(`"reasoning":{"summary":"a","text":"a"}`)}, "a", "reasoning", `{"summary":"a","text":"a"}`},
		{"JSON in a string", []string{delta(`"reasoning":"{\"text\":\"a\",\"id\":7}"`)}, "a", "reasoning", `"{\"text\":\"a\",\"id\":7}"`},
		{"no raw JSON", []string{delta(`"reasoning":{"id":7,"x":{"y":"z"}}`), delta(`"thought":"[1,2]"`)}, "", "thought", `"[1,2]"`},
		{"encrypted", []string{delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"QQ=="}]`), delta(`"thought_signature":"QQ=="`), delta(`"reasoning_tokens":7`)}, "", "thought_signature", `"QQ=="`},
		{"blocks stay apart", []string{
			delta(`"thinking_blocks":[{"type":"thinking","thinking":"a","signature":""}]`),
			delta(`"thinking_blocks":[{"type":"thinking","thinking":"b","signature":"S1"}]`),
			delta(`"thinking_blocks":[{"type":"thinking","thinking":"c","signature":"S2"}]`),
			delta(`"thinking_blocks":[{"type":"redacted_thinking","data":"x"}]`),
		}, "abc", "thinking_blocks", `[{"signature":"S1","thinking":"ab","type":"thinking"},{"signature":"S2","thinking":"c","type":"thinking"},{"data":"x","type":"redacted_thinking"}]`},
		{"whole message at the end", []string{
			delta(`"reasoning":"ab"`), delta(`"content":"x"`),
			`{"choices":[{"index":0,"message":{"role":"assistant","reasoning":"ab","content":"x","refusal":null},"finish_reason":"stop"}]}`,
		}, "ab", "reasoning", `"ab"`},
		{"thinking parts", []string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"x"}]`)}, "a", "reasoning", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := stream(t, tt.events...)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if r.Reasoning != tt.shown {
				t.Errorf("shown %q, want %q", r.Reasoning, tt.shown)
			}
			if got := string(r.Done.Message.Extra[tt.field]); got != tt.back {
				t.Errorf("%s = %s, want %s", tt.field, got, tt.back)
			}
		})
	}
}

// TestPartsAndRefusals joins the text of parts, and treats a refusal as text.
func TestPartsAndRefusals(t *testing.T) {
	for _, tt := range []struct{ name, members, want string }{
		{"string", `"content":"a<b>\u00e9"`, "a<b>é"},
		{"parts", `"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "ab"},
		{"strings", `"content":["a","b"]`, "ab"},
		{"one part", `"content":{"type":"text","text":"a"}`, "a"},
		{"value", `"content":[{"type":"text","text":{"value":"a","annotations":[]}}]`, "a"},
		{"nested content", `"content":[{"type":"output","content":"a"}]`, "a"},
		{"other parts", `"content":[{"type":"image_url","image_url":{"url":"x"}},7,null,{"text":"a"}]`, "a"},
		{"null", `"content":null`, ""},
		{"refusal", `"content":null,"refusal":"I will not"`, "I will not"},
		{"invalid text", `"content":"a\ud800b"`, "a\ufffdb"},
	} {
		r := stream(t, delta(tt.members))
		if r.Err != nil || r.Text != tt.want || r.Done.Message.Content != tt.want {
			t.Errorf("%s: %+v, want %q", tt.name, r, tt.want)
		}
	}
}

// TestTokenCounts reads token counts under their various names.
func TestTokenCounts(t *testing.T) {
	for _, tt := range []struct {
		usage string
		want  *model.Usage
	}{
		{`null`, nil},
		{`{}`, nil},
		{`{"total_tokens":"many"}`, nil},
		{`{"prompt_tokens":7,"completion_tokens":3}`, &model.Usage{Prompt: 7, Completion: 3}},
		{`{"input_tokens":"7","output_tokens":"3.0"}`, &model.Usage{Prompt: 7, Completion: 3}},
		{`{"prompt_tokens":7,"completion_tokens":null,"prompt_tokens_details":{"cached_tokens":"5"}}`, &model.Usage{Prompt: 7, Cached: 5}},
		{`{"input_tokens":7,"output_tokens":1,"input_tokens_details":{"cached_tokens":5}}`, &model.Usage{Prompt: 7, Completion: 1, Cached: 5}},
		{`{"prompt_tokens":7,"completion_tokens":1,"prompt_cache_hit_tokens":4,"prompt_tokens_details":null}`, &model.Usage{Prompt: 7, Completion: 1, Cached: 4}},
		{`{"prompt_tokens":9,"completion_tokens":1,"cache_read_input_tokens":"4","cache_creation_input_tokens":"3"}`, &model.Usage{Prompt: 9, Completion: 1, Cached: 4, CacheWrite: 3}},
		{`{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":3}}`, &model.Usage{Prompt: 9, Completion: 1, CacheWrite: 3}},
		{`{"prompt_tokens":9,"completion_tokens":1,"cost":0.0123,"cost_details":{"upstream_inference_cost":0.01}}`, &model.Usage{Prompt: 9, Completion: 1, Cost: 12_300}},
		{`{"prompt_tokens":9,"completion_tokens":1,"cost":"1e-6"}`, &model.Usage{Prompt: 9, Completion: 1, Cost: 1}},
		{`{"prompt_tokens":9,"completion_tokens":1,"cost":0}`, &model.Usage{Prompt: 9, Completion: 1}},
		{`{"prompt_tokens":9,"completion_tokens":1,"cost":-3}`, &model.Usage{Prompt: 9, Completion: 1}},
		{`{"prompt_tokens":9,"completion_tokens":1,"cost":{"total":3}}`, &model.Usage{Prompt: 9, Completion: 1}},
		{`{"prompt_tokens":-7,"completion_tokens":1e300}`, nil},
	} {
		r := stream(t, delta(`"content":"x"`), `{"choices":[],"usage":`+tt.usage+`}`)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if u := r.Done.Usage; u != nil && u.CacheUnknown == strings.Contains(tt.usage, "cache") {
			t.Errorf("%s: CacheUnknown is %v", tt.usage, u.CacheUnknown)
		} else if u != nil {
			u.CacheUnknown = false
		}
		if d := cmp.Diff(tt.want, r.Done.Usage); d != "" {
			t.Errorf("%s: %s", tt.usage, d)
		}
	}
}

// TestFields: unknown members are joined, empty ones are dropped.
func TestFields(t *testing.T) {
	r := stream(t,
		delta(`"id":"m1","audio":{"id":"a","transcript":"x"},"empty":[],"annotations":[{"n":1}],"n":1,"role":"assistant","content":"x"`),
		delta(`"id":"m1","audio":{"id":"a","transcript":"y"},"empty":null,"annotations":[{"n":2}],"n":2,"name":""`),
		delta(`"id":"m1","audio":"odd"`),
	)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	got := make(map[string]string)
	for k, v := range r.Done.Message.Extra {
		got[k] = string(v)
	}
	delete(got, noteKey)
	want := map[string]string{"id": `"m1"`, "audio": `"odd"`, "annotations": `[{"n":1},{"n":2}]`, "n": "2"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestOtherChoices: one answer is requested and read.
func TestOtherChoices(t *testing.T) {
	r := stream(t, `{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}`)
	if r.Text != "yes" || r.Err != nil {
		t.Errorf("%+v", r)
	}
}
