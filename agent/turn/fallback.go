package turn

import (
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// fallback holds a model that answers in place of another.
type fallback struct {
	from  model.Info // the model that it replaces
	model model.Model
}

// stay limits how long a fallback also answers later exchanges. Without the fallback, each of them would wait for the
// overloaded model again.
const stay = 5 * time.Minute

// resting holds the fallback of a session's model while that model rests. It is safe for concurrent use.
type resting struct {
	mu    sync.Mutex // guards the fields below
	now   *fallback  // nil: no model rests
	until time.Time
}

// begin makes a fallback answer later exchanges.
func (r *resting) begin(f *fallback, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.until = f, until
}

// of returns the fallback of a profile's model, nil for none.
func (r *resting) of(profile string) *fallback {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || r.now.from.Profile != profile {
		return nil
	}
	return r.now
}

// end ends the model's rest if its time is over, or in any case for the zero time, and returns the fallback; nil if no
// rest ended.
func (r *resting) end(now time.Time) *fallback {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || !now.IsZero() && now.Before(r.until) {
		return nil
	}
	f := r.now
	r.now = nil
	return f
}

// fallBack makes another model answer the rest of the exchange, and the exchanges that start in the next minutes.
func fallBack(l *Loop, x *Exchange, n *model.FallbackNotice) {
	if n.Model == nil {
		return
	}
	f := &fallback{n.From, WithDurable(n.Model, l.o.Durable)}
	x.mu.Lock()
	x.fallback = f
	own := x.model == nil // otherwise the model that rests is not the session's
	x.mu.Unlock()
	if own {
		l.n.rest.begin(f, l.o.Now().Add(stay))
	}
}

// EndFallback returns to the model that a fallback replaced, and publishes that. Without a fallback it does nothing.
func EndFallback(l *Loop, x *Exchange, turn int) {
	f := take(x, &x.fallback)
	if rest := l.n.rest.end(time.Time{}); rest != nil {
		f = rest
	}
	publishEnd(l, x.task, turn, f)
}

// LeaveFallback ends the fallback of an exchange that ends. In the next minutes, the fallback still answers new
// exchanges.
func LeaveFallback(l *Loop, x *Exchange) {
	f := take(x, &x.fallback)
	if f == nil || l.n.rest.of(f.from.Profile) == f && l.n.rest.end(l.o.Now()) == nil {
		return
	}
	publishEnd(l, x.task, 0, f)
}

// Recall makes the session's own model answer again, because the person has chosen a model.
func Recall(l *Loop) { publishEnd(l, 0, 0, l.n.rest.end(time.Time{})) }

func publishEnd(l *Loop, task, turn int, f *fallback) {
	if f != nil {
		l.p.Stream.Publish(task, turn, event.FallbackEnded{From: f.model.Info().Profile, To: f.from.Profile})
	}
}

// asked returns the model for a request of an exchange. A fallback ends when the request exceeds its context window,
// and between exchanges after some minutes.
func asked(l *Loop, x *Exchange, turn int, req model.Request) model.Model {
	x.mu.Lock()
	continues := x.fallback != nil
	x.mu.Unlock()
	if !continues {
		publishEnd(l, x.task, turn, l.n.rest.end(l.o.Now()))
	}
	if m := l.model(x); m.Info().Fits(req) {
		return m
	}
	EndFallback(l, x, turn)
	return l.model(x)
}
