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
	"buddy/sessions"
)

// startTime limits how long a session may take to start and to accept its prompt.
const startTime = time.Minute

// Detach starts a session that works on a prompt in its own process, and returns the session's id as soon as the prompt
// is stored. A running session to resume gets the prompt as if a screen had sent it. With once.ID, the same prompt is
// sent only once, however often Detach is called: earlier describes the state of a session that has the prompt already.
func Detach(f *compose.Options, once Options, args []string, stdin, stderr *os.File) (id, earlier string, err error) {
	prompt, err := ReadPrompt(args, stdin, nil, once, stderr)
	if err != nil {
		return "", "", err
	}
	begin, err := once.begin(prompt)
	if err != nil {
		return "", "", err
	}
	d, err := compose.NewDestination(f)
	if err != nil {
		return "", "", err
	}
	options := *f
	if once.ID != "" {
		options.Session = once.ID
	}
	setup, err := compose.NewSetup(&options, d.Name, once.Resume)
	if err != nil {
		return "", "", err
	}
	if c := setup.Config; setup.Problem != "" && (c.Active == nil || c.Active.Bundled()) {
		return "", "", exit.Error{Code: exit.Failed, Text: compose.NoModel(f, setup.Config)}
	}
	options.Session = setup.ID
	socket.Private() // this process knows the host's secret
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	s := &detached{options: &options, store: setup.Store, once: once, resume: once.Resume != ""}
	if once.ID != "" {
		earlier, err = s.startOnce(ctx, begin)
	} else {
		err = s.start(ctx, begin, func(client.Hello) error {
			return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("session %s is already running and %s", setup.ID, fromTerminal)}
		})
	}
	return setup.ID, earlier, err
}

const fromTerminal = "accepts prompts only from a terminal; to allow programs without one, set [host] without_terminal = true in your settings"

// detached starts a session without a screen.
type detached struct {
	options *compose.Options
	store   sessions.Store
	once    Options
	resume  bool // the session is stored
	sent    bool // the session has the prompt already
	session *host.Process
}

// start starts the session's process, or joins a running one, and sends the prompt. If a running process does not
// accept prompts from this process, start returns the result of refused.
func (d *detached) start(ctx context.Context, begin event.Command, refused func(client.Hello) error) error {
	var err error
	if d.session, err = host.Start(d.options, d.store, d.resume, true); err != nil {
		return exit.Failure(err)
	}
	defer d.session.Leave()
	hello, err := d.session.Hello(ctx)
	if hello.Failed != nil {
		return *hello.Failed
	}
	if err != nil {
		return exit.Failure(err)
	}
	compose.WorktreeStarted(d.options)
	if hello.Watches {
		return refused(hello)
	}
	batches, err := d.session.Subscribe(ctx, max(hello.Last, d.last()), 0)
	if err != nil {
		return exit.Failure(err)
	}
	if d.sent {
		return d.repeat(ctx, begin, batches)
	}
	if begin, err = resolvePrompt(ctx, d.session, begin, batches, d.resume); err != nil {
		return err
	}
	d.session.Send(begin)
	if err := awaitPrompt(batches, begin); err != nil {
		return exit.Failure(fmt.Errorf("session %s: %w", d.options.Session, errors.Join(d.session.Err(), err)))
	}
	return nil
}

// last returns the number of the last stored event of a session to resume. It is read from the file, because the
// session's process knows it only after the first subscription.
func (d *detached) last() uint64 {
	if !d.resume {
		return 0
	}
	j, err := d.store.View(d.options.Session)
	if err != nil {
		return 0 // the process has opened it
	}
	defer j.Close() //nolint:errcheck // only read
	return j.Info().LastSeq
}

// resolvePrompt returns the command to send for a prompt, or an error if the session has no such command. After an
// error it ends a new session, because nobody would attach to it.
func resolvePrompt(ctx context.Context, session *host.Process, begin event.Command, batches <-chan []event.Envelope, resumed bool) (event.Command, error) {
	c, answer, err := meant(ctx, begin, extensions{commands: func(ctx context.Context) []event.CustomCommand { return listed(ctx, batches) }})
	if err == nil && c == nil {
		err = exit.Usage("/help works without --detach:\n%s", answer)
	}
	if _, sent := c.(event.Submit); err == nil && !sent && keyOf(begin) != "" {
		err = exit.Usage("--id works with prompts, not with workflows")
	}
	if err != nil && !resumed {
		drain(batches)
		_, _ = client.Ask[client.CloseReply](ctx, session, client.Close{})
	}
	return c, err
}

// keyOf returns the key that identifies a prompt sent with --id, "" for other prompts.
func keyOf(c event.Command) string {
	submit, _ := c.(event.Submit)
	return submit.Key
}

// awaitPrompt waits until the session has accepted a prompt.
func awaitPrompt(batches <-chan []event.Envelope, begin event.Command) error {
	text, key := "", keyOf(begin)
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
				if p.Key == key && p.Text == text {
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
