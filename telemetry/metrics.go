package main

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// batch holds what is sent at once.
type batch struct {
	spans    tracetest.SpanStubs
	measured []measurement
}

// measurement is one value of a metric.
type measurement struct {
	of         kind
	value      float64
	attributes attribute.Set
}

// kind is one of the metrics.
type kind int

const (
	tokenUsage kind = iota
	chatDuration
	agentDuration
	toolDuration
	cost
)

// durations are the buckets that the conventions recommend for requests and tools, in seconds.
var durations = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}

// measure adds a value; failure is as in session.end.
func (b *batch) measure(of kind, value float64, failure string, attributes ...attribute.KeyValue) {
	if failure != "" {
		attributes = append(attributes, attribute.String("error.type", failure))
	}
	b.measured = append(b.measured, measurement{of, value, attribute.NewSet(attributes...)})
}

// instruments holds the function that records each kind.
type instruments map[kind]func(context.Context, float64, metric.MeasurementOption)

// newInstruments creates the metrics. cost is buddy's own: the conventions have none.
func newInstruments(m metric.Meter) (instruments, error) {
	all := make(instruments)
	for of, h := range map[kind]struct {
		name, unit, text string
		buckets          []float64
	}{
		tokenUsage:    {"gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}},
		chatDuration:  {"gen_ai.client.operation.duration", "s", "Duration of a request to a model.", durations},
		agentDuration: {"gen_ai.invoke_agent.duration", "s", "Duration of an exchange or of a subagent's work.", []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}},
		toolDuration:  {"gen_ai.execute_tool.duration", "s", "Duration of a tool call.", durations},
	} {
		histogram, err := m.Float64Histogram(h.name, metric.WithUnit(h.unit), metric.WithDescription(h.text), metric.WithExplicitBucketBoundaries(h.buckets...))
		if err != nil {
			return nil, err
		}
		all[of] = func(ctx context.Context, v float64, o metric.MeasurementOption) { histogram.Record(ctx, v, o) }
	}
	counter, err := m.Float64Counter("buddy.cost", metric.WithUnit("{USD}"), metric.WithDescription("Cost of requests whose price is known."))
	all[cost] = func(ctx context.Context, v float64, o metric.MeasurementOption) { counter.Add(ctx, v, o) }
	return all, err
}
