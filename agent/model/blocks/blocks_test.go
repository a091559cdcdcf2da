package blocks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/blocks"
)

// speaker is a model that returns its answers one after the other, in pieces of three bytes.
type speaker struct {
	answers []string
	fails   error // returned for a request with tools
	unused  bool  // answers to requests with tools have unusable calls in their text
	asked   []model.Request
	cut     int // answers whose reader stopped early
}

func (s *speaker) Info() model.Info {
	return model.Info{Profile: "small", Model: "m", API: "completions", BaseURL: "http://x", Window: 4096}
}

func (s *speaker) Stream(_ context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		s.asked = append(s.asked, req)
		if s.fails != nil && len(req.Tools) > 0 {
			yield(model.Delta{}, s.fails)
			return
		}
		answer := s.answers[0]
		s.answers = s.answers[1:]
		for rest := answer; rest != ""; {
			piece := rest[:min(3, len(rest))]
			rest = rest[len(piece):]
			if !yield(model.Delta{Kind: model.Text, Text: piece}, nil) {
				s.cut++
				return
			}
		}
		m := model.Message{Role: model.Assistant, Content: answer}
		if s.unused && len(req.Tools) > 0 {
			m.Extra = map[string]json.RawMessage{"buddy:unused": json.RawMessage("true")}
		}
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: "stop", Usage: &model.Usage{Prompt: 9}}, nil)
	}
}

var offered = []model.ToolDef{{Name: "run_shell"}, {Name: "write_file"}}

func user(text string) model.Message { return model.Message{Role: model.User, Content: text} }

func reminder(text string) model.Message {
	return model.Message{Role: model.User, Kind: model.Reminder, Content: "<system-reminder>\n" + text + "\n</system-reminder>"}
}

func calls(id, name, args string) model.Message {
	return model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: id, Name: name, Arguments: args}}}
}

func result(id, text string) model.Message {
	return model.Message{Role: model.Tool, ToolCallID: id, Content: text}
}

// ask sends messages and returns the text shown, the end of the answer and all other deltas.
func ask(t *testing.T, m model.Model, msgs ...model.Message) (shown string, done model.Delta, others []model.Delta) {
	t.Helper()
	req := model.Request{Tools: offered, Messages: append([]model.Message{{Role: model.System, Content: blocks.System}}, msgs...)}
	for d, err := range m.Stream(t.Context(), req) {
		switch {
		case err != nil:
			t.Fatal(err)
		case d.Kind == model.Text:
			shown += d.Text
		case d.Kind == model.Done:
			done = d
		default:
			others = append(others, d)
		}
	}
	return shown, done, others
}

// TestCall: the first block is the call, the answer ends there, and the request has no tools.
func TestCall(t *testing.T) {
	s := &speaker{answers: []string{"I look.\n```sh\nls -l | grep '<x>'\n```\nIt printed: nothing."}}
	m := blocks.New(s, "it is small")
	shown, done, others := ask(t, m, user("look"))
	if strings.TrimSpace(shown) != "I look." || done.Message.Content != "I look." || done.Finish != model.FinishToolCalls {
		t.Errorf("shown %q, done %+v", shown, done)
	}
	want := model.ToolCall{Name: "run_shell", Arguments: `{"command":"ls -l | grep '<x>'"}`}
	if c := done.Message.ToolCalls; len(c) != 1 || c[0].Name != want.Name || c[0].Arguments != want.Arguments {
		t.Errorf("the calls are %+v", c)
	}
	if s.cut != 1 || s.asked[0].Tools != nil {
		t.Errorf("cut %d, sent tools %v", s.cut, s.asked[0].Tools)
	}
	if last := others[len(others)-1]; last.Kind != model.CallReady || last.Call.Arguments != want.Arguments {
		t.Errorf("before the end came %+v", last)
	}
	if m.Info().Blocks != "it is small" {
		t.Errorf("info %+v", m.Info())
	}
}

// TestSystemTextIsShort: the start of every request has at most 200 tokens, at three and a half characters each.
func TestSystemTextIsShort(t *testing.T) {
	if n := len(blocks.System); n > 700 {
		t.Errorf("%d characters", n)
	}
}

// TestConversationAsText: calls of any model and their results are text; reminders precede the user's text, and results
// precede both; instruction files are cut short, and neighbouring messages are joined.
func TestConversationAsText(t *testing.T) {
	s := &speaker{answers: []string{"Done."}}
	msgs := []model.Message{
		{Role: model.System, Content: blocks.System + "\n\nBe brief."},
		{Role: model.System, Content: "Summary of what was before."},
		reminder("Commands run on this machine (linux, bash), starting in /w.\n\n" + strings.Repeat("Use tabs. ", 500)), reminder("Files in the folder: a.txt."), user("<system-reminder>Today is Monday.</system-reminder>\n\nchange it"),
		calls("1", "run_shell", `{"command":"cat a.txt","why":"to see it"}`),
		result("1", "x\n[stderr]\ne\n[exit code 1, 0.2 s]\n[no file was changed]"),
		calls("2", "write_file", "{\"path\":\"b c.md\",\"content\":\"```\\nx\\n```\\n\"}"), result("2", "Wrote 12 bytes"),
		calls("3", "read_file", `{"path":"it's.txt"}`), result("3", "y\n"),
		calls("4", "grep", `{"pattern":"x"}`), result("4", "a.txt:1:x"),
		{Role: model.Assistant, Content: "Well."},
		user("and then?"),
	}
	for range blocks.New(s, "x").Stream(t.Context(), model.Request{Tools: offered, Messages: msgs}) {
	}
	got := s.asked[0].Messages
	if sys := got[0]; sys.Role != model.System || sys.Content != blocks.System+"\n\nBe brief.\n\nSummary of what was before." {
		t.Errorf("the system text is\n%s", sys.Content)
	}
	first := got[1].Content
	if !strings.HasPrefix(first, "Use tabs. Use") || len(first) > 1700 {
		t.Errorf("the first message is\n%s", first)
	}
	want := []model.Message{
		user(first[:strings.Index(first, "[cut off]")] + "[cut off]\n\nFiles in the folder: a.txt.\n\nchange it"),
		{Role: model.Assistant, Content: "```sh\ncat a.txt\n```"},
		user("Output (exit code 1):\n```\nx\n[stderr]\ne\n[no file was changed]\n```"),
		{Role: model.Assistant, Content: "b c.md\n````\n```\nx\n```\n````"},
		user("Output:\n```\nWrote 12 bytes\n```"),
		{Role: model.Assistant, Content: "```sh\ncat 'it'\\''s.txt'\n```"},
		user("Output:\n```\ny\n```"),
		{Role: model.Assistant, Content: `(grep {"pattern":"x"})`},
		user("Output:\n```\na.txt:1:x\n```"),
		{Role: model.Assistant, Content: "Well."},
		user("and then?"),
	}
	for i, w := range want {
		if i+1 >= len(got) || got[i+1].Role != w.Role || got[i+1].Content != w.Content {
			t.Fatalf("message %d is\n%+v, want\n%+v", i+1, got[i+1:], w)
		}
	}
	if len(got) != len(want)+1 {
		t.Errorf("%d messages", len(got))
	}
}

// TestNativePromptIsLeftOut: a model that answers in place of another does not get the system text about tool calls.
func TestNativePromptIsLeftOut(t *testing.T) {
	s := &speaker{answers: []string{"Hello."}}
	for range blocks.New(s, "x").Stream(t.Context(), model.Request{Tools: offered, Messages: []model.Message{{Role: model.System, Content: "Use the tools."}, user("hi")}}) {
	}
	if got := s.asked[0].Messages; got[0].Content != blocks.System || len(got) != 2 {
		t.Errorf("sent %+v", got)
	}
}

// TestRepeatedCall: the last call is not made again; the model gets one objection.
func TestRepeatedCall(t *testing.T) {
	const block = "```sh\nwc a.txt\n```"
	before := []model.Message{user("list it"), calls("1", "run_shell", `{"command":"wc a.txt"}`), result("1", "a.txt\n[no file was changed]")}
	for _, tt := range []struct {
		name    string
		answers []string
		then    []model.Message
		want    string // the command of the call
		asked   int
	}{
		{"another answer", []string{block, "There is a.txt."}, nil, "", 2},
		{"another command", []string{block, "```sh\ncat a.txt\n```"}, nil, "cat a.txt", 2},
		{"another one at last", []string{block, block, "Well."}, nil, "", 3},
		{"another one first", []string{"```sh\nls -l\n```"}, nil, "ls -l", 1},
		{"the person spoke since", []string{block}, []model.Message{user("again")}, "wc a.txt", 1},
		{"buddy spoke since", []string{block, "x"}, []model.Message{reminder("a pane has changed")}, "", 2},
	} {
		s := &speaker{answers: tt.answers}
		_, done, _ := ask(t, blocks.New(s, "x"), append(slices.Clone(before), tt.then...)...)
		got := ""
		for _, c := range done.Message.ToolCalls {
			got = strings.TrimSuffix(strings.TrimPrefix(c.Arguments, `{"command":"`), `"}`)
		}
		if got != tt.want || len(s.asked) != tt.asked {
			t.Errorf("%s: called %q after %d requests, want %q after %d", tt.name, got, len(s.asked), tt.want, tt.asked)
		}
		if last := s.asked[len(s.asked)-1].Messages; tt.asked > 1 && !strings.Contains(last[len(last)-1].Content, "did that already") {
			t.Errorf("%s: it was told %q", tt.name, last[len(last)-1].Content)
		}
	}
}

// TestModelThatInsists: a call that the model repeats again and again is not made, and the prompt ends with the reason.
func TestModelThatInsists(t *testing.T) {
	const block = "```sh\nls\n```"
	s := &speaker{answers: []string{block, block, block}}
	req := model.Request{Tools: offered, Messages: []model.Message{user("list it"), calls("1", "run_shell", `{"command":"ls"}`), result("1", "a.txt")}}
	var failed error
	for d, err := range blocks.New(s, "x").Stream(t.Context(), req) {
		if failed = err; d.Kind == model.Done || d.Kind == model.CallReady {
			t.Errorf("it called %+v", d)
		}
	}
	if failed == nil || !strings.Contains(failed.Error(), "the same call 4 times in a row") {
		t.Errorf("the error is %v", failed)
	}
	const script = "```sh\n#!/bin/sh\nls\n```"
	s = &speaker{answers: []string{script, script, script}}
	if _, done, _ := ask(t, blocks.New(s, "x"), user("list it")); len(done.Message.ToolCalls) != 1 || len(s.asked) != 3 {
		t.Errorf("a script is called after %d requests: %+v", len(s.asked), done.Message)
	}
}

// texts returns the texts of a request.
func texts(all []model.Message) (text string) {
	for _, m := range all[1:] {
		text += m.Content + "\n"
	}
	return text
}

// TestAnswersThatCameTooEarly: a model that names files without having looked is asked to look, and one that ends a
// task without the requested change is asked to make it. The first answer is not shown.
func TestAnswersThatCameTooEarly(t *testing.T) {
	looked := []model.Message{calls("1", "run_shell", `{"command":"cat a.txt"}`), result("1", "x\n[no file was changed]")}
	for _, tt := range []struct {
		name      string
		msgs      []model.Message
		answer    string
		objection string
	}{
		{"a guess", []model.Message{user("where is f defined?")}, "In `a/b.py`.", "not looked"},
		{"a command without a block", []model.Message{user("what is in docs?")}, "ls docs", "in a block"},
		{"a sentence that begins so", []model.Message{user("what shows files?")}, "ls shows them.", ""},
		{"a file was shown", []model.Message{reminder("b.py:\n```\nx\n```"), user("what has b.py?")}, "b.py has x.", ""},
		{"it has looked", append([]model.Message{user("where is f defined?")}, looked...), "In a/b.py.", ""},
		{"it has seen names", []model.Message{user("where is f defined?"), calls("1", "run_shell", `{"command":"ls -l"}`), result("1", "a\n[no file was changed]")}, "In b/main.py.", "names only"},
		{"names were asked for", []model.Message{user("what is in docs?"), calls("1", "run_shell", `{"command":"ls docs"}`), result("1", "a.md\n[no file was changed]")}, "There is docs/a.md.", ""},
		{"no file is named", []model.Message{user("how are you?")}, "Fine.", ""},
		{"nothing was changed", append([]model.Message{user("Add a line to a.txt.")}, looked...), "It is there.", "No file was changed"},
		{"nothing was done", []model.Message{reminder("old.txt:\n```\nx\n```"), user("please delete old.txt")}, "It is gone.", "No file was changed"},
		{"it was a question", append([]model.Message{user("How do I add a line?")}, looked...), "With echo.", ""},
		{"something was changed", []model.Message{user("Add a line."), calls("1", "run_shell", `{"command":"x"}`), result("1", "[what changed]\na.txt")}, "Done.", ""},
		{"a person said no", []model.Message{user("Add a line."), calls("1", "run_shell", `{"command":"x"}`), result("1", "Command execution denied by user.")}, "I was not allowed to.", ""},
		{"the command failed", []model.Message{user("Add a line."), calls("1", "run_shell", `{"command":"x"}`), result("1", "exit code 4, 0.1 s\n[what changed]\na.txt")}, "Done.", "failed"},
		{"a command that changed nothing", []model.Message{user("Fix a.txt."), calls("1", "run_shell", `{"command":"sed -i s/x/x/ a.txt"}`), result("1", "[exit code 0, no output]\n[no file was changed]")}, "Done.", "Write the file's whole new text"},
		{"a number", []model.Message{reminder("a.txt:\n```\n1\n2\n```"), user("What is the sum of the numbers in a.txt?")}, "```\n4\n```", "with a command"},
		{"a number that a command printed", append([]model.Message{user("How many lines has a.txt?")}, looked...), "2", ""},
		{"a script", []model.Message{user("What would a script that does it look like?")}, "```sh\n#!/bin/sh\necho x\n```", "To write a file"},
		{"a long answer", []model.Message{user("Write about a.txt.")}, strings.Repeat("word ", 100), ""},
	} {
		s := &speaker{answers: []string{tt.answer, "Second.", "Second."}}
		shown, done, _ := ask(t, blocks.New(s, "x"), tt.msgs...)
		want := tt.answer
		if tt.objection != "" {
			want = "Second."
		}
		if strings.TrimSpace(shown) != strings.TrimSpace(want) || done.Message.Content != strings.TrimSpace(want) {
			t.Errorf("%s: shown %q, answered %q, want %q", tt.name, shown, done.Message.Content, want)
		}
		last := s.asked[len(s.asked)-1].Messages
		if tt.objection != "" && (last[len(last)-1].Role != model.User || strings.Contains(texts(last), strings.TrimSpace(tt.answer))) {
			t.Errorf("%s: the model reads its own bad answer again: %q", tt.name, texts(last))
		}
		if got := last[len(last)-1].Content; (len(s.asked) > 1) != (tt.objection != "") || !strings.Contains(got, tt.objection) {
			t.Errorf("%s: %d requests, the last ends with %q", tt.name, len(s.asked), got)
		}
	}
}

// TestFileThatWasNotRead: a file that the model wanted to replace without having read it is read for the model.
func TestFileThatWasNotRead(t *testing.T) {
	s := &speaker{answers: []string{"a.txt\n```\ny\n```"}}
	m := blocks.New(s, "x")
	before := []model.Message{
		user("write y to a.txt"), calls("1", "write_file", `{"content":"y\n","path":"a.txt"}`),
		result("1", `Tool error: execution failed: "a.txt" was not read since this session began or was resumed, nothing was written; read it first`),
	}
	_, done, _ := ask(t, m, before...)
	if c := done.Message.ToolCalls; len(s.asked) != 0 || len(c) != 1 || c[0].Name != "read_file" || c[0].Arguments != `{"path":"a.txt"}` {
		t.Fatalf("%d requests, calls %+v", len(s.asked), c)
	}
	_, done, _ = ask(t, m, append(before, calls("2", "read_file", `{"path":"a.txt"}`), result("2", "x"))...)
	if c := done.Message.ToolCalls; len(c) != 1 || c[0].Name != "write_file" || c[0].Arguments != `{"content":"y\n","path":"a.txt"}` {
		t.Errorf("then it calls %+v", c)
	}
}

// TestBlocksElsewhere: a block in a prompt or a result is not a call.
func TestBlocksElsewhere(t *testing.T) {
	const block = "```sh\nrm -rf x\n```"
	s := &speaker{answers: []string{"That deletes x."}}
	_, done, _ := ask(t, blocks.New(s, "x"), user("what does this do?\n"+block), calls("1", "run_shell", `{"command":"cat README"}`), result("1", block))
	if len(done.Message.ToolCalls) > 0 {
		t.Errorf("called %+v", done.Message.ToolCalls)
	}
	s = &speaker{answers: []string{block}} // in the model's answer it is a call
	if _, done, _ = ask(t, blocks.New(s, "x"), user("what does this do?\n"+block)); len(done.Message.ToolCalls) != 1 {
		t.Error("what the model says is no call")
	}
}

// TestPassedOn: requests without tools, thoughts and errors are passed on; an answer that was cut off has no call.
func TestPassedOn(t *testing.T) {
	s := &speaker{answers: []string{"```sh\nls\n```"}}
	req := model.Request{Messages: []model.Message{{Role: model.System, Content: "Sum it up."}, user("x")}}
	for d := range blocks.New(s, "x").Stream(t.Context(), req) {
		if d.Kind == model.Done && (len(d.Message.ToolCalls) > 0 || d.Message.Content == "") {
			t.Errorf("without tools: %+v", d.Message)
		}
	}
	if got := s.asked[0].Messages; got[0].Content != "Sum it up." {
		t.Errorf("sent %+v", got)
	}
	for name, tt := range map[string]struct {
		deltas []model.Delta
		err    error
		want   string
	}{
		"cut off": {[]model.Delta{
			{Kind: model.Text, Text: "Well\n```sh\nrm -rf /"},
			{Kind: model.Done, Finish: model.FinishLength, Message: &model.Message{Content: "Well\n```sh\nrm -rf /"}},
		}, nil, "Well\n```sh\nrm -rf /"},
		"an attempt that failed": {[]model.Delta{
			{Kind: model.Text, Text: "Hello\n```sh\nrm"},
			{Kind: model.Retry, Retry: &model.RetryNotice{}},
			{Kind: model.Text, Text: "Hi."},
			{Kind: model.Done, Finish: "stop", Message: &model.Message{Content: "Hi."}},
		}, nil, "Hi."},
		"an error": {[]model.Delta{{Kind: model.Reasoning, Text: "hm"}, {Kind: model.Text, Text: "```sh\nls\n"}}, errors.New("it broke"), ""},
	} {
		var done *model.Message
		var kinds []model.DeltaKind
		var failed error
		for d, err := range blocks.New(script{tt.deltas, tt.err}, "x").Stream(t.Context(), model.Request{Tools: offered, Messages: []model.Message{user("x")}}) {
			if kinds = append(kinds, d.Kind); err != nil {
				failed = err
			}
			if d.Kind == model.Done {
				done = d.Message
			}
		}
		if !errors.Is(failed, tt.err) || tt.err == nil && (done == nil || done.Content != tt.want || len(done.ToolCalls) > 0) || tt.err != nil && (done != nil || !slices.Contains(kinds, model.Reasoning)) {
			t.Errorf("%s: %v, %+v, %v", name, failed, done, kinds)
		}
	}
}

// script yields deltas, then an error if there is one.
type script struct {
	deltas []model.Delta
	err    error
}

func (script) Info() model.Info { return model.Info{} }

func (s script) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for _, d := range s.deltas {
			if !yield(d, nil) {
				return
			}
		}
		if s.err != nil {
			yield(model.Delta{}, s.err)
		}
	}
}

// TestAuto: a model switches to blocks once its server has refused tools, or two answers had unusable calls; the
// session stores that, and other errors change nothing.
func TestAuto(t *testing.T) {
	refused := func(body string) *model.Error {
		return &model.Error{Kind: model.StatusError, Status: 400, Body: body, Said: body}
	}
	for _, body := range []string{
		`{"error":{"message":"registry.ollama.ai/library/gemma3:4b does not support tools"}}`,
		`{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}`,
		`{"error":{"message":"No endpoints found that support tool use. To learn more"}}`,
		`{"error":{"message":"tools param requires --jinja flag"}}`,
	} {
		s := &speaker{answers: []string{"```sh\nls\n```", "Yes."}, fails: refused(body)}
		m := blocks.Auto(s)
		_, done, others := ask(t, m, user("x"))
		if len(others) == 0 || others[0].Kind != model.Healed || !others[0].Needs.Of(m.Info()) || !strings.Contains(others[0].Needs.Text, `calls = "native" in [models.small]`) {
			t.Fatalf("%s: %+v", body, others)
		}
		if len(done.Message.ToolCalls) != 1 || m.Info().Blocks == "" || len(s.asked) != 2 {
			t.Errorf("%s: %+v after %d requests", body, done.Message, len(s.asked))
		}
		if ask(t, m, user("y")); len(s.asked) != 3 {
			t.Errorf("%s: the next prompt took %d requests", body, len(s.asked)-2)
		}
		again := &speaker{answers: []string{"Yes."}, fails: refused(body)}
		for range blocks.Auto(again).Stream(t.Context(), model.Request{Tools: offered, Messages: []model.Message{user("z")}, Needs: []model.Needs{*others[0].Needs}}) {
		}
		if len(again.asked) != 1 || len(again.asked[0].Tools) != 0 {
			t.Errorf("%s: a session that knows it asked %d times, first with the tools %v", body, len(again.asked), again.asked[0].Tools)
		}
	}
	for _, body := range []string{`{"error":"bad luck"}`, `{"error":{"message":"Invalid 'tools[0].function.name'"}}`, "overloaded"} {
		s := &speaker{fails: refused(body)}
		m := blocks.Auto(s)
		failed := false
		for _, err := range m.Stream(t.Context(), model.Request{Tools: offered, Messages: []model.Message{user("x")}}) {
			failed = failed || err != nil
		}
		if !failed || len(s.asked) != 1 || m.Info().Blocks != "" {
			t.Errorf("%s: failed %v, %d requests, %+v", body, failed, len(s.asked), m.Info())
		}
	}
	s := &speaker{answers: []string{"{}", "{}", "```sh\nls\n```"}, unused: true}
	m := blocks.Auto(s)
	ask(t, m, user("x"))
	if m.Info().Blocks != "" {
		t.Error("one answer was enough")
	}
	if _, _, others := ask(t, m, user("x")); m.Info().Blocks == "" || others[0].Kind != model.Healed {
		t.Errorf("after two answers: %+v, %+v", m.Info(), others)
	}
	if _, done, _ := ask(t, m, user("x")); len(done.Message.ToolCalls) != 1 {
		t.Errorf("then it says %+v", done.Message)
	}
}

// TestCallsInVain: a model that varies a command without effect is asked to look, and its exchange ends if it does not.
func TestCallsInVain(t *testing.T) {
	const silent = "[exit code 0, no output]\n[no file was changed]"
	block := func(n int) string { return fmt.Sprintf("```sh\nsed -i s/%d/x/ a.txt\n```", n) }
	for _, tt := range []struct {
		name    string
		results []string
		asked   int    // requests
		err     string // part of it
	}{
		{"two", []string{silent, silent}, 1, ""},
		{"three", []string{silent, silent, silent}, 2, ""},
		{"one that prints something between", []string{silent, silent, "x\n[no file was changed]", silent}, 1, ""},
		{"one that changes something between", []string{silent, silent, "[exit code 0, no output]\n[what changed]\nin a.txt\n+x", silent}, 1, ""},
		{"four", []string{silent, silent, silent, silent}, 1, ""},
		{"six", slices.Repeat([]string{silent}, 6), 0, "6 calls in a row that printed nothing and changed nothing"},
	} {
		msgs := []model.Message{user("Change a.txt.")}
		for i, r := range tt.results {
			id := strconv.Itoa(i)
			msgs = append(msgs, calls(id, "run_shell", fmt.Sprintf(`{"command":"sed -i s/%d/x/ a.txt"}`, i)), result(id, r))
		}
		s := &speaker{answers: []string{block(90), block(91)}}
		called := 0
		var err error
		for d, failed := range blocks.New(s, "x").Stream(t.Context(), model.Request{Tools: offered, Messages: msgs}) {
			if err = failed; d.Kind == model.Done {
				called = len(d.Message.ToolCalls)
			}
		}
		if len(s.asked) != tt.asked || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %d requests, %v", tt.name, len(s.asked), err)
		}
		if tt.asked > 0 && called != 1 {
			t.Errorf("%s: no call", tt.name)
		}
		if tt.asked == 2 && !strings.Contains(s.asked[1].Messages[len(s.asked[1].Messages)-1].Content, "Look at the file with `cat`") {
			t.Errorf("%s: it was not told to look", tt.name)
		}
	}
}
