package hooks

import (
	"cmp"
	"context"
	"sync"
)

// beginning is the SessionStart of a session, which runs beside what the person does until the first
// prompt needs what it said.
type beginning struct {
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
	said   string
}

// Begin runs the hooks of a session's start: source is startup, resume, fork or clear. Nothing waits for them but
// the first prompt.
func (r *Runner) Begin(at Where, source string) {
	if !r.Has(SessionStart) {
		return
	}
	r.start.once.Do(func() {
		ctx, cancel := context.WithCancel(r.ctx)
		r.mu.Lock()
		r.start.cancel, r.start.done = cancel, make(chan struct{})
		r.mu.Unlock()
		r.async.Go(func() {
			defer cancel()
			defer close(r.start.done)
			r.start.said = r.Tell(ctx, at, SessionStart, source, map[string]any{"source": source}).Context
		})
	})
}

// Started waits for the hooks of the session's start and returns what they have said, once. The end
// of ctx ends them.
func (r *Runner) Started(ctx context.Context) string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	done, cancel := r.start.done, r.start.cancel
	r.mu.Unlock()
	if done == nil {
		return ""
	}
	select {
	case <-done:
	case <-ctx.Done():
		cancel()
		<-done
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.start.said
	r.start.said = ""
	return said
}

// Leave says why the session is going to end: clear, resume or prompt_input_exit; nobody says so of
// others.
func (r *Runner) Leave(reason string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaves = reason
}

// End runs the hooks of a session's end and ends what runs. Call it once, when nothing else of the
// session runs.
func (r *Runner) End() {
	if r == nil {
		return
	}
	r.mu.Lock()
	reason := cmp.Or(r.leaves, "other")
	r.mu.Unlock()
	r.Tell(context.Background(), Where{}, SessionEnd, reason, map[string]any{"reason": reason})
	r.Close()
}

// Notify runs the hooks that tell the person that something waits for them, and waits for none.
func (r *Runner) Notify(at Where, kind, text string) {
	if !r.Has(Notification) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.async.Go(func() {
		r.Tell(r.ctx, at, Notification, kind, map[string]any{"message": text, "notification_type": kind})
	})
}
