package hooks

import (
	"cmp"
	"context"
	"sync"
)

// beginning holds the SessionStart hooks, which run in the background until the first prompt needs their output.
type beginning struct {
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
	output string
}

// Begin runs the SessionStart hooks; source is startup, resume, fork or clear. Only the first prompt waits for
// them.
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
			r.start.output = r.Tell(ctx, at, SessionStart, source, map[string]any{"source": source}).Context
		})
	})
}

// Started waits for the SessionStart hooks and returns their output; later calls return "". If ctx ends first, it stops
// the hooks.
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
	output := r.start.output
	r.start.output = ""
	return output
}

// Leave sets the reason for which the session is about to end: clear, resume or prompt_input_exit. If it is not called,
// the reason is "other".
func (r *Runner) Leave(reason string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaves = reason
}

// End runs the SessionEnd hooks and closes the runner. Call it once, when nothing else in the session runs.
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

// Notify runs the Notification hooks in the background.
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
