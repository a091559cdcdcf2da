// Package durable implements durable runs: sessions of buddy that Temporal starts on a worker machine, and restarts
// after a failure. The session file on that machine remains the only record of the work.
//
// A run is a [Workflow] whose id is that of its session. The workflow's main activity, Drive, starts buddy in the
// run's folder and watches the session until it has answered the prompt.
package durable

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"buddy/agent/event"
)

const (
	// Queue is the default task queue of runs and workers.
	Queue = "buddy"
	// WorkflowName is the type of the workflow.
	WorkflowName = "BuddyRun"
	// StatusKey is the memo with a run's [Status].
	StatusKey = "buddy"
	// AnswerUpdate is the update that answers an approval, with an [Answer].
	AnswerUpdate = "answer"

	claim = "claim" // the update by which a [Worker] takes a run
	waits = "waits" // the signal with the open approvals and questions

	heartbeat = 10 * time.Second
	longest   = 30 * 24 * time.Hour // a run may take
	// AnswerTime limits how long the worker may take to process an answer.
	AnswerTime = 5 * time.Second
	attempts   = 100 // of a worker to work on a run, in at least 45 minutes
)

// Run describes the work of a durable run.
type Run struct {
	Prompt string `json:"prompt"`
	Folder string `json:"folder"` // on the worker
	Mode   string `json:"mode,omitempty"`
	Model  string `json:"model,omitempty"`
	Queue  string `json:"queue"` // of the first worker
	// FailoverAfter limits how long the run waits for its worker to come back.
	FailoverAfter time.Duration `json:"failover_after"`
}

// QueueOf returns the task queue of the workers with a label, or of all workers if label is "".
func QueueOf(queue, label string) string {
	if label == "" {
		return queue
	}
	return queue + "/" + label
}

// Worker identifies the worker that has the session of a run.
type Worker struct {
	Host  string `json:"host"`
	Queue string `json:"queue"` // only this worker reads it
}

// Ask is an open approval or question.
type Ask struct {
	ID       string `json:"id"`
	Text     string `json:"text"` // untrusted
	Cut      bool   `json:"cut,omitempty"`
	Question bool   `json:"question,omitempty"`
}

// Status describes a run. It is stored in the run's memo, where lists read it.
type Status struct {
	Folder  string        `json:"folder"`
	Worker  Worker        `json:"worker"`
	Waits   []Ask         `json:"waits,omitempty"`
	Outcome event.Outcome `json:"outcome,omitempty"`
}

// Answer answers an approval of a run.
type Answer struct {
	Ask    string `json:"ask"`
	Allow  bool   `json:"allow"`
	Reason string `json:"reason,omitempty"`
	// Until is the time at which the sender of the answer gives up; the worker ignores the answer after that.
	Until time.Time `json:"until"`
}

// Result holds the outcome of a run.
type Result struct {
	Outcome event.Outcome `json:"outcome"`
	Error   string        `json:"error,omitempty"`
}

// Workflow drives a run to its end. The first worker that takes it keeps it, because only that machine has the session.
func Workflow(ctx workflow.Context, run Run) (Result, error) {
	status := Status{Folder: run.Folder}
	save := func() { _ = workflow.UpsertMemo(ctx, map[string]any{StatusKey: status}) } // fails only for values that are not JSON
	workflow.Go(ctx, func(ctx workflow.Context) {
		for open := workflow.GetSignalChannel(ctx, waits); ; save() {
			var all []Ask
			open.Receive(ctx, &all)
			status.Waits = all
		}
	})
	err := workflow.SetUpdateHandler(ctx, claim, func(_ workflow.Context, w Worker) error {
		if status.Worker.Queue == "" {
			status.Worker = w
			save()
		}
		if status.Worker != w { // the sender stalled before it could take the run
			return fmt.Errorf("the worker on %s has taken the run", status.Worker.Host)
		}
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	err = workflow.SetUpdateHandler(ctx, AnswerUpdate, func(ctx workflow.Context, a Answer) (string, error) {
		switch {
		case status.Worker.Queue == "":
			return "", errors.New("no worker has taken the run yet")
		case workflow.Now(ctx).After(a.Until):
			return "", errors.New("the answer came too late, or the clocks of the machines differ")
		}
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: status.Worker.Queue, ScheduleToCloseTimeout: AnswerTime, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		var said string
		err := workflow.ExecuteActivity(ctx, "Answer", workflow.GetInfo(ctx).WorkflowExecution.ID, a).Get(ctx, &said)
		return said, err
	})
	if err != nil {
		return Result{}, err
	}
	result, err := drive(ctx, run, &status)
	status.Outcome, status.Waits = cmp.Or(result.Outcome, event.Failed), nil
	if ctx.Err() != nil {
		status.Outcome = event.Cancelled
		ctx, _ = workflow.NewDisconnectedContext(ctx)
	}
	save()
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }) // fails if the run is cancelled
	return result, err
}

// drive runs the activity Drive, on any worker of the queue until one has taken the run, and then only there.
func drive(ctx workflow.Context, run Run, status *Status) (result Result, err error) {
	id := workflow.GetInfo(ctx).WorkflowExecution.ID
	for tries := 0; ; tries++ {
		options := workflow.ActivityOptions{
			TaskQueue: run.Queue, StartToCloseTimeout: longest, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		}
		taken := status.Worker.Queue != ""
		if taken {
			options.TaskQueue, options.ScheduleToStartTimeout = status.Worker.Queue, run.FailoverAfter
			options.RetryPolicy = &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 30 * time.Second, MaximumAttempts: attempts}
		}
		err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), "Drive", id, run, taken).Get(ctx, &result)
		var late *temporal.TimeoutError
		var told *temporal.ApplicationError
		switch {
		case err == nil || ctx.Err() != nil || errors.As(err, &told) && told.NonRetryable():
			return result, err
		case taken && errors.As(err, &late):
			return result, fmt.Errorf("the worker on %s did not come back within %s; the session is on that machine: buddy resume %s continues it there",
				status.Worker.Host, run.FailoverAfter, id)
		case taken:
			return result, err
		}
		if err := workflow.Sleep(ctx, min(time.Second<<min(tries, 5), 30*time.Second)); err != nil {
			return result, err
		}
	}
}
