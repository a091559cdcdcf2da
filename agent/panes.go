package agent

import (
	"context"
	"slices"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
)

// paneLimit limits how long one command to a pane may take.
const paneLimit = 5 * time.Second

// typeMax limits the bytes that are joined into one input while a pane is slower than the typing.
const typeMax = 4 << 10

// paneCommands forwards commands to the terminal panes, in a queue of its own.
type paneCommands struct {
	life   *life
	stream *stream.Stream
	panes  Panes // may be nil
	inbox  *inbox
}

// send queues a command for the panes. A pane may be on a slow target, so pane commands have their own queue: typing
// does not wait for prompts or approvals, nor do they wait for typing.
func (p *paneCommands) send(c event.Command) {
	watch, ok := c.(event.WatchPanes)
	switch {
	case p.panes == nil && ok:
	case p.panes == nil:
		p.stream.Reject("there are no panes")
	case ok:
		p.panes.Watch(watch.IDs)
	default:
		if err := p.inbox.put(c); err != nil {
			p.stream.Reject("a pane hangs: %v", err)
		}
	}
}

// serve forwards commands to the panes, one after the other, until the runtime closes.
func (p *paneCommands) serve() {
	defer p.life.work.Done()
	for {
		c, ok := p.inbox.next()
		if !ok {
			return
		}
		if in, typed := c.(event.PaneInput); typed {
			c = p.inbox.join(in, typeMax)
		}
		if err := p.do(c); err != nil && !p.life.ended() {
			p.stream.Reject("%v", err)
		}
	}
}

func (p *paneCommands) do(c event.Command) error {
	ctx, cancel := context.WithTimeout(p.life.ctx, paneLimit)
	defer cancel()
	fit, ok := c.(event.FitPane)
	toOwnSize := ok && fit.W == 0 // the pane may have closed
	panes, id, err := p.panes.Pane(paneOf(c))
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
			p.stream.Publish(0, 0, event.PaneHistory{Pane: c.Pane, Rows: rows})
		}
		return err
	case event.KillPane:
		return panes.Kill(ctx, id)
	}
	return nil
}

// paneOf returns the name of a command's pane.
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

// join appends the next typed input for the same pane, up to limit bytes in all.
func (b *inbox) join(in event.PaneInput, limit int) event.PaneInput {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.commands) > 0 {
		more, typed := b.commands[0].(event.PaneInput)
		if !typed || more.Pane != in.Pane || len(in.Bytes)+len(more.Bytes) > limit {
			break
		}
		in.Bytes = append(slices.Clip(in.Bytes), more.Bytes...)
		b.commands = b.commands[1:]
	}
	return in
}
