package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/demo"
	"buddy/tools"
)

// parrot is a model for the examples: it gives its answers one after the other.
type parrot struct{ answers []model.Message }

func (*parrot) Info() model.Info { return model.Info{Model: "parrot"} }

func (p *parrot) Stream(_ context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if len(p.answers) == 0 {
			yield(model.Delta{}, errors.New("nothing left to say"))
			return
		}
		m := p.answers[0]
		p.answers = p.answers[1:]
		for word := range strings.SplitAfterSeq(m.Content, " ") {
			if word != "" && !yield(model.Delta{Kind: model.Text, Text: word}, nil) {
				return
			}
		}
		yield(model.Delta{Kind: model.Done, Message: &m, Usage: &model.Usage{Prompt: 20, Completion: 5}}, nil)
	}
}

func says(text string) model.Message { return model.Message{Role: model.Assistant, Content: text} }

func calls(name, arguments string) model.Message {
	return model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "call-1", Name: name, Arguments: arguments}}}
}

// weather is a tool of our own.
type weather struct{}

func (weather) Definition() model.ToolDef {
	return model.ToolDef{
		Name: "weather", Description: "Tells the weather in a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	}
}

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

// Parallel: it changes nothing, so it may run beside other calls.
func (weather) Parallel(tools.Call) bool { return true }

// Ask once.
func ExampleRuntime_RunText() {
	rt := agent.New(agent.Options{Model: demo.New(0)})
	res, err := rt.RunText(context.Background(), "explain yourself")
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _, _ := strings.Cut(res.Response, ".")
	fmt.Println(first)
	fmt.Println(res.Outcome, res.Turns, len(res.Messages))
	// Output:
	// I am the demo that is built into buddy
	// completed 1 2
}

// Show an answer while it is written. Ending ctx stops it.
func ExampleRuntime_RunStream() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rt := agent.New(agent.Options{Model: &parrot{answers: []model.Message{says("one two three")}}})
	for env := range rt.RunStream(ctx, model.Message{Content: "count"}) {
		switch e := env.Payload.(type) {
		case event.TextDelta:
			fmt.Print(e.Text)
		case event.TaskFinished:
			fmt.Printf("\n%s\n", e.Outcome)
		}
	}
	// Output:
	// one two three
	// completed
}

// Go turn by turn, and say something in between.
func ExampleRuntime_RunStep() {
	rt := agent.New(agent.Options{
		Model: &parrot{answers: []model.Message{calls("weather", `{"city":"Rome"}`), says("Take a hat.")}},
		Tools: tools.NewRegistry(weather{}),
		Mode:  action.ModeAll,
	})
	for step := range rt.RunStep(context.Background(), model.Message{Content: "I go to Rome. What do I need?"}) {
		switch s := step.(type) {
		case agent.ToolsExecuted:
			fmt.Println(s.Calls[0].Name+":", s.Results[0].Content)
			if err := rt.Inject(model.Message{Content: "I burn easily."}); err != nil {
				fmt.Println(err)
			}
		case agent.FinalResponse:
			fmt.Println(s.Result.Response)
		case agent.Failure:
			fmt.Println(s.Err)
		}
	}
	for _, m := range rt.Messages() {
		fmt.Printf("%s: %q\n", m.Role, m.Content)
	}
	// Output:
	// weather: sunny in Rome
	// Take a hat.
	// user: "I go to Rome. What do I need?"
	// assistant: ""
	// tool: "sunny in Rome"
	// user: "I burn easily."
	// assistant: "Take a hat."
}

// A tool of one's own is three methods. The policy does not know what it does, so it
// needs somebody's yes: a person's, or mode all.
func Example_customTool() {
	rt := agent.New(agent.Options{
		Model: &parrot{answers: []model.Message{calls("weather", `{"city":"Oslo"}`), says("It is sunny.")}},
		Tools: tools.NewRegistry(weather{}),
		Mode:  action.ModeAll,
	})
	res, err := rt.RunText(context.Background(), "How is the weather in Oslo?")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Messages[2].Content)
	fmt.Println(res.Response)
	fmt.Printf("%d turns, %d tokens in, %d out\n", res.Turns, res.Usage.Prompt, res.Usage.Completion)
	// Output:
	// sunny in Oslo
	// It is sunny.
	// 2 turns, 40 tokens in, 10 out
}

// A hook stops a run that uses more tokens than it may.
func Example_budget() {
	const most = 30
	used := 0
	budget := func(_ context.Context, m agent.Moment) (agent.Reply, error) {
		if post, ok := m.(agent.PostLlmCall); ok && post.Usage != nil {
			used += post.Usage.Prompt + post.Usage.Completion
		}
		if used > most {
			return agent.Terminate(fmt.Sprintf("%d tokens are enough", used)), nil
		}
		return agent.Continue, nil
	}
	rt := agent.New(agent.Options{
		Model: &parrot{answers: []model.Message{calls("weather", `{"city":"Oslo"}`), calls("weather", `{"city":"Rome"}`), says("Sunny.")}},
		Tools: tools.NewRegistry(weather{}),
		Mode:  action.ModeAll,
		Hooks: []agent.Hook{budget},
	})
	res, err := rt.RunText(context.Background(), "Where is it sunny?")
	fmt.Println(res.Outcome, err)
	// Output:
	// failed terminated by a hook: 50 tokens are enough
}
