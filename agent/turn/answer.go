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
	"buddy/agent/stream"
	"buddy/agent/usage"
)

// Problems of an answer that arrived completely.
var (
	// ErrCutOff is returned when an answer is longer than the model's output limit.
	ErrCutOff = errors.New("the answer was cut off at the model's output limit; ask the model to continue, or ask for less")

	// errFull is returned when an answer was cut off because the model's context window is full.
	errFull = &model.Error{Kind: model.ContextError, What: "the answer was cut off because the model's context window is full", Hint: "/compact shortens the conversation"}

	// errEmpty is returned for an answer with neither text nor calls.
	errEmpty  = errors.New("the answer was empty")
	errNoCall = errors.New("the answer stopped to call a tool and called none")
)

// maxNudges limits how often one turn asks the model again after a cut-off answer. A model with an empty or
// repetitive answer is asked once more only; a second empty answer is accepted.
const maxNudges = 3

// nudge returns the hint that the model gets after an unusable answer. The hint goes into the next request only, not
// into the history. "" means that asking again would not help.
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

// answer holds a complete answer of the model.
type answer struct {
	message model.Message
	calls   []model.ToolCall
	batch   *batch // runs the calls
	finish  string
	usage   *model.Usage
	called  bool // it made calls, which may have results already: the exchange continues with them
}

// ask sends the history until there is a usable answer, a few times at most.
func (l *Loop) ask(ctx context.Context, x *Exchange, turn int) (a answer, err error) {
	hint := ""
	if x.conv.BrokenOff() {
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

// addEphemeral adds messages to one request only: the reminders in now, inserted before the person's prompt if the
// history ends with one, and at the end a hint about what was wrong with the last answer.
func addEphemeral(req *model.Request, now []model.Message, hint string) {
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

// brokeOff asks the model to continue an interrupted answer.
const brokeOff = "Your last answer was interrupted. Continue exactly where it stopped and repeat nothing."

// request sends the history once and stores the answer. When the stream ends early, the longest text of all attempts
// is kept, without its calls.
func (l *Loop) request(ctx context.Context, x *Exchange, turn, attempt int, hint string) (answer, error) {
	req := model.Request{Tools: l.p.Selection.Tools().Definitions(), Breakpoints: l.o.Breakpoints, NoCache: l.o.NoCache, Needs: l.p.Selection.Needs()}
	req.Messages, req.Tokens = x.conv.Request()
	addEphemeral(&req, x.now, hint)
	p := &partial{loop: l, ctx: ctx, model: asked(l, x, turn, req), x: x, turn: turn, again: attempt > 1, saved: l.o.Now()}
	p.reset()
	p.answers = p.model.Info()
	l.runHooks(ctx, x, PreLlmCall{Request: req})
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	err := l.p.Stream.Record(x.task, turn, event.RequestStarted{
		Profile: p.answers.Profile, Model: p.answers.Model, Messages: len(req.Messages),
		Tools: len(req.Tools), EstimatedTokens: req.Tokens, Attempt: attempt,
	})
	if err != nil {
		return answer{}, err // nothing is sent if the answer could not be stored
	}
	p.batch = l.newBatch(ctx, x, turn)
	began, good := p.saved, false
	defer func() {
		if !good { // also when an adapter panics
			p.batch.drop()
			if storedEarly(p.batch) {
				x.unsent = nil // the prompts are answered
			}
		}
	}()
	if err := p.read(req); err != nil {
		kept := record.Longer(p.earlier, p.attempt())
		x.response += kept.Message.Content
		l.KeepPartial(x, turn, kept)
		if fault, ok := errors.AsType[*brokenOff](err); ok {
			p.publish(event.Warning{Text: fault.Error(), Code: "broken_off", NextStep: "buddy continues with the results of the calls that ran"})
			return answer{batch: p.batch, called: true}, nil
		}
		return answer{}, err
	}
	p.warnPictures(req)
	a, err := p.keep()
	l.p.Stream.Publish(x.task, turn, finished(a, p.first.Sub(began), l.o.Now().Sub(began)))
	if good = err == nil; good {
		l.runHooks(ctx, x, PostLlmCall{Message: a.message, Finish: a.finish, Usage: a.usage})
	}
	if a.usage != nil && p.answers.Model == l.p.Selection.Model().Info().Model { // a fallback model counts other tokens
		x.conv.Calibrate(a.usage.Prompt)
	}
	l.p.Ledger.SetLimits(p.done.Limits)
	l.p.Ledger.Request(usage.Asker{Task: x.task, Turn: turn, Used: &x.used}, p.answers, a.usage)
	return a, err
}

// warnPictures warns the person, once in a session, that the model gets no pictures.
func (p *partial) warnPictures(req model.Request) {
	if p.answers.TextOnly && req.HasImages() && !p.loop.n.pictures.Swap(true) {
		p.publish(event.Warning{
			Text: p.answers.Model + " doesn't accept pictures: buddy leaves out those in the conversation", Code: "pictures",
			NextStep: "/model chooses a model that accepts pictures",
		})
	}
}

// finished returns the event that closes a request. first is the time until the first part of the answer arrived,
// negative if nothing arrived.
func finished(a answer, first, duration time.Duration) event.ResponseFinished {
	f := event.ResponseFinished{
		FinishReason: a.finish, Calls: len(a.message.ToolCalls), FirstMS: max(0, first.Milliseconds()), PhaseMS: duration.Milliseconds(),
	}
	if a.usage == nil {
		return f
	}
	f.Tokens, f.CachedTokens = a.usage.Completion, a.usage.Cached
	switch {
	case f.CachedTokens > 0:
		f.Cache = event.CacheHit
	case !a.usage.CacheUnknown:
		f.Cache = event.CacheMiss
	}
	return f
}

// keep stores a complete answer. The error explains why the answer cannot be used.
func (p *partial) keep() (answer, error) {
	message := *p.done.Message
	p.batch.text = decision.Output{Text: message.Content, Reasoning: p.reasoning.String()}
	a := answer{batch: p.batch, finish: p.done.Finish, usage: p.done.Usage}
	err := unfit(message, p.finish(), p.done.Refusal)
	err = emptyAgain(p, err)
	if err != nil {
		message.ToolCalls = nil // incomplete calls must not run
	} else {
		message.ToolCalls = p.batch.identify(message.ToolCalls)
	}
	if !p.x.conv.Store(p.x.task, p.turn, message, p.reasoning.String(), err != nil) && err == nil && !p.again && a.finish != model.FinishCompaction {
		err = errEmpty
	}
	if err == nil && len(message.ToolCalls) == 0 && !known(a.finish) && p.loop.n.strange(a.finish) {
		p.publish(event.Warning{
			Text: fmt.Sprintf("unexpected finish reason %.100q", a.finish), Code: "finish_reason",
			NextStep: "the answer is kept; check whether it is complete",
		})
	}
	a.called = len(message.ToolCalls) > 0 || storedEarly(p.batch)
	a.message, a.calls = message, asWritten(p.x.conv.Open(), message.ToolCalls)
	p.x.response += message.Content
	return a, err
}

// emptyAgain returns err, except for a second empty answer: if the model ended it normally, emptyAgain warns the person
// and returns nil; if the finish reason is unknown, the error names it.
func emptyAgain(p *partial, err error) error {
	switch {
	case !p.again || !errors.Is(err, errEmpty) && !errors.Is(err, errNoCall):
		return err
	case !known(p.done.Finish):
		return fmt.Errorf("model %q: the answer has no text, and ended with the unknown finish reason %.100q", p.answers.Model, p.done.Finish)
	}
	p.publish(event.Warning{Text: err.Error(), Code: "empty_answer", NextStep: "ask again in other words"})
	return nil
}

// asWritten returns open calls with the arguments as the model wrote them, because the conversation hides known keys.
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

// finish returns why the answer ended. An answer that fills the window has reached the window, not the output limit,
// whatever the server reports.
func (p *partial) finish() string {
	u, window := p.done.Usage, p.answers.Window
	if p.done.Finish == model.FinishLength && u != nil && window > 0 && u.Prompt+u.Completion >= window {
		return model.FinishContext
	}
	return p.done.Finish
}

// known reports whether buddy knows a finish reason. "" is a normal end.
func known(finish string) bool {
	switch finish {
	case "", model.FinishStop, model.FinishToolCalls, model.FinishLength, model.FinishContentFilter, model.FinishContext, model.FinishCompaction:
		return true
	}
	return false
}

// unfit returns why an answer cannot be used, or nil. refusal is the provider's reason for stopping the answer.
func unfit(m model.Message, finish, refusal string) error {
	switch {
	case finish == model.FinishCompaction:
		return nil
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

// uniqueID returns id, or a new one if a call of the session already has it: providers reuse ids, and some send none.
func (l *Loop) uniqueID(x *Exchange, id string) string {
	n := l.n.calls.Add(1)
	x.mu.Lock()
	defer x.mu.Unlock()
	if id == "" || x.conv.Called(id) || x.ids[id] {
		id = fmt.Sprintf("call_%d_%s", n, stream.NewID())
	}
	x.ids[id] = true
	return id
}
