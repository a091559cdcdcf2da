package turn

import (
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/stream"
)

// fallback holds a model that answers the rest of an exchange in place of another.
type fallback struct {
	from  model.Info // the model that it replaces
	model model.Model
}

// fallBack makes another model answer the rest of the exchange.
func (x *Exchange) fallBack(n *model.FallbackNotice, d Durable) {
	if n.Model == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fallback = &fallback{n.From, WithDurable(n.Model, d)}
}

// EndFallback returns to the model that a fallback replaced, and publishes that. Without a fallback it does nothing.
func (x *Exchange) EndFallback(s *stream.Stream, turn int) {
	if f := take(x, &x.fallback); f != nil {
		s.Publish(x.task, turn, event.FallbackEnded{From: f.model.Info().Profile, To: f.from.Profile})
	}
}

// asked returns the model for a request of an exchange. A fallback ends when the request exceeds its context window.
func asked(l *Loop, x *Exchange, turn int, req model.Request) model.Model {
	if m := l.model(x); m.Info().Fits(req) {
		return m
	}
	x.EndFallback(l.p.Stream, turn)
	return l.model(x)
}
