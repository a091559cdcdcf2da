package anthropic_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/retry"
	"buddy/agent/policy"
	"buddy/agent/settings"
	"buddy/tools"
)

// clock is a tool that needs no approval.
type clock struct{}

func (clock) Definition() model.ToolDef {
	return model.ToolDef{Name: "clock", Description: "Tells the time.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
}

func (clock) Plan(tools.Call) (action.Action, error) {
	return action.Action{Kind: action.FileRead, Tool: "clock", Path: "/w/clock"}, nil
}

func (clock) Run(_ context.Context, c tools.Call) tools.Result {
	return tools.Result{Content: "noon, asked by " + c.ID}
}

// TestExchange runs a whole exchange through the real runtime: thinking, two calls, one overloaded answer, an answer,
// and a second prompt. The server checks every request.
func TestExchange(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{
			modeltest.Reasoning{Text: "What time is it?"},
			modeltest.Text("I look."),
			modeltest.Call{ID: "c1", Name: "clock", Arguments: "{}"},
			modeltest.Call{ID: "c2", Name: "nothing", Arguments: "{"},
			modeltest.Usage{Prompt: 100, Completion: 20, Cached: 60},
		},
		modeltest.Answer{modeltest.ErrorObject(`{"type":"overloaded_error","message":"Overloaded"}`)},
		modeltest.Answer{modeltest.Reasoning{Text: "Noon."}, modeltest.Text("It is noon."), modeltest.Usage{Prompt: 150, Completion: 5, Cached: 100}},
		modeltest.Answer{modeltest.Text("You are welcome.")},
	))
	rt := agent.New(agent.Options{
		Session: "s", Model: retry.New(newModel(t, anthropic.Config{BaseURL: srv.URL}), ""), Tools: tools.NewRegistry(clock{}),
		System: "You tell the time.", Limits: settings.Limits{MaxIterations: 9}, Places: agent.Places{OutDir: t.TempDir()}, Policy: policy.Policy{Workspace: "/w"},
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events := rt.Subscribe(ctx)
	rt.Start()
	rt.Send(event.Submit{Text: "what time is it?"})
	var said []model.Message
	var usage event.MetricsUsage
	tasks := 0
	for env := range events {
		switch p := env.Payload.(type) {
		case event.ModelMessage:
			said = append(said, p.Message)
		case event.MetricsUsage:
			usage = p
		case event.Error:
			t.Errorf("error: %+v", p)
		case event.TaskFinished:
			if tasks++; tasks == 1 {
				rt.Send(event.Submit{Text: "thanks"})
			} else {
				cancel()
			}
		}
	}
	if err := rt.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(said) != 3 || said[1].Content != "It is noon." || said[2].Content != "You are welcome." {
		t.Fatalf("said %+v", said)
	}
	if usage.SessionPrompt != 250 {
		t.Errorf("usage %+v", usage)
	}
	requests := srv.Requests()
	for i, r := range requests {
		if r.Refused != nil {
			t.Errorf("request %d: %v in %s", i, r.Refused, r.Body)
		}
	}
	last := content(t, requests[len(requests)-1].Body, 1)
	if len(requests) != 4 || len(last) != 4 || last[0]["type"] != "thinking" || last[3]["type"] != "tool_use" {
		t.Errorf("%d requests, the first answer is sent back as %v", len(requests), last)
	}
	results := content(t, requests[3].Body, 2)
	if len(results) != 2 || results[0]["content"] != "noon, asked by c1" || results[1]["is_error"] != true {
		t.Errorf("results %v", results)
	}
}
