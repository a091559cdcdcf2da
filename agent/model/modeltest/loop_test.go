package modeltest_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
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

func (clock) Run(context.Context, tools.Call) tools.Result { return tools.Result{Content: "noon"} }

// TestLoop runs the same two exchanges through the real runtime in each protocol: reasoning, two calls at once, a
// server that is overloaded in the middle of its answer, a second prompt. The server checks every request.
func TestLoop(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
		srv := modeltest.Start(t, modeltest.Steps(
			modeltest.Answer{modeltest.Reasoning{Text: "What time?"}, modeltest.Text("I look."), modeltest.Call{ID: "c1", Name: "clock", Arguments: "{}"}, modeltest.Call{ID: "c2", Name: "clock", Arguments: "{}"}, modeltest.Usage{Prompt: 100, Completion: 20, Cached: 60}},
			modeltest.Answer{modeltest.Text("half"), modeltest.ErrorObject(`{"type":"overloaded_error","message":"Overloaded"}`)},
			modeltest.Answer{modeltest.Text("It is noon."), modeltest.Usage{Prompt: 150, Completion: 5}},
			modeltest.Answer{modeltest.Call{ID: "c3", Name: "clock", Arguments: "{}"}},
			modeltest.Answer{modeltest.Text("Still noon.")},
		))
		rt := agent.New(agent.Options{
			Session: "s", Model: retry.New(p.Connect(t, srv.URL), ""), Tools: tools.NewRegistry(clock{}),
			System: "You tell the time.", Limits: settings.Limits{MaxIterations: 9}, Places: agent.Places{OutDir: t.TempDir()}, Policy: policy.Policy{Workspace: "/w"},
		})
		answers, usage := drive(t, rt, "what time is it?", "and now?")
		if want := []string{"I look.", "It is noon.", "", "Still noon."}; !slices.Equal(answers, want) {
			t.Errorf("said %q, want %q", answers, want)
		}
		if usage.SessionPrompt != 250 || usage.SessionCompletion != 25 {
			t.Errorf("usage %+v", usage)
		}
		requests := srv.Requests()
		for i, r := range requests {
			if r.Refused != nil {
				t.Errorf("request %d: %v in %s", i, r.Refused, r.Body)
			}
		}
		if len(requests) != 5 {
			t.Errorf("%d requests", len(requests))
		}
	})
}

// drive sends prompts one after the other and returns the model's texts.
func drive(t *testing.T, rt *agent.Runtime, prompts ...string) (answers []string, usage event.MetricsUsage) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events := rt.Subscribe(ctx)
	rt.Start()
	next := func() {
		if len(prompts) == 0 {
			cancel()
			return
		}
		rt.Send(event.Submit{Text: prompts[0]})
		prompts = prompts[1:]
	}
	next()
	for env := range events {
		switch p := env.Payload.(type) {
		case event.ModelMessage:
			answers = append(answers, p.Message.Content)
		case event.MetricsUsage:
			usage = p
		case event.Error:
			t.Errorf("error: %+v", p)
		case event.TaskFinished:
			next()
		}
	}
	if err := rt.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return answers, usage
}
