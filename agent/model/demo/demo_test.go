package demo

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
)

var shell = []model.ToolDef{{Name: "run_shell"}}

// ask returns what the demo says to a conversation, put together from its deltas.
func ask(t *testing.T, defs []model.ToolDef, msgs ...model.Message) (text string, done model.Delta) {
	t.Helper()
	for d, err := range New(0).Stream(t.Context(), model.Request{Messages: msgs, Tools: defs}) {
		if err != nil {
			t.Fatal(err)
		}
		text += d.Text
		done = d
	}
	if done.Kind != model.Done || done.Message.Content != text {
		t.Fatalf("the last delta is %+v after the text %q", done, text)
	}
	return text, done
}

func user(text string) model.Message   { return model.Message{Role: model.User, Content: text} }
func result(text string) model.Message { return model.Message{Role: model.Tool, Content: text} }

func TestVerbs(t *testing.T) { // DECISIONS 26
	tests := []struct{ prompt, command string }{
		{"run ls -la", "ls -la"},
		{"RUN  echo hi ", "echo hi"},
		{"read a b.txt", "cat -- 'a b.txt'"},
		{"read it's", `cat -- 'it'\''s'`},
		{"list", "ls -la -- '.'"},
		{"List /tmp", "ls -la -- '/tmp'"},
		{"write hello to me to a.txt", "printf '%s\\n' 'hello to me' > 'a.txt'"},
		{"write $(rm x) to a", "printf '%s\\n' '$(rm x)' > 'a'"},
		{"tour", `echo "hello from $(uname -sm)"`},
		{"help", ""},
		{"explain yourself", ""},
		{"Explain Yourself", ""},
		{"run", ""},
		{"write nothing", ""},
		{"what is the weather?", ""},
		{"", ""},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			text, done := ask(t, shell, user(tt.prompt))
			calls := done.Message.ToolCalls
			if tt.command == "" {
				if len(calls) != 0 || !strings.Contains(text, "not a") || !strings.Contains(text, "connect a real model") {
					t.Errorf("said %q and called %v; it must say what it is and how to connect a model", text, calls)
				}
				return
			}
			if len(calls) != 1 {
				t.Fatalf("calls %v, want one", calls)
			}
			var args struct{ Command, Why string }
			if err := json.Unmarshal([]byte(calls[0].Arguments), &args); err != nil || args.Command != tt.command || args.Why == "" {
				t.Errorf("arguments %s (%v), want the command %q and a reason", calls[0].Arguments, err, tt.command)
			}
		})
	}
}

func TestQuoteIsOneWord(t *testing.T) {
	for _, s := range []string{"", "a b", "'", `"$(id)" ; rm -rf \ `, "'\\''\n`x`"} {
		out, err := exec.Command("sh", "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("quote(%q) = %s: the shell reads %q, %v", s, quote(s), out, err)
		}
	}
}

func TestReports(t *testing.T) {
	tests := []struct{ result, want string }{
		{`{"result":{"exit_code":0,"stdout":"","stderr":""}}`, "printed nothing"},
		{`{"result":{"exit_code":3,"stdout":"one\n","stderr":""}}`, "exit code 3"},
		{`{"result":{"exit_code":0,"stdout":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"}}`, "10 lines"},
		{"{\"result\":{\"exit_code\":0,\"stdout\":\"```\\nx\\n```\\n\"}}", "````"},
		{"Command execution denied by user.", "did not run: Command execution denied by user."},
	}
	for _, tt := range tests {
		text, done := ask(t, shell, user("run x"), result(tt.result))
		if !strings.Contains(text, tt.want) || len(done.Message.ToolCalls) != 0 {
			t.Errorf("report of %s is %q, want %q in it and no call", tt.result, text, tt.want)
		}
	}
}

func TestTourEnds(t *testing.T) {
	msgs := []model.Message{user("tour")}
	for range 3 {
		_, done := ask(t, shell, msgs...)
		if len(done.Message.ToolCalls) != 1 {
			t.Fatalf("step %d has no call", len(msgs))
		}
		msgs = append(msgs, result("{}"))
	}
	if text, done := ask(t, shell, msgs...); len(done.Message.ToolCalls) != 0 || !strings.Contains(text, "That was the tour") {
		t.Errorf("the tour does not end: %q", text)
	}
}

func TestWithoutTools(t *testing.T) {
	if text, done := ask(t, nil, user("run ls")); len(done.Message.ToolCalls) != 0 || !strings.Contains(text, "no tool") {
		t.Errorf("said %q, called %v", text, done.Message.ToolCalls)
	}
}

func TestCancelWhileItSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		n := 0
		var last error
		for _, err := range New(20*time.Millisecond).Stream(ctx, model.Request{Messages: []model.Message{user("help")}}) {
			n, last = n+1, err
		}
		if last == nil || n != 3 {
			t.Errorf("%d deltas, error %v, want two words and the error", n, last)
		}
	})
}
