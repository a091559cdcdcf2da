package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"maps"
	"net"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

const (
	scope     = "buddy/telemetry"
	maxSeries = 1000 // combinations of attributes of each metric; the SDK adds up the others
	maxPause  = time.Minute
)

// sender sends what a follower reads.
type sender struct {
	from      *follower
	resource  *resource.Resource
	traces    *otlptrace.Exporter
	metrics   *sdk.MeterProvider
	record    instruments
	held      *batch    // not accepted yet
	heldAt    positions // before held was read
	more      bool      // held filled up, and more follows
	pause     time.Duration
	next      time.Time // when held is sent again
	dropped   int       // spans
	complaint string    // the latest error, which is reported once
}

func newSender(ctx context.Context, from *follower) (*sender, error) {
	r, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", "buddy")), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	// The exporter would also repeat requests that timed out, which may have been accepted.
	traces, err := otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return nil, err
	}
	exporter, err := otlpmetrichttp.New(ctx) // repeats sums and histograms, which replace the earlier ones
	if err != nil {
		return nil, err
	}
	p := sdk.NewMeterProvider(sdk.WithResource(r), sdk.WithReader(sdk.NewPeriodicReader(exporter)), sdk.WithCardinalityLimit(maxSeries))
	record, err := newInstruments(p.Meter(scope))
	return &sender{from: from, resource: r, traces: traces, metrics: p, record: record}, err
}

// round sends everything that is new, until the collector can't take it.
func (s *sender) round(ctx context.Context) {
	for ctx.Err() == nil {
		if s.held == nil {
			s.heldAt = s.from.positions
			s.heldAt.Sessions = maps.Clone(s.from.Sessions)
			b, more, err := s.from.read()
			s.complain(err)
			if len(b.spans)+len(b.measured) == 0 && !more {
				return
			}
			s.held, s.more = b, more
		}
		if time.Now().Before(s.next) || !s.send() || !s.more {
			return
		}
	}
}

// send sends the held batch and reports whether it is done with it. The positions are stored before, so that nothing
// is sent twice. They are set back if the batch certainly didn't arrive.
func (s *sender) send() (done bool) {
	ctx := context.Background() // a request has its own limit of 10 s
	if err := s.from.save(s.from.positions); err != nil {
		s.complain(err)
		return false
	}
	for i := range s.held.spans {
		s.held.spans[i].Resource, s.held.spans[i].InstrumentationScope = s.resource, instrumentation.Scope{Name: scope}
	}
	err := s.traces.ExportSpans(ctx, s.held.spans.Snapshots())
	if err != nil && notAccepted(err) {
		s.pause = min(max(2*s.pause, interval), maxPause)
		s.next = time.Now().Add(s.pause)
		s.complain(errors.Join(err, s.from.save(s.heldAt)))
		return false
	}
	if err != nil {
		s.dropped += len(s.held.spans)
		s.complaint = "" // each loss is reported
		s.complain(err)
		log.Printf("lost up to %d spans, %d in all", len(s.held.spans), s.dropped)
	} else if s.pause > 0 {
		log.Print("the collector accepts spans again")
	}
	for _, m := range s.held.measured {
		s.record[m.of](ctx, m.value, metric.WithAttributeSet(m.attributes))
	}
	s.held, s.pause, s.next = nil, 0, time.Time{}
	return true
}

// notAccepted reports whether the collector certainly has no span of a failed request: nothing was sent, or it answered
// 429, 502, 503 or 504. Any other answer is final by the protocol, and after a broken connection nobody knows.
func notAccepted(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		return dial.Op == "dial"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, broken := errors.AsType[*url.Error](err)
	return !broken && strings.Contains(err.Error(), "retry-able request failure")
}

// complain reports an error, unless it was the latest one.
func (s *sender) complain(err error) {
	if err != nil && err.Error() != s.complaint {
		s.complaint = err.Error()
		log.Print(s.complaint)
	}
}

// close sends the metrics for the last time.
func (s *sender) close() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := errors.Join(s.metrics.Shutdown(ctx), s.traces.Shutdown(ctx)); err != nil {
		log.Printf("the last metrics were not sent: %v", err)
	}
}
