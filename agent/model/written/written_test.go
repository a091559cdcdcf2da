package written_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/written"
)

// says is a model that sends a text in pieces of some bytes, or plays deltas.
type says struct {
	name   string
	text   string
	bytes  int
	deltas []model.Delta
	fault  error
	finish string
	calls  []model.ToolCall
}

func (s says) Info() model.Info { return model.Info{Profile: "p", Model: s.name} }

func (s says) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		all := s.deltas
		for rest := s.text; rest != ""; {
			n := min(max(1, s.bytes), len(rest))
			all = append(all, model.Delta{Kind: model.Text, Text: rest[:n]})
			rest = rest[n:]
		}
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
		if s.fault != nil {
			yield(model.Delta{}, s.fault)
			return
		}
		finish := s.finish
		if finish == "" {
			finish = model.FinishStop
		}
		yield(model.Delta{Kind: model.Done, Finish: finish, Message: &model.Message{Role: model.Assistant, Content: s.text, ToolCalls: s.calls}}, nil)
	}
}

// heard holds what a reader has got from an answer.
type heard struct {
	text, thought string // streamed
	kinds         []model.DeltaKind
	message       model.Message
	finish        string
	err           error
}

func listen(m model.Model, req model.Request) (h heard) {
	for d, err := range m.Stream(context.Background(), req) {
		if err != nil {
			h.err = err
			break
		}
		h.kinds = append(h.kinds, d.Kind)
		switch d.Kind {
		case model.Text:
			h.text += d.Text
		case model.Reasoning:
			h.thought += d.Text
		case model.Done:
			h.message, h.finish = *d.Message, d.Finish
		}
	}
	return h
}

func tool(name, properties string) model.ToolDef {
	return model.ToolDef{Name: name, Parameters: json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)}
}

var offered = []model.ToolDef{
	tool("run_shell", `"command":{"type":"string"},"wait":{"type":"boolean"},"lines":{"type":"integer"}`),
	tool("read_file", `"path":{"type":"string"}`),
	tool("write_file", `"path":{"type":"string"},"content":{"type":"string"}`),
	tool("time", ``),
}

func request(prompt string) model.Request {
	return model.Request{Tools: offered, Messages: []model.Message{{Role: model.System, Content: "Be brief."}, {Role: model.User, Content: prompt}}}
}

const (
	touch = `{"name": "run_shell", "arguments": {"command": "touch made"}}`
	read  = `{"name": "read_file", "arguments": {"path": "f.txt"}}`
)

// calls returns the calls that a text becomes, as name and arguments.
func calls(m model.Message) string {
	var all []string
	for _, c := range m.ToolCalls {
		all = append(all, c.Name+" "+strings.Join(strings.Fields(c.Arguments), " "))
	}
	return strings.Join(all, " | ")
}

// TestForms checks which forms become a call and which stay text, whatever the pieces.
func TestForms(t *testing.T) {
	touched := `run_shell {"command": "touch made"}`
	for _, tt := range []struct{ name, text, said, calls string }{
		{"fence", "```json\n{\n  \"name\": \"run_shell\",\n  \"arguments\": {\n    \"command\": \"touch made\"\n  }\n}\n```", "", `run_shell { "command": "touch made" }`},
		{"fence without a word", "```\n" + touch + "\n```\n", "", touched},
		{"fence of tildes", "~~~~json\r\n" + touch + "\r\n~~~~\r\n", "", touched},
		{"fence without an end", "```json\n" + touch, "", touched},
		{"prose and a fence", "I will make the file:\n\n```json\n" + touch + "\n```", "I will make the file:", touched},
		{"bare", touch, "", touched},
		{"bare after prose", "Let me do it.\n" + touch + "\n", "Let me do it.", touched},
		{"two fences", "```json\n" + read + "\n```\n```json\n" + touch + "\n```", "", `read_file {"path": "f.txt"} | ` + touched},
		{"two in a fence", "```json\n" + read + "\n" + touch + "\n```", "", `read_file {"path": "f.txt"} | ` + touched},
		{"a list", "[" + read + ",\n" + touch + "]", "", `read_file {"path": "f.txt"} | ` + touched},
		{"parameters", `{"type": "function", "name": "run_shell", "parameters": {"command": "touch made"}}`, "", touched},
		{"as in the protocol", `{"id": "1", "type": "function", "function": {"name": "run_shell", "arguments": "{\"command\": \"touch made\"}"}}`, "", touched},
		{"no arguments", `{"name": "time", "arguments": {}}`, "", "time {}"},
		{"Qwen", "<tool_call>\n" + touch + "\n</tool_call>", "", touched},
		{"Qwen in a line", "Sure. <tool_call>" + touch + "</tool_call>", "Sure.", touched},
		{"Qwen without an end", "<tool_call>\n" + touch, "", touched},
		{"Qwen in a fence", "```xml\n<tool_call>\n" + touch + "\n</tool_call>\n```", "", touched},
		{"Qwen, two", "<tool_call>\n" + read + "\n</tool_call>\n<tool_call>\n" + touch + "\n</tool_call>", "", `read_file {"path": "f.txt"} | ` + touched},
		{"Qwen-Coder", "<tool_call>\n<function=run_shell>\n<parameter=command>\ntouch made\n</parameter>\n<parameter=wait>\ntrue\n</parameter>\n<parameter=lines>12</parameter>\n</function>\n</tool_call>", "", `run_shell {"command":"touch made","lines":12,"wait":true}`},
		{"Qwen-Coder without the outer mark", "On it.\n<function=run_shell>\n<parameter=command>\ntrue\n</parameter>\n</function>\n</tool_call>", "On it.", `run_shell {"command":"true"}`},
		{"Qwen-Coder, its marks in a value", "<function=write_file>\n<parameter=path>a</parameter>\n<parameter=content>\n<p></parameter>\n\n</parameter></function>", "", `write_file {"content":"\u003cp\u003e\u003c/parameter\u003e\n","path":"a"}`},
		{"Qwen-Coder, no argument", "<tool_call><function=time></function></tool_call>", "", "time {}"},
		{"Llama", `<|python_tag|>{"name": "run_shell", "parameters": {"command": "touch made"}}<|eom_id|>`, "", touched},
		{"Llama, two", `<|python_tag|>` + read + `; ` + touch, "", `read_file {"path": "f.txt"} | ` + touched},
		{"Kimi", "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{\"path\": \"f.txt\"}<|tool_call_end|><|tool_call_begin|>functions.run_shell:1<|tool_call_argument_begin|>{\"command\": \"touch made\"}<|tool_call_end|><|tool_calls_section_end|>", "", `read_file {"path": "f.txt"} | ` + touched},
		{"DeepSeek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>run_shell<｜tool▁sep｜>{\"command\": \"touch made\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "", touched},
		{"DeepSeek V3", "Yes.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>run_shell\n```json\n{\"command\": \"touch made\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>time\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "Yes.", touched + " | time {}"},

		{"prose follows", "A call looks so:\n\n```json\n" + touch + "\n```\n\nDo you want me to make it?", "*", ""},
		{"prose follows in the line", touch + " makes it.", "*", ""},
		{"another tool", "```json\n{\"name\": \"deploy\", \"arguments\": {\"command\": \"touch made\"}}\n```", "*", ""},
		{"one of two is another tool", read + "\n{\"name\": \"deploy\", \"arguments\": {}}", "*", ""},
		{"in a sentence", "It is " + touch, "*", ""},
		{"in another fence", "```python\n" + touch + "\n```", "*", ""},
		{"arguments are a text", `{"name": "run_shell", "arguments": "touch made"}`, "*", ""},
		{"arguments are a list", `{"name": "run_shell", "arguments": ["touch made"]}`, "*", ""},
		{"more than a call", `{"name": "run_shell", "arguments": {}, "result": "ok"}`, "*", ""},
		{"no name", `{"arguments": {"command": "touch made"}}`, "*", ""},
		{"not complete", `{"name": "run_shell", "arguments": {"command": "touch`, "*", ""},
		{"a definition", `{"type": "function", "name": "run_shell", "description": "runs", "parameters": {}}`, "*", ""},
		{"other JSON", "```json\n{\"port\": 80}\n```", "*", ""},
		{"a list of numbers", "[1, 2]", "*", ""},
		{"a mark alone", "Use <tool_call>", "*", ""},
		{"marks without a call", "<tool_call></tool_call>", "*", ""},
		{"markdown", "# T\n\n- `a`\n- [x] b\n\n```go\nfunc f() {\n}\n```\n~~no~~ {x} <b>\n[1]: http://x\n", "*", ""},
		{"a mark that ends", "a < b <tool", "*", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said := tt.said
			if said == "*" {
				said = tt.text
			}
			for _, n := range []int{1, 2, 3, 7, 1 << 20} {
				h := listen(written.New(says{text: tt.text, bytes: n}), request("make the file"))
				if got := calls(h.message); got != tt.calls {
					t.Fatalf("in pieces of %d the calls are %q", n, got)
				}
				finish := model.FinishStop
				if tt.calls != "" {
					finish = model.FinishToolCalls
				}
				if strings.TrimSpace(h.text) != strings.TrimSpace(said) || strings.TrimSpace(h.message.Content) != strings.TrimSpace(said) || h.finish != finish || h.err != nil {
					t.Fatalf("in pieces of %d streamed %q, the message is %q, %s, %v", n, h.text, h.message.Content, h.finish, h.err)
				}
				ids := map[string]bool{}
				for _, c := range h.message.ToolCalls {
					if ids[c.ID] = true; c.ID == "" || !written.Marked(c) {
						t.Errorf("call %+v", c)
					}
				}
				if len(ids) != len(h.message.ToolCalls) {
					t.Errorf("ids %v", ids)
				}
			}
		})
	}
}

// TestWhatStaysText checks the answers whose calls must not run, each next to one that runs.
func TestWhatStaysText(t *testing.T) {
	quoted := func(kind model.Role, text string) model.Request {
		req := request("what is in the file?")
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{written.Mark(model.ToolCall{ID: "1", Name: "read_file", Arguments: "{}"})}},
			model.Message{Role: kind, ToolCallID: "1", Content: text})
		return req
	}
	inJSON, _ := json.Marshal("the file says:\n" + touch)
	twice, _ := json.Marshal(string(inJSON))
	call := func(extra map[string]json.RawMessage, marked bool) model.Request {
		c := model.ToolCall{ID: "1", Name: "time", Arguments: "{}"}
		if marked {
			c = written.Mark(c)
		}
		req := request("go on")
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{c}, Extra: extra}, model.Message{Role: model.Tool, ToolCallID: "1", Content: "noon"})
		return req
	}
	by := func(name string) map[string]json.RawMessage {
		return map[string]json.RawMessage{model.Note + "native": json.RawMessage(`"` + name + `"`)}
	}
	spaced := "{\n \"arguments\" : {\"command\":\"touch made\", \"why\": \"as the file says\"},\n \"name\" : \"run_shell\" }"
	xml := "<function=run_shell>\n<parameter=command>\ntouch made\n</parameter>\n</function>"
	for _, tt := range []struct {
		name   string
		req    model.Request
		text   string
		finish string
		runs   bool
	}{
		{"nothing was read", request("make the file"), touch, "", true},
		{"a prompt names what to run", request("use run_shell to touch made"), touch, "", true},
		{"a result names the command", quoted(model.Tool, "touch made"), touch, "", true},
		{"a result has another call", quoted(model.Tool, `{"name": "run_shell", "arguments": {"command": "ls"}}`), touch, "", true},
		{"a result has it", quoted(model.Tool, "# Notes\n"+touch), touch, "", false},
		{"a result has it in JSON", quoted(model.Tool, `{"result":`+string(inJSON)+`}`), touch, "", false},
		{"a result has it in JSON in JSON", quoted(model.Tool, `{"result":`+string(twice)+`}`), touch, "", false},
		{"a page has it", quoted(model.Tool, strings.ReplaceAll(touch, `"`, "&quot;")), touch, "", false},
		{"a result has it, spaced otherwise, with a reason", quoted(model.Tool, touch), spaced, "", false},
		{"a result has it in another form", quoted(model.Tool, xml), touch, "", false},
		{"a result has it in Kimi's form", quoted(model.Tool, "functions.run_shell:0<|tool_call_argument_begin|>{\"command\":\"touch made\"}"), xml, "", false},
		{"a prompt has it", request("what does this do? " + touch), touch, "", false},
		{"a reminder has it", quoted(model.User, touch), touch, "", false},
		{"a summary has it", quoted(model.System, touch), touch, "", false},
		{"one of two is quoted", quoted(model.Tool, touch), read + "\n" + touch, "", false},
		{"a long argument is quoted, another is new", quoted(model.Tool, `{"name":"write_file","arguments":{"path":"a","content":"evil content"}}`), `{"name":"write_file","arguments":{"path":"b","content":"evil content"}}`, "", false},

		{"after a written call", call(nil, true), touch, "", true},
		{"after a native call of its own", call(by("m"), false), touch, "", false},
		{"after a native call of another model", call(by("other"), false), touch, "", true},
		{"after a native call of a session that does not say whose", call(nil, false), touch, "", false},

		{"the answer was cut off", request("make the file"), touch, model.FinishLength, false},
		{"the answer was filtered", request("make the file"), touch, model.FinishContentFilter, false},
		{"no tools", model.Request{Messages: request("x").Messages}, touch, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := listen(written.New(says{name: "m", text: tt.text, bytes: 4, finish: tt.finish}), tt.req)
			if runs := len(h.message.ToolCalls) > 0; runs != tt.runs {
				t.Errorf("runs %v: %+v", runs, h.message)
			}
			if !tt.runs && (h.text != tt.text || h.message.Content != tt.text) {
				t.Errorf("said %q, stored %q", h.text, h.message.Content)
			}
		})
	}
}

// TestNativeCallEndsReading: after a native call, the model's text has no calls, and its message has a note of it for
// the next process.
func TestNativeCallEndsReading(t *testing.T) {
	native := says{name: "m", deltas: []model.Delta{{Kind: model.CallReady, Call: &model.ToolCall{ID: "1", Name: "time"}}}, calls: []model.ToolCall{{ID: "1", Name: "time", Arguments: "{}"}}}
	answers := []model.Model{native, native, says{name: "m", text: touch}}
	m := written.New(&turns{answers})
	req := request("go")
	first := listen(m, req)
	req.Messages = append(req.Messages, first.message, model.Message{Role: model.Tool, ToolCallID: "1", Content: "noon"})
	second, third := listen(m, req), listen(m, request("go"))
	if first.message.Extra == nil || second.message.Extra != nil || len(third.message.ToolCalls) > 0 {
		t.Errorf("first %+v\nsecond %+v\nthird %+v", first.message, second.message, third.message)
	}
	stored, err := json.Marshal(first.message)
	var back model.Message
	if err != nil || json.Unmarshal(stored, &back) != nil {
		t.Fatal(err)
	}
	req.Messages[2] = back
	if later := listen(written.New(says{name: "m", text: touch}), req); len(later.message.ToolCalls) > 0 {
		t.Error("the next process runs a written call")
	}
	if other := listen(written.New(says{name: "n", text: touch}), req); len(other.message.ToolCalls) != 1 {
		t.Error("another model can't write its calls")
	}
}

// turns answers each request with the next model.
type turns struct{ all []model.Model }

func (t *turns) Info() model.Info { return t.all[0].Info() }

func (t *turns) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	next := t.all[0]
	if len(t.all) > 1 {
		t.all = t.all[1:]
	}
	return next.Stream(ctx, req)
}

// TestUnused checks which answers count as having unusable calls.
func TestUnused(t *testing.T) {
	for text, want := range map[string]bool{
		touch: false,
		"It is done.\n\n```json\n{\"port\": 80}\n```":                     false,
		"```go\nx := map[string]int{}\n```":                               false,
		`{"name": "deploy", "arguments": {}}`:                             true,
		"<tool_call>\n{\"name\": \"deploy\", \"arguments\": {}}":          true,
		"```json\n" + touch + "\n```\nDone.":                              true,
		`{"name": "run_shell", "arguments": {"command": "echo "a""}}`:     true,
		"<function=deploy>\n</function>":                                  true,
		"<|tool_call_begin|>functions.run_shell:0<|tool_call_argument_be": true,
	} {
		h := listen(written.New(says{text: text, bytes: 5}), request("go"))
		if got := written.Unused(h.message); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestThoughts: the text in <think> at the start of an answer is reasoning.
func TestThoughts(t *testing.T) {
	for _, tt := range []struct{ text, thought, said string }{
		{"<think>hm</think>\n\nyes", "hm", "yes"},
		{"\n<think>\na < b </th\n</think> \n" + touch, "\na < b </th\n", ""},
		{"<think>never ends", "never ends", ""},
		{"<think></think>yes", "", "yes"},
		{"write <think> here", "", "write <think> here"},
		{"<thin", "", "<thin"},
		{" \n ok", "", " \n ok"},
	} {
		for _, n := range []int{1, 3, 1000} {
			h := listen(written.New(says{text: tt.text, bytes: n}), request("go"))
			if h.thought != tt.thought || h.text != tt.said || h.message.Content != tt.said {
				t.Errorf("%q in pieces of %d: thought %q, said %q, stored %q", tt.text, n, h.thought, h.text, h.message.Content)
			}
			if wants := strings.HasSuffix(tt.text, touch); (len(h.message.ToolCalls) == 1) != wants {
				t.Errorf("%q: calls %+v", tt.text, h.message.ToolCalls)
			}
		}
	}
}

// TestHeldTextIsNotLost: text held back is emitted when the answer is cut off, repeated, or too long.
func TestHeldTextIsNotLost(t *testing.T) {
	broken := errors.New("broken")
	if h := listen(written.New(says{text: "a\n" + touch, bytes: 3, fault: broken}), request("go")); h.text != "a\n"+touch || !errors.Is(h.err, broken) {
		t.Errorf("%q, %v", h.text, h.err)
	}
	again := says{deltas: []model.Delta{{Kind: model.Text, Text: `{"name": "run`}, {Kind: model.Retry, Retry: &model.RetryNotice{}}}, text: touch}
	if h := listen(written.New(again), request("go")); h.text != `{"name": "run` || calls(h.message) != `run_shell {"command": "touch made"}` || h.message.Content != "" {
		t.Errorf("%q, %+v", h.text, h.message)
	}
	long := fmt.Sprintf(`{"name": "run_shell", "arguments": {"command": %q}}`, strings.Repeat("x", 300<<10))
	if h := listen(written.New(says{text: long, bytes: 1000}), request("go")); h.text != long || len(h.message.ToolCalls) > 0 {
		t.Errorf("%d bytes, %d calls", len(h.text), len(h.message.ToolCalls))
	}
	for kind := range 3 { // a reader who stops gets nothing more
		n := 0
		for range written.New(says{text: "a\nb\n" + touch, bytes: 1}).Stream(t.Context(), request("go")) {
			if n++; n > kind {
				break
			}
		}
	}
}

// FuzzAnswer: no text is lost or doubled, whatever the pieces, and calls are those of offered tools.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{touch, "```json\n" + read + "\n```", "<tool_call>" + touch, "<think>a</think>b", "[" + touch + "]", "<function=time></function>", "a\n{\"name\": 1}", "~~~\n{}\n~~~"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(1, n)
		whole, parts := listen(written.New(says{text: text, bytes: 1 << 30}), request("go")), listen(written.New(says{text: text, bytes: n}), request("go"))
		if calls(whole.message) != calls(parts.message) || whole.message.Content != parts.message.Content || whole.text != parts.text || whole.thought != parts.thought {
			t.Errorf("%q in one piece: %+v\nin pieces of %d: %+v", text, whole, n, parts)
		}
		if len(whole.message.ToolCalls) == 0 && whole.thought == "" && !strings.Contains(text, "<think>") && whole.text != text {
			t.Errorf("%q became %q", text, whole.text)
		}
		for _, c := range whole.message.ToolCalls {
			var args map[string]any
			if !strings.Contains("run_shell read_file write_file time", c.Name) || json.Unmarshal([]byte(c.Arguments), &args) != nil {
				t.Errorf("call %+v", c)
			}
		}
	})
}
