package basic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/toolstest"
)

func newBench(t *testing.T) toolstest.Bench {
	now := func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.FixedZone("CET", 3600)) }
	return toolstest.Bench{T: t, Tools: tools.NewRegistry(NewTime(now), NewTodo(), NewAskUser())}
}

func TestTime(t *testing.T) {
	b := newBench(t)
	call, err := b.Plan("time", toolstest.Args{})
	if err != "" || call.Planned.Kind != action.Internal {
		t.Fatal(call.Planned, err)
	}
	const want = "2026-02-03T04:05:06.789+01:00 CET\nUTC: 2026-02-03T03:05:06.789Z\nRFC 2822: Tue, 03 Feb 2026 03:05:06 +0000\nUnix nanoseconds: 1770087906789000000\n"
	if res := b.Run(call); res.Content != want || res.Aside != "" {
		t.Errorf("time = %s, want %s", res.Content, want)
	}
}

func TestTodo(t *testing.T) {
	b := newBench(t)
	item := func(text, state string) toolstest.Args { return toolstest.Args{"text": text, "state": state} }
	got := b.OK("todo", toolstest.Args{"items": []toolstest.Args{item("find\nit", "completed"), item("fix it", "in_progress"), item("test", "pending")}})
	if got.Text != "[x] find it\n[>] fix it\n[ ] test\n" || got.Note != "" {
		t.Errorf("todo = %v", got)
	}
	if got := b.OK("todo", toolstest.Args{"items": []toolstest.Args{}}); got.Note != "the list is empty" {
		t.Errorf("todo = %v", got)
	}
	if got := b.OK("todo", toolstest.Args{"items": []toolstest.Args{item("a", "in_progress"), item("b", "in_progress")}}); got.Note != "more than one step is in progress" {
		t.Errorf("todo = %v", got)
	}
	b.Fails("todo", toolstest.Args{}, "items: missing, expected array")
	b.Fails("todo", toolstest.Args{"items": []toolstest.Args{item("a", "done")}}, `items[0].state: expected one of pending, in_progress, completed, got "done"`)
	b.Fails("todo", toolstest.Args{"items": []toolstest.Args{item(" ", "pending")}}, "items[0].text: must not be blank")
	b.Fails("todo", toolstest.Args{"items": []toolstest.Args{item(strings.Repeat("x", maxTodo+1), "pending")}}, "items[0].text: longer than 500 bytes")
	b.Fails("todo", toolstest.Args{"items": make([]toolstest.Args, 51)}, "items: at most 50, got 51")
}

func TestAskUser(t *testing.T) {
	b := newBench(t)
	call, err := b.Plan("ask_user", toolstest.Args{"question": "Which?", "choices": []string{"a", "b"}})
	if err != "" || call.Planned.Kind != action.Internal || call.Planned.Preview != "Which?" {
		t.Fatal(call.Planned, err)
	}
	payload := func() toolstest.Output {
		got, err := b.Finish(call)
		if err != "" {
			t.Fatal(err)
		}
		return got
	}
	nobody := func(context.Context, tools.Question) (string, error) { return "", tools.ErrNobody }
	for _, ask := range []func(context.Context, tools.Question) (string, error){nil, nobody} {
		call.Ask = ask
		got := payload()
		if got.Text != "" || !strings.HasPrefix(got.Note, "nobody was there to ask") {
			t.Errorf("without a person: %v", got)
		}
	}
	call.Ask = func(_ context.Context, q tools.Question) (string, error) {
		return fmt.Sprint(q.Text, q.Choices), nil
	}
	if got := payload(); got.Text != "Which?[a b]" || got.Note != "" {
		t.Errorf("answer = %v", got)
	}
	call.Ask = func(context.Context, tools.Question) (string, error) { return "", nil }
	if got := payload(); got.Note != "the person gave an empty answer" {
		t.Errorf("answer = %v", got)
	}
	call.Ask = func(context.Context, tools.Question) (string, error) { return "", errors.New("gone") }
	if res := b.Run(call); !res.IsError || !strings.Contains(res.Content, "the question was not answered: gone") {
		t.Errorf("answer = %+v", res)
	}
	b.Fails("ask_user", toolstest.Args{"choices": []string{"a"}}, "question: missing, expected string")
	b.Fails("ask_user", toolstest.Args{"question": strings.Repeat("x", maxQuestion+1)}, "question: longer than 2000 bytes")
	b.Fails("ask_user", toolstest.Args{"question": "x", "choices": []string{strings.Repeat("x", maxChoice+1)}}, "choices[0]: longer than 200 bytes")
	b.Fails("ask_user", toolstest.Args{"question": "x", "choices": make([]string, 10)}, "choices: at most 9, got 10")
	tool, _ := b.Tools.Lookup("ask_user")
	if p, ok := tool.(tools.Patient); !ok || !p.Patient(call) {
		t.Error("the time for an answer is limited")
	}
}
