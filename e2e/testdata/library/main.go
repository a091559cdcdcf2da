// Command library tests buddy as a library: it uses the runtime from another module, with its own model, tool,
// context strategy and durable execution, and also with a model on the server that its argument names.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/settings"
	"buddy/tools"
)

// weather is a custom tool.
type weather struct{}

func (weather) Definition() model.ToolDef {
	return model.ToolDef{
		Name: "weather", Description: "Returns the weather in a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	}
}

// Plan reads the arguments. It must have no side effect.
func (weather) Plan(c tools.Call) (action.Action, error) {
	var args struct{ City string }
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		return action.Action{}, fmt.Errorf("invalid arguments: %w", err)
	}
	return action.Action{Kind: action.Generic, Tool: "weather", Preview: args.City}, nil
}

func (weather) Run(_ context.Context, c tools.Call) tools.Result {
	return tools.Result{Content: "sunny in " + c.Planned.Preview}
}

// brief is a custom context strategy: it keeps the last two messages.
type brief struct{}

func (brief) ShouldCompact(now agent.ContextState) bool { return len(now.Messages) > 4 }

func (brief) Compact(context.Context, agent.ContextState) (agent.ContextKept, error) {
	return agent.ContextKept{Messages: 2, Summary: "The user asks about the weather."}, nil
}

// forecaster is a custom model: it calls the tool, then answers with the tool's result.
type forecaster struct{}

func (forecaster) Info() model.Info { return model.Info{Model: "forecaster"} }

func (forecaster) Stream(_ context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		answer := model.Message{Role: model.Assistant, Content: "It is " + last.Content + "."}
		if last.Role != model.Tool {
			answer = model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "weather", Arguments: `{"city":"Rome"}`}}}
		}
		if answer.Content == "" || yield(model.Delta{Kind: model.Text, Text: answer.Content}, nil) {
			yield(model.Delta{Kind: model.Done, Message: &answer}, nil)
		}
	}
}

// options returns the options of the runtimes. Nobody can approve calls here, so the mode allows all of them.
func options() agent.Options {
	return agent.Options{Model: forecaster{}, Tools: tools.NewRegistry(weather{}), Mode: action.ModeAll}
}

func main() {
	ctx := context.Background()
	res, err := agent.New(options()).RunText(ctx, "How is the weather in Rome?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("RunText:", res.Response, res.Turns, "turns")

	o := options()
	o.Limits = settings.Limits{MaxIterations: 1}
	_, err = agent.New(o).Run(ctx, model.Message{Role: model.User, Content: "And now?"})
	if limit, ok := errors.AsType[*agent.MaxTurnsError](err); ok {
		fmt.Println("Run: stopped after", limit.Turns, "turn")
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	res, err = agent.New(options()).RunText(ended, "Nobody waits for this.")
	fmt.Println("RunText:", res.Outcome, errors.Is(err, agent.ErrCancelled), res.Turns, "turns")

	server, err := completions.New(completions.Config{BaseURL: os.Args[1], Model: "forecaster"})
	if err != nil {
		log.Fatal(err)
	}
	o = options()
	o.Model = server
	for env := range agent.New(o).RunStream(ctx, model.Message{Content: "Stream it."}) {
		switch e := env.Payload.(type) {
		case event.TextDelta:
			fmt.Println("RunStream:", e.Text)
		case event.ToolResult:
			fmt.Println("RunStream:", e.Result)
		case event.TaskFinished:
			fmt.Println("RunStream:", e.Outcome)
		}
	}

	o = options()
	o.Strategy = brief{}
	rt := agent.New(o)
	for range 2 {
		for step := range rt.RunStep(ctx, model.Message{Content: "Step by step."}) {
			switch s := step.(type) {
			case agent.ToolsExecuted:
				fmt.Println("RunStep: called", s.Calls[0].Name)
			case agent.CompactionOccurred:
				fmt.Println("RunStep: compacted to", len(rt.Messages()), "messages")
			case agent.FinalResponse:
				fmt.Println("RunStep:", s.Result.Response)
			case agent.Failure:
				log.Fatal(s.Err)
			}
		}
	}

	durable := &steps{done: make(map[[32]byte][]byte)}
	for range 2 { // the second process repeats the work after a crash
		o = options()
		o.Durable = durable
		res, err := agent.New(o).RunText(ctx, "How is the weather in Rome?")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("Durable:", res.Response, durable.called)
	}
}
