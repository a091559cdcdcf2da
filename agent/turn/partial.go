package turn

import (
	"context"
	"fmt"
	"time"

	"buddy/agent/decision"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/redact"
)

// checkpointEvery is the least time between two checkpoints.
const checkpointEvery = time.Second

// partial holds an answer while it streams.
type partial struct {
	loop            *Loop
	ctx             context.Context // ends with the exchange
	model           model.Model
	answers         model.Info // the model that answers, which a fallback changes
	x               *Exchange
	turn            int
	again           bool   // an earlier attempt had an unusable answer
	batch           *batch // runs the calls that are complete
	text, reasoning growing
	call            callStream         // arguments of the call that is streaming
	field           string             // name of the provider's field for the reasoning
	earlier         event.ModelMessage // the longest text of a failed attempt
	first           time.Time          // when the first part of the answer arrived
	saved           time.Time          // time of the last checkpoint
	done            *model.Delta
}

// callStream hides known keys in the streamed arguments of a call.
type callStream struct {
	redact.KeyStream
	id string // of the call
}

// growing collects streamed text without known keys, and remembers how much of it is in a checkpoint.
type growing struct {
	redact.KeyStream
	buf     []byte
	saved   int
	repeats repeats
}

// add appends the next piece and returns the part that can be shown.
func (g *growing) add(s string) string {
	s = g.Write(s)
	g.buf = append(g.buf, s...)
	return s
}

// end appends the text that was held back, and returns it.
func (g *growing) end() string {
	s := g.Flush()
	g.buf = append(g.buf, s...)
	return s
}

func (g *growing) String() string { return string(g.buf) }

// tail returns at most the last n+1 bytes; n+1 bytes mean that the text is longer than n.
func (g *growing) tail(n int) string { return string(g.buf[max(0, len(g.buf)-n-1):]) }

// unsaved returns the text since unsaved was last called, and its offset.
func (g *growing) unsaved() (text string, at int) {
	text, at = string(g.buf[g.saved:]), g.saved
	g.saved = len(g.buf)
	return text, at
}

// read consumes the whole stream of an answer.
func (p *partial) read(req model.Request) error {
	ctx := p.ctx
	for d, err := range p.model.Stream(ctx, req) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if err := p.ends(d); err != nil {
			return err
		}
		if p.consume(d); p.text.repeatsItself(p.loop.o.MaxRepeats) || p.reasoning.repeatsItself(p.loop.o.MaxRepeats) {
			return errRepeats
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.done == nil || p.done.Message == nil:
		return fmt.Errorf("model %q: the answer ended before it was complete", p.model.Info().Model)
	}
	return nil
}

func (p *partial) publish(e event.Event) { p.loop.p.Stream.Publish(p.x.task, p.turn, e) }

func (p *partial) showText(text string) {
	if text != "" {
		p.publish(event.TextDelta{Text: text})
	}
}

func (p *partial) showReasoning(text string) {
	if text != "" {
		p.publish(event.ReasoningDelta{Field: p.field, Text: text})
	}
}

func (p *partial) consume(d model.Delta) {
	switch d.Kind {
	case model.Text, model.Reasoning, model.CallDelta, model.CallReady:
		if p.first.IsZero() {
			p.first = p.loop.o.Now()
		}
	}
	switch d.Kind {
	case model.Text:
		p.showReasoning(p.reasoning.end())
		p.showText(p.text.add(d.Text))
	case model.Reasoning:
		p.field = d.Field
		p.showReasoning(p.reasoning.add(d.Text))
	case model.CallDelta:
		if p.call.id != d.CallID {
			p.call = callStream{p.loop.p.Stream.Keys().Stream(), d.CallID}
		}
		p.publish(event.CallDelta{CallID: d.CallID, Text: p.call.Write(d.Text)})
	case model.CallReady:
		if d.Call != nil {
			p.checkpoint() // a replay must show the text before the call that follows it
			p.batch.offer(&waiting{asked: *d.Call, text: p.text.String(), said: decision.Output{
				Text: p.text.tail(decision.MaxRead), Reasoning: p.reasoning.tail(decision.MaxRead),
			}})
		}
	case model.Done:
		p.showReasoning(p.reasoning.end())
		p.showText(p.text.end())
		p.done = &d
	default:
		p.note(d)
	}
	if p.loop.o.Now().Sub(p.saved) >= checkpointEvery {
		p.checkpoint()
	}
}

// brokenOff is the error of an attempt that may not be retried, because some of its calls have started.
type brokenOff struct{ why string }

// Error describes what happened.
func (e *brokenOff) Error() string { return "the answer broke off: " + e.why }

// ends returns an error if d starts another attempt although calls of the current attempt have started.
func (p *partial) ends(d model.Delta) error {
	if d.Kind != model.Retry && d.Kind != model.Fallback || !storedEarly(p.batch) {
		return nil
	}
	if d.Kind == model.Retry {
		return &brokenOff{d.Retry.Fault.Error()}
	}
	p.fallBack(d.Fallback)
	return &brokenOff{d.Fallback.Why}
}

func (p *partial) fallBack(n *model.FallbackNotice) {
	p.answers = n.To
	fallBack(p.loop, p.x, n)
	p.publish(event.ModelFallback{From: n.From.Profile, To: n.To.Profile, Model: n.To.Model, Why: n.Why, Detail: n.Detail, Raw: n.Raw})
}

// note handles the deltas about the request, which are not part of its answer.
func (p *partial) note(d model.Delta) {
	switch d.Kind {
	case model.Alive:
		p.publish(event.ModelAlive{})
	case model.Reading:
		p.publish(event.ModelReading(*d.Prompt))
	case model.Stalled:
		p.publish(event.ModelStalled{TimeoutMS: d.Stall.TimeoutMS})
	case model.Fallback:
		p.forget()
		p.fallBack(d.Fallback)
	case model.Healed:
		p.loop.p.Selection.Learn(*d.Needs)
		if p.loop.o.Learnt != nil {
			p.loop.o.Learnt(*d.Needs)
		}
		if model.TextOnly(d.Needs.Remedies) {
			p.loop.n.pictures.Store(true) // the event warns about it
		}
		p.publish(event.ContextHealed(*d.Needs))
	case model.Retry:
		p.forget()
		now := d.Retry.Now
		p.x.retry.Store(&now)
		fault := d.Retry.Fault
		p.publish(event.ModelRetry{
			Attempt: d.Retry.Attempt, Of: d.Retry.Of, WaitMS: d.Retry.WaitMS, Why: fault.Error(), Short: fault.Short(), Raw: fault.Raw(),
		})
	}
}

func (p *partial) attempt() event.ModelMessage {
	p.text.end()
	p.reasoning.end()
	return event.ModelMessage{Message: model.Message{Content: p.text.String()}, Reasoning: p.reasoning.String()}
}

// forget drops the text and the calls of a failed attempt, so that the next attempt starts empty. The text is kept in
// earlier if it is the longest so far.
func (p *partial) forget() {
	p.earlier = record.Longer(p.earlier, p.attempt())
	p.batch.drop()
	p.batch = p.loop.newBatch(p.ctx, p.x, p.turn)
	p.first = time.Time{}
	p.reset()
}

func (p *partial) reset() {
	keys := p.loop.p.Stream.Keys()
	p.text, p.reasoning = growing{KeyStream: keys.Stream()}, growing{KeyStream: keys.Stream()}
}

// checkpoint publishes the text since the last checkpoint, so that it survives a crash.
func (p *partial) checkpoint() {
	p.saved = p.loop.o.Now()
	c := event.Checkpoint{}
	c.Text, c.TextAt = p.text.unsaved()
	c.Reasoning, c.ReasoningAt = p.reasoning.unsaved()
	if c.Text+c.Reasoning != "" {
		p.publish(c)
	}
}
