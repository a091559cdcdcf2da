package agent

import (
	"context"
	"time"

	"buddy/agent/event"
)

// paneLimit is how long a pane may take for one command.
const paneLimit = 5 * time.Second

// typeMax is how many typed bytes go to a pane at once when more have come than it took.
const typeMax = 4 << 10

// tellPanes passes a command on to the panes. Those may be far away, and what a person
// types must not wait for the next prompt or an approval, nor they for it: so panes have a
// queue of their own.
func (r *Runtime) tellPanes(c event.Command) {
	watch, ok := c.(event.WatchPanes)
	switch {
	case r.opts.Panes == nil && ok:
	case r.opts.Panes == nil:
		r.reject("there are no panes")
	case ok:
		r.opts.Panes.Watch(watch.IDs)
	default:
		if err := r.inbox.panes.put(c); err != nil {
			r.reject("a pane hangs: %v", err)
		}
	}
}

// servePanes passes commands on to the panes, one after the other, until the runtime closes.
func (r *Runtime) servePanes() {
	defer r.done.Done()
	for {
		c, ok := r.inbox.panes.next()
		if !ok {
			return
		}
		if in, typed := c.(event.PaneInput); typed {
			c = r.inbox.panes.join(in, typeMax)
		}
		if err := r.tellPane(c); err != nil && r.ctx.Err() == nil {
			r.reject("%v", err)
		}
	}
}

func (r *Runtime) tellPane(c event.Command) error {
	ctx, cancel := context.WithTimeout(r.ctx, paneLimit)
	defer cancel()
	fit, ok := c.(event.FitPane)
	toOwnSize := ok && fit.W == 0 // of a pane that may have closed meanwhile
	panes, id, err := r.opts.Panes.Pane(paneOf(c))
	if err != nil && toOwnSize {
		return nil
	}
	if err != nil {
		return err
	}
	switch c := c.(type) {
	case event.PaneInput:
		return panes.Type(ctx, id, c.Bytes)
	case event.PanePaste:
		return panes.Paste(ctx, id, c.Text)
	case event.FitPane:
		if _, err = panes.Fit(ctx, id, c.W, c.H); toOwnSize {
			return nil
		}
		return err
	case event.ReadPane:
		rows, err := panes.History(ctx, id)
		if err == nil {
			r.emit(0, 0, event.PaneHistory{Pane: c.Pane, Rows: rows})
		}
		return err
	case event.KillPane:
		return panes.Kill(ctx, id)
	}
	return nil
}

// paneOf returns the name of the pane that a command is for.
func paneOf(c event.Command) string {
	switch c := c.(type) {
	case event.PaneInput:
		return c.Pane
	case event.PanePaste:
		return c.Pane
	case event.FitPane:
		return c.Pane
	case event.ReadPane:
		return c.Pane
	case event.KillPane:
		return c.Pane
	}
	return ""
}

// join takes what was typed into the same pane meanwhile, up to limit bytes in all.
func (b *inbox) join(in event.PaneInput, limit int) event.PaneInput {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.commands) > 0 {
		more, typed := b.commands[0].(event.PaneInput)
		if !typed || more.Pane != in.Pane || len(in.Bytes)+len(more.Bytes) > limit {
			break
		}
		in.Bytes = append(in.Bytes[:len(in.Bytes):len(in.Bytes)], more.Bytes...)
		b.commands = b.commands[1:]
	}
	return in
}
