package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/decision"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/redact"
	"buddy/agent/stream"
	"buddy/agent/usage"
)

// What is wrong with an answer that came whole.
var (
	// ErrCutOff means that an answer was longer than the model's output limit.
	ErrCutOff = errors.New("the answer was cut off at the model's output limit; ask the model to continue, or ask for less")

	// errFull means that an answer was cut off since the model's window is full.
	errFull = &model.Error{Kind: model.ContextError, What: "the answer was cut off because the model's context window is full", Hint: "/compact shortens the conversation"}

	// errEmpty is an answer of neither text nor calls.
	errEmpty  = errors.New("the answer was empty")
	errNoCall = errors.New("the answer stopped to call a tool and called none")
)

// maxNudges limits how often a model is asked again in one turn, because its answer was cut off. One that
// has nothing to say, or repeats itself, is asked once more: after that it is its answer.
const maxNudges = 3

// nudge returns what a model is told, and nobody else, after an answer that is not one: it
// is in no history. "" means that asking again would not help.
func nudge(err error) string {
	switch {
	case errors.Is(err, errNoCall):
		return "You stopped to call a tool, but no call arrived. Call it now, or give your answer."
	case errors.Is(err, errRepeats):
		return "Your last answer kept repeating the same text, so it was cut off. Answer now, briefly, and repeat nothing."
	case errors.Is(err, errEmpty):
		return "Your last answer was empty. Answer now, or call a tool."
	case errors.Is(err, ErrCutOff):
		return "Your last answer was cut off at the output limit. Continue exactly where it stopped and repeat nothing. " +
			"Tool calls in it did not run: make them again, with less in each."
	}
	return ""
}

// answer holds what a model said.
type answer struct {
	message model.Message
	calls   []model.ToolCall
	batch   *batch // of the calls
	finish  string
	usage   *model.Usage
}

// ask sends the history until there is an answer that can be used, a few times at most.
func (l *Loop) ask(ctx context.Context, x *Exchange, turn int) (a answer, err error) {
	hint := ""
	if x.talk.BrokenOff() {
		hint = brokeOff
	}
	for attempt := 1; ; attempt++ {
		if !errors.Is(err, ErrCutOff) {
			x.response = ""
		}
		repeated := errors.Is(err, errRepeats)
		a, err = l.request(ctx, x, turn, attempt, hint)
		if hint = nudge(err); hint == "" || attempt > maxNudges || repeated && errors.Is(err, errRepeats) {
			return a, err
		}
		if errors.Is(err, errRepeats) {
			l.p.Stream.Publish(x.task, turn, event.Warning{
				Text: "the answer repeated the same text, so buddy cut it off and is asking the model again", Code: "repeats",
				NextStep: "max_repeats in [agent] changes the limit",
			})
		}
	}
}

// ofTheMoment adds to a request what is of this request only: how things stand now, before the person's words if the
// history ends with them, and as the last message a hint of what was wrong with the last answer.
func ofTheMoment(req *model.Request, now []model.Message, hint string) {
	stays := len(req.Messages)
	if len(now) > 0 {
		stays = history.Words(req.Messages)
		req.Ephemeral = len(req.Messages) - stays
	}
	if hint != "" {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Kind: model.Reminder, Content: hint})
		req.Ephemeral++
	}
	req.Messages = slices.Insert(req.Messages, stays, now...)
	req.Ephemeral += len(now)
	for _, m := range now {
		req.Tokens += len(m.Content) / history.CharsPerToken
	}
	req.Tokens += len(hint) / history.CharsPerToken
}

// brokeOff tells a model that its answer is not whole.
const brokeOff = "Your last answer was interrupted. Continue exactly where it stopped and repeat nothing."

// request sends the history once and stores what comes back. When the stream ends early
// the text so far is kept, that of the attempt which said most, and no call of it.
func (l *Loop) request(ctx context.Context, x *Exchange, turn, attempt int, hint string) (answer, error) {
	req := model.Request{Tools: l.p.Selection.Tools().Definitions(), Breakpoints: l.o.Breakpoints, Needs: l.p.Selection.Needs()}
	req.Messages, req.Tokens = x.talk.Request()
	ofTheMoment(&req, x.now, hint)
	p := &partial{loop: l, ctx: ctx, model: asked(l, x, turn, req), x: x, turn: turn, again: attempt > 1, saved: l.o.Now()}
	p.begin()
	p.answers = p.model.Info()
	l.tell(ctx, x, PreLlmCall{Request: req})
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	err := l.p.Stream.Record(x.task, turn, event.RequestStarted{
		Profile: p.answers.Profile, Model: p.answers.Model, Messages: len(req.Messages),
		Tools: len(req.Tools), EstimatedTokens: req.Tokens, Attempt: attempt,
	})
	if err != nil {
		return answer{}, err // the answer could not be stored
	}
	p.batch = l.newBatch(ctx, x, turn)
	began, good := p.saved, false
	defer func() {
		if !good { // or an adapter panics
			p.batch.drop()
		}
	}()
	if err := p.read(req); err != nil {
		kept := record.Longer(p.earlier, p.said())
		x.response += kept.Message.Content
		l.KeepPartial(x, turn, kept)
		return answer{}, err
	}
	p.tellPictures(req)
	a, err := p.keep()
	l.p.Stream.Publish(x.task, turn, finished(a, p.first.Sub(began), l.o.Now().Sub(began)))
	if good = err == nil; good {
		l.tell(ctx, x, PostLlmCall{Message: a.message, Finish: a.finish, Usage: a.usage})
	}
	if a.usage != nil && p.answers.Model == l.p.Selection.Model().Info().Model { // a fallback counts in other tokens
		x.talk.Calibrate(a.usage.Prompt)
	}
	l.p.Ledger.Request(usage.Asker{Task: x.task, Turn: turn, Used: &x.used}, p.answers, a.usage)
	return a, err
}

// tellPictures tells the person, once in a session, that the model was sent no pictures.
func (p *partial) tellPictures(req model.Request) {
	if p.answers.TextOnly && req.HasImages() && !p.loop.n.pictures.Swap(true) {
		p.publish(event.Warning{
			Text: p.answers.Model + " doesn't accept pictures: buddy leaves out those in the conversation", Code: "pictures",
			NextStep: "/model chooses a model that accepts pictures",
		})
	}
}

// finished closes a request; first is when something of the answer came, negative if
// nothing did.
func finished(a answer, first, took time.Duration) event.ResponseFinished {
	f := event.ResponseFinished{
		FinishReason: a.finish, Calls: len(a.calls), FirstMS: max(0, first.Milliseconds()), PhaseMS: took.Milliseconds(),
	}
	if a.usage == nil {
		return f
	}
	f.Tokens, f.CachedTokens, f.Cache = a.usage.Completion, a.usage.Cached, event.CacheMiss
	if f.CachedTokens > 0 {
		f.Cache = event.CacheHit
	}
	return f
}

// keep stores a whole answer. An error says why it is not one that can be used.
func (p *partial) keep() (answer, error) {
	said := *p.done.Message
	p.batch.said = decision.Said{Text: said.Content, Reasoning: p.reasoning.String()}
	a := answer{batch: p.batch, finish: p.done.Finish, usage: p.done.Usage}
	err := unfit(said, p.finish(), p.done.Refusal)
	if p.again && (errors.Is(err, errEmpty) || errors.Is(err, errNoCall)) {
		p.publish(event.Warning{Text: err.Error(), Code: "empty_answer", NextStep: "ask again in other words"})
		err = nil
	}
	if err != nil {
		said.ToolCalls = nil // what is left of them must not run
	} else {
		said.ToolCalls = p.batch.identify(said.ToolCalls)
	}
	if !p.x.talk.Store(p.x.task, p.turn, said, p.reasoning.String(), err != nil) && err == nil && !p.again {
		err = errEmpty
	}
	if err == nil && len(said.ToolCalls) == 0 && !known(a.finish) && p.loop.n.strange(a.finish) {
		p.publish(event.Warning{
			Text: fmt.Sprintf("unexpected finish reason %.100q", a.finish), Code: "finish_reason",
			NextStep: "the answer is kept; check whether it is complete",
		})
	}
	a.message, a.calls = said, asWritten(p.x.talk.Open(), said.ToolCalls)
	p.x.response += said.Content
	return a, err
}

// asWritten returns open calls as the model wrote them: the conversation hides known keys.
func asWritten(open, written []model.ToolCall) []model.ToolCall {
	for i, c := range open {
		for _, w := range written {
			if w.ID == c.ID {
				open[i].Arguments = w.Arguments
			}
		}
	}
	return open
}

// finish returns why the answer ended. One that fills the window to its end has not met
// the limit of its output, whatever a server calls it.
func (p *partial) finish() string {
	u, window := p.done.Usage, p.answers.Window
	if p.done.Finish == model.FinishLength && u != nil && window > 0 && u.Prompt+u.Completion >= window {
		return model.FinishContext
	}
	return p.done.Finish
}

// known reports whether a finish reason has a meaning here; none at all is a plain end.
func known(finish string) bool {
	switch finish {
	case "", model.FinishStop, model.FinishToolCalls, model.FinishLength, model.FinishContentFilter, model.FinishContext, model.FinishCompaction:
		return true
	}
	return false
}

// unfit returns why an answer is not one that can be used, or nil. refusal is what the provider says of
// one that it stopped.
func unfit(m model.Message, finish, refusal string) error {
	switch {
	case finish == model.FinishLength:
		return ErrCutOff
	case finish == model.FinishContext:
		return errFull
	case finish == model.FinishContentFilter:
		if refusal != "" {
			return fmt.Errorf("%w: %s", errFiltered, refusal)
		}
		return errFiltered
	case len(m.ToolCalls) > 0:
		return nil
	case strings.TrimSpace(m.Content) == "":
		return errEmpty
	case finish == model.FinishToolCalls:
		return errNoCall
	}
	return nil
}

// uniqueID returns id, or another one when a call of the session has it: providers
// reuse them, and some send none.
func (l *Loop) uniqueID(x *Exchange, id string) string {
	n := l.n.calls.Add(1)
	x.mu.Lock()
	defer x.mu.Unlock()
	if id == "" || x.talk.Called(id) || x.ids[id] {
		id = fmt.Sprintf("call_%d_%s", n, stream.NewID())
	}
	x.ids[id] = true
	return id
}

// checkpointEvery is the least time between two checkpoints.
const checkpointEvery = time.Second

// partial is an answer while it streams.
type partial struct {
	loop            *Loop
	ctx             context.Context // of the exchange
	model           model.Model
	answers         model.Info // who does, which a fallback changes
	x               *Exchange
	turn            int
	again           bool   // it was asked again, since its answer was none
	batch           *batch // of the calls that are complete
	text, reasoning growing
	call            saying             // the arguments of the call that is written now
	field           string             // of the reasoning
	earlier         event.ModelMessage // the longest text of a failed attempt
	first           time.Time          // when something of the answer came
	saved           time.Time          // of the last checkpoint
	done            *model.Delta
}

// saying hides known keys in what a model says piece by piece.
type saying struct {
	redact.KeyStream
	id string // of the call
}

// growing is text without known keys, of which a part is in a checkpoint.
type growing struct {
	redact.KeyStream
	buf     []byte
	saved   int
	repeats repeats
}

// add takes the next piece and returns what of it can be shown.
func (g *growing) add(s string) string {
	s = g.Write(s)
	g.buf = append(g.buf, s...)
	return s
}

// end adds what was held back, and returns it.
func (g *growing) end() string {
	s := g.Flush()
	g.buf = append(g.buf, s...)
	return s
}

func (g *growing) String() string { return string(g.buf) }

// tail returns the last n bytes of it and one more, which shows that there are others.
func (g *growing) tail(n int) string { return string(g.buf[max(0, len(g.buf)-n-1):]) }

// unsaved returns what came since the last call, and where it starts.
func (g *growing) unsaved() (text string, at int) {
	text, at = string(g.buf[g.saved:]), g.saved
	g.saved = len(g.buf)
	return text, at
}

// read takes the whole stream of an answer.
func (p *partial) read(req model.Request) error {
	ctx := p.ctx
	for d, err := range p.model.Stream(ctx, req) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if p.take(d); p.text.repeatsItself(p.loop.o.MaxRepeats) || p.reasoning.repeatsItself(p.loop.o.MaxRepeats) {
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

func (p *partial) take(d model.Delta) {
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
			p.call = saying{p.loop.p.Stream.Keys().Stream(), d.CallID}
		}
		p.publish(event.CallDelta{CallID: d.CallID, Text: p.call.Write(d.Text)})
	case model.CallReady:
		if d.Call != nil {
			p.batch.said = decision.Said{Text: p.text.tail(decision.MaxRead), Reasoning: p.reasoning.tail(decision.MaxRead)}
			// A replay must show what was said before the call above it.
			p.batch.offer(*d.Call, p.checkpoint)
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

// note takes what is about the request, and no part of its answer.
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
		from, to := d.Fallback.From, d.Fallback.To
		p.answers = to
		p.x.fallBack(d.Fallback, p.loop.o.Durable)
		p.publish(event.ModelFallback{From: from.Profile, To: to.Profile, Model: to.Model, Why: d.Fallback.Why, Detail: d.Fallback.Detail, Raw: d.Fallback.Raw})
	case model.Healed:
		p.loop.p.Selection.Learn(*d.Needs)
		if p.loop.o.Learnt != nil {
			p.loop.o.Learnt(*d.Needs)
		}
		if model.TextOnly(d.Needs.Remedies) {
			p.loop.n.pictures.Store(true) // the event says it
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

// said returns the text of this attempt.
func (p *partial) said() event.ModelMessage {
	p.text.end()
	p.reasoning.end()
	return event.ModelMessage{Message: model.Message{Content: p.text.String()}, Reasoning: p.reasoning.String()}
}

// forget drops what a failed attempt said and started: it is not part of the next one. Its text is only wanted if no
// attempt gets further.
func (p *partial) forget() {
	p.earlier = record.Longer(p.earlier, p.said())
	p.batch.drop()
	p.batch = p.loop.newBatch(p.ctx, p.x, p.turn)
	p.first = time.Time{}
	p.begin()
}

// begin begins the texts of an attempt.
func (p *partial) begin() {
	keys := p.loop.p.Stream.Keys()
	p.text, p.reasoning = growing{KeyStream: keys.Stream()}, growing{KeyStream: keys.Stream()}
}

// checkpoint makes durable what came since the last one.
func (p *partial) checkpoint() {
	p.saved = p.loop.o.Now()
	c := event.Checkpoint{}
	c.Text, c.TextAt = p.text.unsaved()
	c.Reasoning, c.ReasoningAt = p.reasoning.unsaved()
	if c.Text+c.Reasoning != "" {
		p.publish(c)
	}
}
