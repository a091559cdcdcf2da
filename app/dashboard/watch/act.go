package watch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/client"
	"buddy/app/dashboard"
	"buddy/app/host"
)

const (
	startTime = time.Minute      // for a new session to accept its prompt
	askTime   = 10 * time.Second // for a session to send its open requests
)

// Ask returns the oldest open request of a session. It asks the session's host, because the dialog needs the whole
// request, and a table's row holds only a part of it. Only a person at a terminal may answer; the session decides
// whether this process is one.
func Ask(ctx context.Context, id string) (*dashboard.Asked, error) {
	c, err := host.Look(id)
	if err != nil {
		return nil, err
	}
	early, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	hello, err := c.Hello(early)
	if err == nil && hello.Watches {
		err = errors.New("only a person at a terminal can answer")
	}
	a := &dashboard.Asked{Place: hello.Screen, Send: c.Send, Close: c.Close}
	var asked string
	if err == nil {
		asked, err = pending(a, hello)
	}
	var batches <-chan []event.Envelope
	if err == nil {
		batches, err = c.Subscribe(ctx, hello.Last, client.DurableOnly)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	answers := make(chan event.Event, 1)
	a.Answered = answers
	go func() {
		defer close(answers)
		for batch := range batches {
			for _, env := range batch {
				if settles(env.Payload, asked) {
					select {
					case answers <- env.Payload:
					default: // a question that was asked again
					}
				}
			}
		}
	}()
	return a, nil
}

// settles reports whether an event settles a request.
func settles(e event.Event, id string) bool {
	switch e := e.(type) {
	case event.ApprovalAnswered:
		return e.ID == id
	case event.QuestionAnswered:
		return e.ID == id
	}
	return false
}

// pending fills in the oldest request of a session and returns its id.
func pending(a *dashboard.Asked, hello client.Hello) (id string, err error) {
	var r record.Record
	for _, env := range hello.Open {
		r.Apply(env)
	}
	var oldest event.Envelope
	for name, env := range r.Asked {
		if id == "" || env.Seq < oldest.Seq {
			id, oldest = name, env
		}
	}
	if id == "" {
		return "", errors.New("the session is no longer waiting")
	}
	a.Request, a.Of = oldest.Payload, len(r.Asked)
	if p, ok := oldest.Payload.(event.ApprovalAsked); ok {
		if b := r.Branches[oldest.Branch]; b != nil && b.Calls[p.CallID] != nil && b.Calls[p.CallID].Request != nil {
			a.Args = b.Calls[p.CallID].Request.Arguments
		}
	}
	return id, nil
}

// Stop ends a session of this machine as quitting does. The session stays saved.
func Stop(ctx context.Context, id string) error {
	c, err := host.Look(id)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := client.Ask[client.CloseReply](ctx, c, client.Close{}); err != nil {
		return fmt.Errorf("session %s did not end: %w", id, err)
	}
	return nil
}

// Start starts a session in a folder of this machine, like buddy exec --detach: the session works on the prompt without
// a screen.
func Start(ctx context.Context, folder, prompt string) error {
	if rest, ok := strings.CutPrefix(folder, "~"); ok && (rest == "" || rest[0] == filepath.Separator) {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		folder = home + rest
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("folder %q: %w", folder, cmp.Or(err, errors.New("not a folder")))
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "exec", "--detach", "--", prompt) //nolint:gosec // buddy itself; the prompt follows --
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = folder, &said, time.Second
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return errors.New(cmp.Or(strings.TrimPrefix(first, "buddy: "), err.Error()))
	}
	return nil
}
