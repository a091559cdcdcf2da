package turn

import (
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/stream"
)

// fallback is a model that answers the rest of an exchange in the place of another one.
type fallback struct {
	from  model.Info // whose place it takes
	model model.Model
}

// fallBack lets another model answer the rest of the exchange.
func (x *Exchange) fallBack(n *model.FallbackNotice, d Durable) {
	if n.Model == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fallback = &fallback{n.From, WithDurable(n.Model, d)}
}

// EndFallback lets the model answer again that a fallback stood in for, and says so, if one did.
func (x *Exchange) EndFallback(s *stream.Stream, turn int) {
	if f := take(x, &x.fallback); f != nil {
		s.Publish(x.task, turn, event.FallbackEnded{From: f.model.Info().Profile, To: f.from.Profile})
	}
}

// asked returns the model that a request of an exchange goes to. A fallback ends when the conversation outgrows its
// window.
func asked(l *Loop, x *Exchange, turn int, req model.Request) model.Model {
	if m := l.model(x); m.Info().Fits(req) {
		return m
	}
	x.EndFallback(l.p.Stream, turn)
	return l.model(x)
}
