package demo

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
)

var shell = []model.ToolDef{{Name: "run_shell"}, {Name: "read_file"}, {Name: "list_dir"}, {Name: "write_file"}}

// ask returns the demo's answer to a conversation, joined from its deltas.
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

func TestVerbs(t *testing.T) {
	tests := []struct{ prompt, call string }{
		{"run ls -la", "run_shell ls -la"},
		{"RUN  echo hi ", "run_shell echo hi"},
		{"read a b.txt", "read_file a b.txt"},
		{"list", "list_dir ."},
		{"List /tmp", "list_dir /tmp"},
		{"write hello to me to a.txt", "write_file a.txt hello to me\n"},
		{"tour", `run_shell export TOUR=42; echo "hello from $(uname -sm)"`},
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
			if tt.call == "" {
				if len(calls) != 0 || !strings.Contains(text, "not a") || !strings.Contains(text, "connect a real model") {
					t.Errorf("said %q and called %v; it must say what it is and how to connect a model", text, calls)
				}
				return
			}
			if len(calls) != 1 {
				t.Fatalf("calls %v, want one", calls)
			}
			var args struct{ Command, Path, Content, Why string }
			err := json.Unmarshal([]byte(calls[0].Arguments), &args)
			got := strings.TrimRight(calls[0].Name+" "+args.Command+args.Path+" "+args.Content, " ")
			if err != nil || got != tt.call || args.Why == "" {
				t.Errorf("called %q with %s (%v), want %q and a reason", got, calls[0].Arguments, err, tt.call)
			}
		})
	}
}

func TestReports(t *testing.T) {
	tests := []struct{ result, want string }{
		{"", "without any output"},
		{"one\n[exit code 3, 0.1 s]", "exit code 3"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "10 lines"},
		{"```\nx\n```\n", "````"},
		{"text of it", "Done:"},
		{"Command execution denied by user.", "did not run: Command execution denied by user."},
	}
	for _, tt := range tests {
		m := result(tt.result)
		m.Failed = strings.HasPrefix(tt.want, "did not run")
		text, done := ask(t, shell, user("run x"), m)
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
	if text, done := ask(t, nil, user("run ls")); len(done.Message.ToolCalls) != 0 || !strings.Contains(text, "No tool") {
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

// TestImages: images are refused, not ignored.
func TestImages(t *testing.T) {
	m := New(0)
	image, err := model.NewImage([]byte("GIF89a"))
	if err != nil || !m.Info().TextOnly {
		t.Fatal(err, m.Info())
	}
	said := model.Message{Role: model.User, Content: "what is this?", Images: []model.Image{image}}
	for _, err := range m.Stream(t.Context(), model.Request{Messages: []model.Message{said}}) {
		var e *model.Error
		if !errors.As(err, &e) || e.Retryable() || err.Error() != "the demo doesn't accept images; connect a real model, see help" {
			t.Error(err)
		}
	}
}
