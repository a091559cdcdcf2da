package responses_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/responses"
)

func connect(t *testing.T, url string) model.Model {
	return newModel(t, responses.Config{Profile: "work", BaseURL: url, Access: endpoint.Access{Key: modeltest.Secret, KeySource: "env TEST_KEY"}})
}

// TestFaults plays the faults of all protocols, and this protocol's own.
func TestFaults(t *testing.T) {
	half := func(last ...modeltest.Part) modeltest.Answer {
		return append(modeltest.Answer{modeltest.Text("half")}, last...)
	}
	call := modeltest.Event(`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"x"}}`)
	modeltest.TestFaults(
		t, "/responses", "completions", connect,
		modeltest.Fault{Name: "failed", Answer: half(modeltest.Finish("error")), Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{": the server reported an error in its answer: it failed"}},
		modeltest.Fault{Name: "failed for good", Answer: half(modeltest.ErrorObject(`{"code":"context_length_exceeded","message":"too long"}`)), Kind: model.ContextError, Text: "half", Want: []string{"too long"}},
		modeltest.Fault{Name: "failed without a reason", Answer: half(modeltest.ErrorObject("null")), Kind: model.ReportedError, Retry: true, Text: "half", Want: []string{"did not finish its answer: failed"}},
		modeltest.Fault{Name: "error event", Answer: half(modeltest.Event(`{"type":"error","code":"rate_limit_exceeded","message":"slow"}`)), Kind: model.ReportedError, Retry: true, Overloaded: true, Text: "half", Want: []string{"slow"}},
		modeltest.Fault{Name: "half a call", Answer: half(call, modeltest.End{}), Kind: model.CutError, Retry: true, Text: "half", Want: []string{"cut off"}},
		modeltest.Fault{Name: "only a beginning", Answer: modeltest.Answer{modeltest.Event(`{"type":"response.created","response":{}}`), modeltest.End{}}, Kind: model.CutError, Retry: true, Want: []string{"cut off"}},
		modeltest.Fault{Name: "nothing but an end", Answer: modeltest.Answer{modeltest.Event("[DONE]"), modeltest.End{}}, Kind: model.FormatError, Retry: true, Want: []string{"not a response"}},
		modeltest.Fault{Name: "malformed", Answer: half(modeltest.Raw("data: {\"type\":[}\n\n")), Kind: model.FormatError, Retry: true, Text: "half", Want: []string{"not in the Responses format"}},
		modeltest.Fault{Name: "wrong types", Answer: modeltest.Answer{modeltest.Event(`{"type":"response.completed","response":{"output":7}}`)}, Kind: model.FormatError, Retry: true, Want: []string{"ends with an invalid response"}},
		modeltest.Fault{Name: "another protocol", Answer: modeltest.Answer{modeltest.Raw(`{"choices":[{"message":{"content":"x"}}]}`), modeltest.End{}}, Kind: model.FormatError, Retry: true, Want: []string{"not a response"}},
	)
}

const (
	delta = `{"type":"response.output_text.delta","output_index":0,"item_id":"m","delta":"ab"}`
	added = `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"x","arguments":""}}`
)

// TestLenient: the differences between servers, and the result of each.
func TestLenient(t *testing.T) {
	call := func(id, args string) []model.ToolCall { return []model.ToolCall{{ID: id, Name: "x", Arguments: args}} }
	for _, tt := range []struct {
		name   string
		events []string
		text   string
		calls  []model.ToolCall
		finish string
	}{
		{"completed without output", []string{delta, completed}, "ab", nil, "stop"},
		{"completed goes on", []string{delta, `{"type":"response.completed","response":{"output":[{"type":"message","id":"other","content":[{"type":"output_text","text":"abc"}]}]}}`}, "abc", nil, "stop"},
		{"only completed", []string{`{"type":"response.completed","response":{"output":[{"type":"message","content":"abc"}]}}`}, "abc", nil, "stop"},
		{"done by mark", []string{delta, "[DONE]"}, "ab", nil, "stop"},
		{"response.done", []string{delta, `{"type":"response.done","response":{"status":"completed"}}`}, "ab", nil, "stop"},
		{"length", []string{delta, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`}, "ab", nil, "length"},
		{"filter", []string{delta, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`}, "ab", nil, "content_filter"},
		{"status alone", []string{delta, `{"type":"response.completed","response":{"status":"incomplete","incomplete_details":null}}`}, "ab", nil, "length"},
		{"top-level text", []string{`{"object":"response","status":"completed","output":[],"output_text":"top"}`}, "top", nil, "stop"},
		{"top-level text beside output", []string{`{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"output_text":"a"}`}, "a", nil, "stop"},
		{"error is null, and first", []string{`{"error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`}, "a", nil, "stop"},
		{"refusal", []string{
			`{"type":"response.refusal.delta","output_index":0,"delta":"I can"}`, `{"type":"response.refusal.done","output_index":0,"refusal":"I can't"}`,
			done0(`{"type":"message","content":[{"type":"refusal","refusal":"I can't"}]}`), completed,
		}, "I can't", nil, "stop"},
		{"two messages", []string{delta, done0(`{"type":"message","id":"m","content":[{"type":"output_text","text":"ab"}]}`), strings.ReplaceAll(strings.Replace(delta, "0", "1", 1), `"m"`, `"n"`), completed}, "ab\n\nab", nil, "stop"},
		{"call by deltas", []string{added, `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{}"}`, completed}, "", call("c1", "{}"), "tool_calls"},
		{"ids that change", []string{added, `{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"zz","delta":"{}"}`, done0(`{"type":"function_call","id":"yy","call_id":"c1","name":"x","arguments":"{}"}`), completed}, "", call("c1", "{}"), "tool_calls"},
		{"no call_id", []string{done0(`{"type":"function_call","id":"fc_1","name":"x","arguments":"{}"}`), completed}, "", call("fc_1", "{}"), "tool_calls"},
		{"object arguments", []string{done0(`{"type":"function_call","call_id":"c1","name":"x","arguments":{"a": [1]}}`), completed}, "", call("c1", `{"a":[1]}`), "tool_calls"},
		{"no arguments", []string{added, completed}, "", call("c1", "{}"), "tool_calls"},
		{"call without a name", []string{delta, `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1"}}`, completed}, "ab", nil, "stop"},
		{"call done without an end", []string{done0(`{"type":"function_call","call_id":"c1","name":"x","arguments":"{}"}`), "[DONE]"}, "", call("c1", "{}"), "tool_calls"},
		{"unknown events", []string{`{"type":"ping"}`, `{"type":"response.new.delta","delta":{"a":1}}`, delta, completed}, "ab", nil, "stop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := stream(t, tt.events...)
			if r.Err != nil || r.Done == nil {
				t.Fatal(r.Err)
			}
			if r.Text != tt.text || r.Done.Message.Content != tt.text || r.Done.Finish != tt.finish {
				t.Errorf("%+v %+v", r, r.Done)
			}
			if d := cmp.Diff(tt.calls, r.Done.Message.ToolCalls); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.calls, r.Ready); d != "" {
				t.Errorf("ready: %s", d)
			}
		})
	}
}

func done0(item string) string { return string(done(0, item)) }

// TestFragments: calls of an answer that was cut off are not ready.
func TestFragments(t *testing.T) {
	r := stream(t, added, `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{"}`,
		`{"type":"response.incomplete","response":{"output":[{"type":"function_call","id":"fc_1","call_id":"c1","name":"x","arguments":"{","status":"incomplete"}]}}`)
	if r.Err != nil || len(r.Ready) != 0 || r.Done.Finish != model.FinishLength {
		t.Errorf("%+v", r)
	}
}

// TestCallIDs: one id, one call; a call without any id gets one.
func TestCallIDs(t *testing.T) {
	item := `{"type":"function_call","call_id":"c1","name":"x","arguments":"{}"}`
	r := stream(t, string(done(0, item)), string(done(1, item)), string(done(2, `{"type":"function_call","name":"x","arguments":"{}"}`)), completed)
	ids := make(map[string]bool)
	for _, c := range r.Ready {
		ids[c.ID] = c.ID != ""
	}
	if len(ids) != 3 || !ids["c1"] || ids[""] {
		t.Errorf("%v, %v", ids, r.Err)
	}
}

// TestReasoning: reasoning in deltas and complete, as a summary, in full, or both.
func TestReasoning(t *testing.T) {
	ev := func(kind, rest string) string {
		return `{"type":"response.` + kind + `","output_index":0,` + rest + `}`
	}
	item := done0(`{"type":"reasoning","id":"r","encrypted_content":"E","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}]}`)
	full := []string{
		ev("reasoning_summary_part.added", `"summary_index":0,"part":{"type":"summary_text","text":""}`),
		ev("reasoning_summary_text.delta", `"summary_index":0,"delta":"on"`), ev("reasoning_summary_text.delta", `"summary_index":0,"delta":"e"`),
		ev("reasoning_summary_text.done", `"summary_index":0,"text":"one"`), ev("reasoning_summary_part.done", `"summary_index":0,"part":{"type":"summary_text","text":"one"}`),
		ev("reasoning_summary_text.delta", `"summary_index":1,"delta":"two"`), ev("reasoning_summary_text.done", `"summary_index":1,"text":"two"`),
		item, delta1, completed,
	}
	for name, events := range map[string][]string{
		"all":          full,
		"only deltas":  {full[1], full[2], full[5], delta1, completed},
		"only dones":   {full[3], full[6], delta1, completed},
		"only parts":   {full[4], full[6], delta1, completed},
		"only items":   {item, delta1, completed},
		"also thought": append([]string{full[1], full[2], ev("reasoning_text.delta", `"content_index":0,"delta":"raw"`)}, full[5:]...),
	} {
		r := stream(t, events...)
		if r.Err != nil || r.Reasoning != "one\n\ntwo" || r.Text != "ab" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r := stream(t, ev("reasoning_text.delta", `"delta":"raw"`), ev("reasoning_text.done", `"text":"raw"`), delta1, completed)
	if r.Err != nil || r.Reasoning != "raw" {
		t.Errorf("%+v", r)
	}
}

// TestTextsUnderAnyContentIndex: servers count parts from 0, from 1, with those before them, or not at all; each text
// arrives in deltas and complete up to four times, and is emitted once.
func TestTextsUnderAnyContentIndex(t *testing.T) {
	ev := func(kind string, n int, rest string) string {
		return fmt.Sprintf(`{"type":"response.%s","output_index":0,"item_id":"m","content_index":%d,%s}`, kind, n, rest)
	}
	message := func(texts ...string) string {
		var parts []string
		for _, text := range texts {
			parts = append(parts, `{"type":"output_text","text":"`+text+`"}`)
		}
		return `{"type":"message","id":"m","content":[` + strings.Join(parts, ",") + `]}`
	}
	for _, tt := range []struct {
		name    string
		indexes []int // of the texts "ab", "cd" and so on
	}{
		{"one, counted from 0", []int{0}},
		{"one, counted from 1", []int{1}},
		{"one, after others", []int{7}},
		{"two, counted from 0", []int{0, 1}},
		{"two, counted from 1", []int{1, 2}},
		{"two, with a gap", []int{0, 2}},
		{"two, with a gap before", []int{3, 5}},
		{"three, counted from 1", []int{1, 2, 3}},
		{"three, with gaps", []int{1, 3, 7}},
	} {
		texts := []string{"ab", "cd", "ef"}[:len(tt.indexes)]
		var deltas, dones, parts []string
		for i, n := range tt.indexes {
			deltas = append(deltas, ev("output_text.delta", n, `"delta":"`+texts[i][:1]+`"`), ev("output_text.delta", n, `"delta":"`+texts[i][1:]+`"`))
			dones = append(dones, ev("output_text.done", n, `"text":"`+texts[i]+`"`))
			parts = append(parts, ev("content_part.done", n, `"part":{"type":"output_text","text":"`+texts[i]+`"}`))
		}
		whole := message(texts...)
		item, last := done0(whole), `{"type":"response.completed","response":{"output":[`+whole+`]}}`
		for name, events := range map[string][]string{
			"all":         slices.Concat(deltas, dones, parts, []string{item, last}),
			"no dones":    slices.Concat(deltas, []string{item, last}),
			"no item":     slices.Concat(deltas, []string{last}),
			"no deltas":   slices.Concat(dones, []string{item, last}),
			"only parts":  slices.Concat(parts, []string{item, last}),
			"only deltas": slices.Concat(deltas, []string{completed}),
			"half a text": slices.Concat(deltas[:len(deltas)-1], []string{item, last}),
		} {
			want := strings.Join(texts, "")
			if r := stream(t, events...); r.Err != nil || r.Text != want || r.Done.Message.Content != want {
				t.Errorf("%s, %s: %q and %q, not %q (%v)", tt.name, name, r.Text, r.Done.Message.Content, want, r.Err)
			}
		}
	}
}

var delta1 = strings.Replace(delta, `"output_index":0`, `"output_index":1`, 1)

// TestUsage: counts under other names and as strings.
func TestUsage(t *testing.T) {
	for _, u := range []string{
		`{"input_tokens":"9","output_tokens":"3","input_tokens_details":{"cached_tokens":"2"}}`,
		`{"prompt_tokens":9,"completion_tokens":3.0,"prompt_tokens_details":{"cached_tokens":2}}`,
		`{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":3},"cached_tokens":2}`,
		`{"prompt_tokens":9,"completion_tokens":1,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":2},"cached_tokens":2}`, // not counted in completion_tokens
	} {
		r := stream(t, delta, `{"type":"response.completed","response":{"usage":`+u+`}}`)
		if r.Err != nil || cmp.Diff(&model.Usage{Prompt: 9, Completion: 3, Cached: 2}, r.Done.Usage) != "" {
			t.Errorf("%s: %+v", u, r)
		}
	}
}

// FuzzEvents: for any events, text and calls in the message are those that were emitted, and the message can be stored
// and sent again.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{delta, delta1, added, completed, done0(`{"type":"reasoning","id":"r","encrypted_content":"E","summary":[]}`), `{"output":[{"type":"message","content":"a"}],"output_text":"b"}`} {
		f.Add(s, delta, completed)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		body := ""
		for _, e := range []string{a, b, c} {
			body += "data: " + strings.NewReplacer("\n", " ", "\r", " ").Replace(e) + "\n\n"
		}
		m := newModel(t, responses.Config{BaseURL: "http://x", HTTPClient: canned(body)})
		r := modeltest.Collect(t.Context(), m, question)
		if (r.Err == nil) == (r.Done == nil) {
			t.Fatalf("%v, %v", r.Err, r.Done)
		}
		if r.Done == nil {
			return
		}
		if len(r.Ready) > len(r.Done.Message.ToolCalls) {
			t.Fatalf("%v, %v", r.Ready, r.Done.Message.ToolCalls)
		}
		stored, err := json.Marshal(r.Done.Message)
		if err != nil {
			t.Fatal(err)
		}
		var back model.Message
		if err := json.Unmarshal(stored, &back); err != nil {
			t.Fatal(err)
		}
		again := modeltest.Collect(t.Context(), m, model.Request{Messages: []model.Message{question.Messages[0], back}})
		if (again.Err == nil) != (r.Err == nil) {
			t.Fatal(again.Err)
		}
	})
}
