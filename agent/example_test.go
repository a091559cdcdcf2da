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
	"buddy/agent/settings"
	"buddy/agent/turn"
	"buddy/tools"
)

// parrot is a model for the examples: it returns prepared answers.
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

// weather is a custom tool.
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

// Parallel reports true: the tool has no side effects, so it may run in parallel.
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
	// I am buddy's built-in demo
	// completed 1 2
}

// Ask with a whole message, and distinguish the reasons for a missing answer.
func ExampleRuntime_Run() {
	rt := agent.New(agent.Options{
		Model:  &parrot{answers: []model.Message{calls("weather", `{"city":"Rome"}`), calls("weather", `{"city":"Oslo"}`)}},
		Tools:  tools.NewRegistry(weather{}),
		Mode:   action.ModeAll,
		Limits: settings.Limits{MaxIterations: 2},
	})
	res, err := rt.Run(context.Background(), model.Message{Role: model.User, Content: "Where is it sunny?"})
	switch {
	case errors.Is(err, agent.ErrMaxTurns):
		fmt.Printf("stopped after %d turns: %v\n", res.Turns, err)
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(res.Response)
	}
	// Output:
	// stopped after 2 turns: max agentic loop iterations reached (2)
}

// Talk with a person: commands go in, events come out, and calls that need approval wait for an answer.
func ExampleRuntime_Start() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rt := agent.New(agent.Options{
		Model: &parrot{answers: []model.Message{calls("weather", `{"city":"Rome"}`), says("Take a hat.")}},
		Tools: tools.NewRegistry(weather{}),
	})
	events := rt.Subscribe(ctx) // before Start, to miss nothing
	rt.Start()
	rt.Send(event.Submit{Text: "I go to Rome. What do I need?"})
	for env := range events {
		switch e := env.Payload.(type) {
		case event.ApprovalAsked:
			fmt.Println("may it run?", e.Action.Tool, e.Action.Preview)
			rt.Send(event.AnswerApproval{ID: e.ID, Decision: event.Once})
		case event.ToolResult:
			fmt.Println(e.Result)
		case event.ModelMessage:
			fmt.Print(e.Message.Content)
		case event.TaskFinished:
			fmt.Println("\n" + string(e.Outcome))
			cancel() // closes events
		}
	}
	if err := rt.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// may it run? weather Rome
	// sunny in Rome
	// Take a hat.
	// completed
}

// Show an answer while it streams. Ending ctx stops it.
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

// Run turn by turn, with a message in between.
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

// A custom tool has three methods. The policy does not know what it does, so it needs approval or mode all.
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

// A hook stops a run that uses too many tokens.
func Example_budget() {
	const most = 30
	used := 0
	budget := func(_ context.Context, m turn.Moment) (turn.Reply, error) {
		if post, ok := m.(turn.PostLlmCall); ok && post.Usage != nil {
			used += post.Usage.Prompt + post.Usage.Completion
		}
		if used > most {
			return turn.Terminate(fmt.Sprintf("%d tokens are enough", used)), nil
		}
		return turn.Continue, nil
	}
	rt := agent.New(agent.Options{
		Model:    &parrot{answers: []model.Message{calls("weather", `{"city":"Oslo"}`), calls("weather", `{"city":"Rome"}`), says("Sunny.")}},
		Tools:    tools.NewRegistry(weather{}),
		Mode:     action.ModeAll,
		Features: turn.Features{Hooks: []turn.Hook{budget}},
	})
	res, err := rt.RunText(context.Background(), "Where is it sunny?")
	fmt.Println(res.Outcome, err)
	// Output:
	// failed terminated by a hook: 50 tokens are enough
}

// A hook replaces the result of a tool, before approval.
func Example_hook() {
	only := func(_ context.Context, m turn.Moment) (turn.Reply, error) {
		if pre, ok := m.(turn.PreToolExecution); ok && !strings.Contains(pre.Call.Arguments, "Rome") {
			return turn.Skip("only Rome is known"), nil
		}
		return turn.Continue, nil
	}
	rt := agent.New(agent.Options{
		Model:    &parrot{answers: []model.Message{calls("weather", `{"city":"Oslo"}`), says("I can't say.")}},
		Tools:    tools.NewRegistry(weather{}),
		Mode:     action.ModeAll,
		Features: turn.Features{Hooks: []turn.Hook{only}},
	})
	res, err := rt.RunText(context.Background(), "How is the weather in Oslo?")
	fmt.Println(res.Messages[2].Content)
	fmt.Println(res.Response, err)
	// Output:
	// Tool call skipped: only Rome is known
	// I can't say. <nil>
}

// memory is a Durable that keeps results in memory; a durable execution engine would store them.
type memory struct {
	answers [][]model.Delta
	results map[string]tools.Result
	asked   int // answers requested in this run
}

// LLMCall returns a recorded answer, or records a new one.
func (r *memory) LLMCall(ctx context.Context, _ model.Request, call func(context.Context) iter.Seq2[model.Delta, error]) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		n := r.asked
		r.asked++
		if n < len(r.answers) {
			for _, d := range r.answers[n] {
				if !yield(d, nil) {
					return
				}
			}
			return
		}
		fmt.Println("the model is asked")
		var all []model.Delta
		for d, err := range call(ctx) {
			if !yield(d, err) || err != nil {
				return // interrupted answers are not recorded
			}
			all = append(all, d)
		}
		r.answers = append(r.answers, all)
	}
}

// ToolCall returns a recorded result, or runs the tool.
func (r *memory) ToolCall(ctx context.Context, c tools.Call, run func(context.Context) tools.Result) tools.Result {
	res, known := r.results[c.ID]
	if !known {
		fmt.Println("the tool runs")
		res = run(ctx)
		r.results[c.ID] = res
	}
	return res
}

// A run that ended in the middle is repeated; recorded results are not requested again.
func Example_durable() {
	rec := &memory{results: make(map[string]tools.Result)}
	run := func(answers ...model.Message) {
		rec.asked = 0
		rt := agent.New(agent.Options{
			Model: &parrot{answers: answers}, Tools: tools.NewRegistry(weather{}), Mode: action.ModeAll, Features: turn.Features{Durable: rec}, // one call at a time
		})
		res, err := rt.RunText(context.Background(), "How is the weather in Oslo?")
		fmt.Printf("%s: %q %v\n", res.Outcome, res.Response, err)
	}
	run(calls("weather", `{"city":"Oslo"}`)) // the connection breaks after one answer
	run(says("It is sunny."))
	// Output:
	// the model is asked
	// the tool runs
	// the model is asked
	// failed: "" nothing left to say
	// the model is asked
	// completed: "It is sunny." <nil>
}
