package headless

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/exit"
	"buddy/app/host"
	"buddy/app/socket"
	"buddy/sessions"
	"buddy/texts"
)

// begunTime limits the wait for another process that has just started the session to send the prompt.
const begunTime = 5 * time.Second

// maxLost limits how often a start is repeated because the session's process has ended in the meantime.
const maxLost = 3

// startOnce starts the session unless it has already finished the prompt. If a crash interrupted the work on the
// prompt, the session continues it. earlier describes the state of a session that has the prompt already.
func (d *detached) startOnce(ctx context.Context, begin event.Command) (earlier string, err error) {
	submit, _ := begin.(event.Submit) // a goal has no id
	if submit.Key, err = promptKey(submit); err != nil {
		return "", err
	}
	again := 0 // repetitions because a process ended
	for busy := true; busy; {
		stored, err := readRun(d.store, d.options.Session, submit.Key)
		if err != nil {
			return "", exit.Failure(err)
		}
		if stored.outcome != "" {
			return "has already finished this prompt (" + string(stored.outcome) + ")", nil
		}
		if d.resume, d.sent = stored.exists, stored.sent; d.sent {
			earlier = "is already working on this prompt"
		}
		busy = false
		err = d.start(ctx, submit, func(hello client.Hello) error {
			var err error
			busy, err = d.join(ctx, hello)
			return err
		})
		if err != nil && d.lost() && again < maxLost { // the key keeps the session from getting the prompt twice
			busy, err = true, ctx.Err()
			again++
		}
		if err != nil {
			return "", err
		}
	}
	return earlier, nil
}

// lost reports whether the session's process ended without ending the session.
func (d *detached) lost() bool {
	return d.session != nil && errors.Is(d.session.Err(), socket.ErrGone)
}

// repeat sends a prompt that the session has already, so that the session continues work that a crash has interrupted.
func (d *detached) repeat(ctx context.Context, begin event.Command, batches <-chan []event.Envelope) error {
	drain(batches)
	d.session.Send(begin)
	_, err := client.Ask[client.Description](ctx, d.session, client.Describe{}) // answered after the prompt
	return exit.Failure(err)
}

// promptKey returns a key that identifies a prompt by its text and pictures.
func promptKey(p event.Submit) (string, error) {
	text, err := texts.JSON(p)
	if err != nil {
		return "", exit.Failure(fmt.Errorf("prompt: %w", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// join handles a running session that accepts no prompt from this process. An idle session may have been started by
// another process that is about to send the prompt. If no prompt comes, that process was killed, and join ends the
// session. again means that the caller must try again.
func (d *detached) join(ctx context.Context, hello client.Hello) (again bool, err error) {
	id := d.options.Session
	if hello.Journal != d.store.File(id) {
		return false, exit.Failure(fmt.Errorf("session %s runs in another folder: %s", id, hello.Cwd))
	}
	about := hello.About
	switch rests := about != nil && about.Screens == 0 && (about.State == client.Idle || about.State == client.Failed); {
	case !rests && d.sent:
		return false, nil
	case !rests:
		return false, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("session %s is running something else and %s", id, fromTerminal)}
	case d.begins(ctx, hello.Last):
		return true, nil
	}
	if _, err := client.Ask[client.CloseReply](ctx, d.session, client.Close{Abandon: true}); err != nil {
		return false, exit.Failure(fmt.Errorf("session %s has no work and did not end: %w", id, err))
	}
	d.session.Leave()
	host.AwaitEnd(id)
	return true, ctx.Err()
}

// begins reports whether the session starts a task within begunTime. The connection stays usable.
func (d *detached) begins(ctx context.Context, after uint64) bool {
	batches, err := d.session.Subscribe(ctx, after, client.DurableOnly)
	if err != nil {
		return false
	}
	late := time.After(begunTime)
	for {
		select {
		case batch, open := <-batches:
			if !open {
				return false
			}
			if slices.ContainsFunc(batch, func(env event.Envelope) bool { _, ok := env.Payload.(event.TaskStarted); return ok }) {
				return true
			}
		case <-late:
			drain(batches)
			return false
		}
	}
}

// drain discards events, because a reply arrives only after the events before it have been read.
func drain(batches <-chan []event.Envelope) {
	go func() {
		for range batches { //nolint:revive // nothing is done with them
		}
	}()
}

// progress describes what a stored session has done for a prompt.
type progress struct {
	exists  bool // the session is stored
	sent    bool // the session has the prompt
	outcome event.Outcome
}

// readRun reads the progress on the prompt with the given key from a session's file.
func readRun(store sessions.Store, id, key string) (r progress, err error) {
	if _, err := os.Lstat(store.File(id)); errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	j, err := store.View(id)
	if err != nil {
		return r, err
	}
	defer j.Close() //nolint:errcheck // only read
	r.exists = true
	err = j.Lines(func(l sessions.Line) bool {
		switch event.Named(l.Type).(type) {
		case event.PromptSubmitted, event.ExchangeFinished:
		default:
			return true
		}
		env, err := l.Envelope()
		if err != nil {
			return true
		}
		switch p := env.Payload.(type) {
		case event.PromptSubmitted:
			r.sent = r.sent || p.Key == key && !p.Queued
		case event.ExchangeFinished:
			if r.sent {
				r.outcome = p.Outcome
			}
		}
		return r.outcome == ""
	})
	return r, err
}
