package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"buddy/agent/event"
	session "buddy/app/client"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/texts"
)

const (
	startTime  = 2 * time.Minute // for buddy to store the prompt
	cancelTime = time.Minute     // for a cancelled session to end its exchange
	beat       = 3 * time.Second // between heartbeats
	maxAsk     = 1000            // bytes of an approval in the history
	maxError   = 2000            // bytes of an error in the history
)

// Driver has the activities of a worker.
type Driver struct {
	Client  client.Client
	Worker  Worker
	Buddy   string // the program
	Notes   string // the folder with a file for each run that this worker has taken
	Answers bool   // approvals may be answered from elsewhere
}

// note holds what a worker remembers of a run.
type note struct {
	Journal string `json:"journal"` // the session's file; "" before its first prompt
}

func (d *Driver) noteOf(id string) string { return filepath.Join(d.Notes, id+".json") }

// Drive starts the session of a run, or finds it running, and watches it until its exchange has finished. taken means
// that this worker has taken the run before.
func (d *Driver) Drive(ctx context.Context, id string, run Run, taken bool) (Result, error) {
	if err := d.known(id, taken); err != nil { // first: a claimed run without a note counts as lost
		return Result{}, err
	}
	if !taken {
		if err := d.claim(ctx, id); err != nil {
			return Result{}, err
		}
	}
	if err := d.start(ctx, id, run); err != nil {
		return Result{}, err
	}
	path := socket.Find(os.Getenv, id)
	if path == "" {
		return d.stored(id)
	}
	host, err := dial(path)
	if err != nil {
		return Result{}, err
	}
	defer host.Close()
	hello, err := host.Hello(ctx)
	if err != nil {
		return Result{}, err
	}
	text, err := json.Marshal(note{hello.Journal})
	if err == nil {
		err = os.WriteFile(d.noteOf(id), text, 0o600)
	}
	if err != nil {
		return Result{}, err
	}
	return d.watch(ctx, id, host, hello, taken)
}

// claim takes a run for this worker, unless another one has it.
func (d *Driver) claim(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	update, err := d.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: claim, Args: []any{d.Worker}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return update.Get(ctx, nil)
}

// known returns an error if this worker has started the run before but the session's file is gone, because starting
// again would repeat work.
func (d *Driver) known(id string, taken bool) error {
	text, err := os.ReadFile(d.noteOf(id))
	var n note
	switch {
	case errors.Is(err, fs.ErrNotExist) && !taken:
		return os.WriteFile(d.noteOf(id), []byte("{}"), 0o600)
	case err == nil:
		err = json.Unmarshal(text, &n)
	}
	if err == nil && n.Journal != "" {
		_, err = os.Stat(n.Journal)
	}
	if err != nil {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("the session of run %s is no longer on %s, and starting it again could repeat its work: %v", id, d.Worker.Host, err), "lost", nil)
	}
	return nil
}

// start runs buddy, which starts the session, continues it after a crash, or does nothing. It has a time limit of its
// own, so that the end of the activity does not interrupt it.
func (d *Driver) start(ctx context.Context, id string, run Run) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
	defer cancel()
	args := []string{"exec", "--detach", "--id", id}
	if run.Mode != "" {
		args = append(args, "--approve", run.Mode)
	}
	if run.Model != "" {
		args = append(args, "--model", run.Model)
	}
	cmd := exec.CommandContext(limited, d.Buddy, append(args, "-")...) //nolint:gosec // the worker's settings name it
	cmd.Dir, cmd.Stdin = run.Folder, strings.NewReader(run.Prompt)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the signals of the worker's terminal do not concern it
	stop := beating(ctx)
	out, err := cmd.CombinedOutput()
	stop()
	if err == nil {
		return nil
	}
	text := fmt.Sprintf("%s in %s: %v: %s", d.Buddy, run.Folder, err, texts.ClipBytes(strings.TrimSpace(string(out)), maxError))
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 2 || errors.Is(err, fs.ErrNotExist) {
		return temporal.NewNonRetryableApplicationError(text, "usage", nil)
	}
	return errors.New(text)
}

// beating sends heartbeats until stop is called.
func beating(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				activity.RecordHeartbeat(ctx, uint64(0))
			case <-ctx.Done():
				return
			}
		}
	}()
	return cancel
}

func dial(path string) (*socket.Client, error) {
	return socket.Dial(path, socket.Screen{Version: version.Number, Looks: true})
}

// watch follows a session until its exchange has finished. It reports open approvals to the workflow.
func (d *Driver) watch(ctx context.Context, id string, host *socket.Client, hello session.Hello, taken bool) (Result, error) {
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	batches, err := host.Subscribe(following, 0, session.DurableOnly)
	if err != nil {
		return Result{}, err
	}
	var s follower
	told := fmt.Sprint(s.waits) // what the workflow knows
	if taken {
		told = "" // an earlier attempt may have reported some
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	cancelled := ctx.Done()
	var late <-chan time.Time // nil: never
	for {
		if s.last >= hello.Last {
			if now := fmt.Sprint(s.waits); now != told {
				if err := d.Client.SignalWorkflow(following, id, "", waits, s.waits); err != nil {
					return Result{}, err
				}
				told = now
			}
		}
		select {
		case batch, open := <-batches:
			if !open {
				return Result{}, fmt.Errorf("session %s: its process has ended: %w", id, errors.Join(host.Err()))
			}
			if result := s.applyAll(batch); result.Outcome != "" {
				leave(following, host, batches)
				return result, cancellation(ctx, result)
			}
		case <-tick.C:
			activity.RecordHeartbeat(ctx, s.last)
		case <-cancelled:
			if !temporal.IsCanceledError(context.Cause(ctx)) { // another attempt watches the session, or the worker stops
				return Result{}, context.Cause(ctx)
			}
			cancelled, late = nil, time.After(cancelTime)
			host.Send(event.Cancel{})
		case <-late:
			return Result{}, fmt.Errorf("session %s did not stop within %s: %w", id, cancelTime, context.Cause(ctx))
		}
	}
}

// leave ends a session whose exchange has finished, as soon as it is idle. If a screen shows the session, leave does
// nothing, and the session ends later by itself.
func leave(ctx context.Context, host *socket.Client, batches <-chan []event.Envelope) {
	go func() {
		for range batches { //nolint:revive // the reply comes after them
		}
	}()
	if about, err := session.Ask[session.Description](ctx, host, session.Describe{}); err == nil && about.Screens == 0 {
		_, _ = session.Ask[session.CloseReply](ctx, host, session.Close{WhenIdle: true})
	}
}

// cancellation returns the error of a run that was cancelled through Temporal.
func cancellation(ctx context.Context, r Result) error {
	if r.Outcome == event.Cancelled && temporal.IsCanceledError(context.Cause(ctx)) {
		return temporal.NewCanceledError()
	}
	return nil
}

// stored returns the end of a run whose session no longer runs.
func (d *Driver) stored(id string) (Result, error) {
	var n note
	text, err := os.ReadFile(d.noteOf(id))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		return Result{}, err
	}
	if n.Journal == "" {
		return Result{}, fmt.Errorf("session %s ended before it was found", id)
	}
	journal, err := os.ReadFile(n.Journal)
	if err != nil {
		return Result{}, err
	}
	var s follower
	for line := range strings.Lines(string(journal)) {
		env, err := event.Decode([]byte(strings.TrimSuffix(line, "\n")))
		if err != nil {
			continue // the header, or a line that a crash cut off
		}
		if result := s.apply(env); result.Outcome != "" {
			return result, nil
		}
	}
	return Result{}, fmt.Errorf("session %s has ended in the middle of its exchange", id)
}

// follower knows what a run's session does.
type follower struct {
	last  uint64
	begun bool
	waits []Ask
}

// applyAll processes the next events up to the end of the exchange; see apply.
func (s *follower) applyAll(batch []event.Envelope) (r Result) {
	for _, env := range batch {
		if r = s.apply(env); r.Outcome != "" {
			break
		}
	}
	return r
}

// apply processes the next event; the result is zero until the exchange of the run's prompt has finished.
func (s *follower) apply(env event.Envelope) (r Result) {
	s.last = env.Seq
	settle := func(id string) { s.waits = slices.DeleteFunc(s.waits, func(a Ask) bool { return a.ID == id }) }
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		s.begun = s.begun || p.Key != "" && !p.Queued
	case event.SessionResumed:
		s.waits = nil // open approvals are asked again
	case event.ApprovalAsked:
		s.waits = append(s.waits, askOf(p))
	case event.QuestionAsked:
		s.waits = append(s.waits, Ask{ID: p.ID, Text: texts.ClipBytes(p.Text, maxAsk), Cut: len(p.Text) > maxAsk, Question: true})
	case event.ApprovalAnswered:
		settle(p.ID)
	case event.QuestionAnswered:
		settle(p.ID)
	case event.ExchangeFinished:
		if s.begun {
			return Result{p.Outcome, texts.ClipBytes(p.Error, maxError)}
		}
	}
	return r
}

// askOf converts an approval to an Ask, whose text shows everything that would run or change. The text is cut if it is
// too long.
func askOf(p event.ApprovalAsked) Ask {
	a := p.Action
	parts := []string{a.Command, a.Path, a.Preview}
	if a.Command == "" {
		parts[0] = string(a.Kind) + " " + a.Op
	}
	if a.Target != "" && a.Target != "local" {
		parts = append(parts, "on "+a.Target)
	}
	text := strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n")
	return Ask{ID: p.ID, Text: texts.ClipBytes(text, maxAsk), Cut: len(text) > maxAsk}
}
