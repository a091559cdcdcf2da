package headless

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/host"
	"buddy/app/socket"
)

// startTime limits how long a session may take to start and to accept its prompt.
const startTime = time.Minute

// Detach starts a session that works on a prompt in its own process, and returns its id as soon as the prompt is
// stored. If the session to resume is running, it gets the prompt as if a screen had sent it.
func Detach(f *compose.Options, once Options, args []string, stdin, stderr *os.File) (id string, err error) {
	prompt, err := ReadPrompt(args, stdin, nil, once, stderr)
	if err != nil {
		return "", err
	}
	begin, err := once.begin(prompt)
	if err != nil {
		return "", err
	}
	d, err := compose.NewDestination(f)
	if err != nil {
		return "", err
	}
	setup, err := compose.NewSetup(f, d.Name, once.Resume)
	if err != nil {
		return "", err
	}
	if c := setup.Config; setup.Problem != "" && (c.Active == nil || c.Active.Bundled()) {
		return "", exit.Error{Code: exit.Failed, Text: compose.NoModel(f, setup.Config)}
	}
	options := *f
	options.Session = setup.ID
	socket.Private() // this process knows the host's secret
	session, err := host.Start(&options, setup.Store, once.Resume != "", true)
	if err != nil {
		return "", exit.Failure(err)
	}
	defer session.Leave()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	hello, err := session.Hello(ctx)
	if hello.Failed != nil {
		return "", *hello.Failed
	}
	if err != nil {
		return "", exit.Failure(err)
	}
	compose.WorktreeStarted(f)
	if hello.Watches {
		return "", exit.Error{Code: exit.Failed, Text: fmt.Sprintf("session %s is already running and accepts prompts only from a terminal; to allow programs without one, set [host] without_terminal = true in your settings", setup.ID)}
	}
	batches, err := session.Subscribe(ctx, hello.Last, 0)
	if err != nil {
		return "", exit.Failure(err)
	}
	if begin, err = resolvePrompt(ctx, session, begin, batches, once); err != nil {
		return "", err
	}
	session.Send(begin)
	if err := awaitPrompt(batches, begin); err != nil {
		return "", exit.Failure(fmt.Errorf("session %s: %w", setup.ID, errors.Join(session.Err(), err)))
	}
	return setup.ID, nil
}

// resolvePrompt returns the command of a prompt in a session that has just started, or why the session does not accept
// it. A new session is then ended, because nobody would attach to it.
func resolvePrompt(ctx context.Context, session *host.Process, begin event.Command, batches <-chan []event.Envelope, once Options) (event.Command, error) {
	c, answer, err := meant(ctx, begin, extensions{commands: func(ctx context.Context) []event.CustomCommand { return listed(ctx, batches) }})
	if err == nil && c == nil {
		err = exit.Usage("/help works without --detach:\n%s", answer)
	}
	if err != nil && once.Resume == "" {
		go func() {
			for range batches { //nolint:revive // the answer comes after them
			}
		}()
		_, _ = client.Ask[client.CloseReply](ctx, session, client.Close{})
	}
	return c, err
}

// awaitPrompt waits until the session has accepted a prompt.
func awaitPrompt(batches <-chan []event.Envelope, begin event.Command) error {
	text := ""
	switch c := begin.(type) {
	case event.Submit:
		text = c.Text
	case event.SetGoal:
		text = c.Goal
	}
	for batch := range batches {
		for _, env := range batch {
			switch p := env.Payload.(type) {
			case event.PromptSubmitted:
				if p.Text == text {
					return nil
				}
			case event.Error:
				return errors.New(p.Text)
			case event.SessionClosed:
				return errors.New("the session was ended before it accepted the prompt")
			}
		}
	}
	return fmt.Errorf("the session did not accept the prompt within %s", startTime)
}
