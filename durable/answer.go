package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"buddy/agent/event"
	"buddy/app/socket"
)

// Answer answers an open approval of a session on this worker, and returns the decision that counts.
func (d *Driver) Answer(ctx context.Context, id string, a Answer) (string, error) {
	if !d.Answers {
		return "", fmt.Errorf("the worker on %s accepts no answers from elsewhere; start it with --answers, or answer there: buddy approve %s", d.Worker.Host, id)
	}
	path := socket.Find(os.Getenv, id)
	if path == "" {
		return "", fmt.Errorf("session %s is not running on %s", id, d.Worker.Host)
	}
	host, err := dial(path)
	if err != nil {
		return "", err
	}
	defer host.Close()
	hello, err := host.Hello(ctx)
	if err != nil {
		return "", err
	}
	open := slices.ContainsFunc(hello.Open, func(env event.Envelope) bool {
		p, ok := env.Payload.(event.ApprovalAsked)
		return ok && p.ID == a.Ask
	})
	switch {
	case !open:
		return "", fmt.Errorf("session %s is not waiting for the approval %q; somebody may have answered it", id, a.Ask)
	case hello.Watches:
		return "", fmt.Errorf("session %s accepts answers only from a terminal; to allow its worker to answer, set [host] without_terminal = true in the settings on %s", id, d.Worker.Host)
	}
	batches, err := host.Subscribe(ctx, hello.Last, 0)
	if err != nil {
		return "", err
	}
	decision := event.Deny
	if a.Allow {
		decision = event.Once
	}
	host.Send(event.AnswerApproval{ID: a.Ask, Decision: decision, Reason: a.Reason})
	for batch := range batches {
		for _, env := range batch {
			if p, ok := env.Payload.(event.ApprovalAnswered); ok && p.ID == a.Ask {
				return string(p.Decision), nil
			}
		}
	}
	return "", errors.Join(fmt.Errorf("session %s did not record the answer", id), host.Err(), ctx.Err())
}
