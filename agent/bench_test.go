package agent

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/agent/subagents"
	"buddy/extensions"
	"buddy/extensions/frontmatter"
	"buddy/extensions/subagent"
	"buddy/tools"
	"buddy/tools/basic"
)

// endless is a model that calls a tool in each answer.
type endless struct{ n int }

func (*endless) Info() model.Info { return model.Info{Model: "endless", Window: 1 << 40} }

func (c *endless) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	c.n++
	m := model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: fmt.Sprint("c", c.n), Name: "do", Arguments: `{"kind":"file_read"}`}}}
	return func(yield func(model.Delta, error) bool) {
		yield(model.Delta{Kind: model.Done, Message: &m, Usage: &model.Usage{Prompt: 100, Completion: 10}}, nil)
	}
}

// BenchmarkToolTurn measures the loop's own time for one turn with a tool, early and late in an exchange: it must not
// grow.
func BenchmarkToolTurn(b *testing.B) {
	for _, after := range []int{10, 2000} {
		b.Run(fmt.Sprint("after", after), func(b *testing.B) {
			b.ReportAllocs()
			r := New(Options{Model: &endless{}, Tools: tools.NewRegistry(&fakeTool{}), Mode: action.ModeAll})
			events := r.Subscribe(b.Context())
			go func() {
				for range events {
				}
			}()
			ctx, t, err := r.tasks.begin(b.Context(), &model.Message{Content: "go"})
			if err != nil {
				b.Fatal(err)
			}
			turn := func() {
				if outcome, err := r.tasks.loop.Step(ctx, t.x); outcome != "" {
					b.Fatal(outcome, err)
				}
			}
			for range after {
				turn()
			}
			for b.Loop() {
				turn()
			}
			b.StopTimer()
			_, _ = r.tasks.end(ctx, t, event.Cancelled, nil)
			_ = r.Close(b.Context())
		})
	}
}

// BenchmarkAgents measures the memory of a hundred working subagents without their text, and after they have ended.
func BenchmarkAgents(b *testing.B) {
	const agents = 100
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	for b.Loop() {
		scripts := map[string][]step{}
		var calls []string
		for i := range agents {
			who := fmt.Sprintf("n%d", i)
			calls = append(calls, callsAgent(who, "worker", who, ""))
			scripts[who] = []step{says("", aCall), says("", `c2 do {"kind":"shell","do":"echo"}`), says("end")}
		}
		scripts["main"] = []step{says("", calls...), says("done")}
		m := &byAgent{scripts: scripts, requests: make(map[string][]model.Request)}
		block, err := frontmatter.Parse([]byte(worker))
		if err != nil {
			b.Fatal(err)
		}
		defs, _ := subagent.All([]extensions.Item{{Kind: extensions.Agent, File: "w.md", Block: block}})
		o := Options{Model: m, Tools: tools.NewRegistry(&fakeTool{}, basic.NewAgent()), MaxParallel: agents, Agents: Agents{
			Read:   func(context.Context) (subagents.Set, error) { return subagents.Set{Agents: defs}, nil },
			System: func(text string) string { return "SUB " + text },
			Limits: settings.Agents{AtOnce: agents},
		}}
		o.Policy.Workspace = "/w"
		r := New(o)
		asked := make(chan struct{}, agents)
		ended := make(chan struct{})
		r.Observe(func(env event.Envelope) {
			switch p := env.Payload.(type) {
			case event.ApprovalAsked:
				asked <- struct{}{}
			case event.TaskFinished:
				if p.ID == 1 {
					close(ended)
				}
			}
		})
		r.Start()
		before := heap()
		r.Send(event.Submit{Text: "go"})
		for range agents {
			<-asked
		}
		working := heap()
		r.Send(event.SetMode{Mode: action.ModeAll})
		<-ended
		after := heap()
		b.ReportMetric(float64(working-before)/agents/1024, "KB/working-agent")
		b.ReportMetric(float64(after-min(after, before))/agents/1024, "KB/ended-agent")
		if err := r.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
