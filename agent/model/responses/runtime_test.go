package responses_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/responses"
	"buddy/agent/settings"
	"buddy/tools"
)

// clock is a read-only tool.
type clock struct{}

func (clock) Definition() model.ToolDef {
	return model.ToolDef{Name: "clock", Parameters: json.RawMessage(`{"type":"object"}`)}
}

func (clock) Plan(tools.Call) (action.Action, error) {
	return action.Action{Kind: action.FileRead, Tool: "clock", Path: "/w/clock"}, nil
}

func (clock) Run(context.Context, tools.Call) tools.Result { return tools.Result{Content: "noon"} }

// journal keeps lines as a session file does.
type journal struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (j *journal) Append(env event.Envelope) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	enc := json.NewEncoder(&j.lines)
	enc.SetEscapeHTML(false)
	return enc.Encode(env)
}

func (j *journal) Range(uint64, func(event.Envelope) bool) error { return nil }

func (j *journal) read(t *testing.T) []event.Envelope {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []event.Envelope
	for l := range bytes.Lines(j.lines.Bytes()) {
		var env event.Envelope
		if err := json.Unmarshal(l, &env); err != nil {
			t.Fatal(err)
		}
		all = append(all, env)
	}
	return all
}

// exchange runs one prompt in a new process, on the lines in j so far.
func exchange(t *testing.T, m model.Model, j *journal, prompt string) (text, reasoning string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := agent.Options{Session: "s1", Model: m, Tools: tools.NewRegistry(clock{}), System: "Be brief.", Limits: settings.Limits{MaxIterations: 5}, Journal: j, Replay: j.read(t)}
	o.Policy.Workspace = "/w"
	r := agent.New(o)
	events := r.Subscribe(ctx)
	r.Start()
	r.Send(event.Submit{Text: prompt})
	for env := range events {
		switch e := env.Payload.(type) {
		case event.TextDelta:
			text += e.Text
		case event.ReasoningDelta:
			reasoning += e.Text
		case event.TaskFinished:
			if e.Outcome != event.Completed {
				t.Errorf("%+v", e)
			}
			go func() { _ = r.Close(ctx) }() // the events end with it
		}
	}
	if ctx.Err() != nil {
		t.Fatal("the exchange did not end")
	}
	return text, reasoning
}

// TestRuntime runs two exchanges with a tool through the real runtime, with a resume in between: encrypted reasoning is
// sent back in its place, and each input starts with the previous one.
func TestRuntime(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Reasoning{Text: "I need the <time>."}, modeltest.Text("Let me see."), modeltest.Call{ID: "c1", Name: "clock", Arguments: "{}"}, modeltest.Usage{Prompt: 5, Completion: 2}},
		modeltest.Answer{modeltest.Reasoning{Text: "Twelve."}, modeltest.Text("It is noon.")},
		modeltest.Answer{modeltest.Reasoning{Text: "Again"}, modeltest.Call{ID: "c1", Name: "clock", Arguments: "{}"}}, // the id is used already
		modeltest.Answer{modeltest.Text("Still noon.")},
	))
	m := newModel(t, responses.Config{Profile: "work", BaseURL: srv.URL})
	j := &journal{}
	text, reasoning := exchange(t, m, j, "what time is it?")
	if text != "Let me see.It is noon." || reasoning != "I need the <time>.Twelve." {
		t.Errorf("%q, %q", text, reasoning)
	}
	if text, _ = exchange(t, m, j, "and now?"); text != "Still noon." {
		t.Errorf("%q", text)
	}
	reqs := srv.Requests()
	if len(reqs) != 4 {
		t.Fatalf("%d requests", len(reqs))
	}
	before := ""
	for i, r := range reqs {
		if r.Refused != nil {
			t.Errorf("request %d: %v", i, r.Refused)
		}
		var body struct{ Input json.RawMessage }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		input := strings.TrimSuffix(string(body.Input), "]")
		if !strings.HasPrefix(input, before) {
			t.Errorf("request %d:\n%s\nis no prefix of\n%s", i, before, input)
		}
		before = input
	}
	var kinds []string
	var last struct {
		Input []struct {
			Type string
			Role string
		}
	}
	if err := json.Unmarshal(reqs[3].Body, &last); err != nil {
		t.Fatal(err)
	}
	for _, it := range last.Input {
		kinds = append(kinds, it.Role+it.Type)
	}
	want := "usermessage reasoning assistantmessage function_call function_call_output reasoning assistantmessage usermessage reasoning function_call function_call_output"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
