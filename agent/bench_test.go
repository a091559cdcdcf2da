package agent

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// endless is a model that calls a tool in every answer.
type endless struct{ n int }

func (*endless) Info() model.Info { return model.Info{Model: "endless", Window: 1 << 40} }

func (c *endless) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	c.n++
	m := model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: fmt.Sprint("c", c.n), Name: "do", Arguments: `{"kind":"file_read"}`}}}
	return func(yield func(model.Delta, error) bool) {
		yield(model.Delta{Kind: model.Done, Message: &m, Usage: &model.Usage{Prompt: 100, Completion: 10}}, nil)
	}
}

// BenchmarkToolTurn is what the loop costs for one turn with a tool, without the model's
// and the tool's time, early and late in an exchange: it must not grow.
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
