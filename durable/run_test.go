package durable

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"buddy/agent/event"
)

// update is the outcome of an update of a workflow.
type update struct {
	value any
	err   error
}

// Accept implements testsuite's callback.
func (*update) Accept() {}

// Reject implements testsuite's callback.
func (u *update) Reject(err error) { u.err = err }

// Complete implements testsuite's callback.
func (u *update) Complete(value any, err error) { u.value, u.err = value, err }

// runWorkflow runs the workflow with a Drive and updates at a time after its start.
func runWorkflow(t *testing.T, drive func(ctx context.Context, id string, run Run, taken bool) (Result, error), during map[time.Duration]func(*testsuite.TestWorkflowEnvironment)) (result Result, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivityWithOptions(drive, activity.RegisterOptions{Name: "Drive"})
	for after, do := range during {
		env.RegisterDelayedCallback(func() { do(env) }, after)
	}
	env.ExecuteWorkflow(Workflow, Run{Prompt: "go", Folder: "/w", Queue: Queue, FailoverAfter: time.Minute})
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow has not ended")
	}
	if err = env.GetWorkflowError(); err == nil {
		err = env.GetWorkflowResult(&result)
	}
	return result, err
}

var first, second = Worker{"one", "queue-one"}, Worker{"two", "queue-two"}

// Only the first worker gets a run; it may ask again.
func TestOnlyOneWorkerTakesARun(t *testing.T) {
	var won, again, lost update
	drive := func(context.Context, string, Run, bool) (Result, error) {
		return Result{Outcome: event.Completed}, nil
	}
	result, err := runWorkflow(t, drive, map[time.Duration]func(*testsuite.TestWorkflowEnvironment){
		0: func(env *testsuite.TestWorkflowEnvironment) {
			env.UpdateWorkflow(claim, "a", &won, first)
			env.UpdateWorkflow(claim, "b", &lost, second)
			env.UpdateWorkflow(claim, "c", &again, first)
		},
	})
	if err != nil || result.Outcome != event.Completed {
		t.Errorf("%+v, %v", result, err)
	}
	if won.err != nil || again.err != nil || lost.err == nil || !strings.Contains(lost.err.Error(), "the worker on one has taken the run") {
		t.Errorf("claims: %v, %v, %v", won.err, again.err, lost.err)
	}
}

// An answer is refused before a worker has the run, and after its sender has given up.
func TestAnswersThatComeTooEarlyOrTooLate(t *testing.T) {
	var early, late update
	drive := func(context.Context, string, Run, bool) (Result, error) {
		return Result{}, errors.New("not yet")
	}
	ctx := map[time.Duration]func(*testsuite.TestWorkflowEnvironment){
		0: func(env *testsuite.TestWorkflowEnvironment) {
			env.UpdateWorkflow(AnswerUpdate, "a", &early, Answer{Ask: "x", Allow: true, Until: env.Now().Add(AnswerTime)})
		},
		100 * time.Millisecond: func(env *testsuite.TestWorkflowEnvironment) {
			env.UpdateWorkflow(claim, "b", &update{}, first)
		},
		200 * time.Millisecond: func(env *testsuite.TestWorkflowEnvironment) {
			env.UpdateWorkflow(AnswerUpdate, "c", &late, Answer{Ask: "x", Allow: true, Until: env.Now().Add(-time.Second)})
		},
		time.Second: func(env *testsuite.TestWorkflowEnvironment) { env.CancelWorkflow() },
	}
	if _, err := runWorkflow(t, drive, ctx); err == nil {
		t.Error("the workflow was not cancelled")
	}
	if early.err == nil || !strings.Contains(early.err.Error(), "no worker has taken the run") || late.err == nil || !strings.Contains(late.err.Error(), "too late") {
		t.Errorf("early: %v, late: %v", early.err, late.err)
	}
}

// A mistake in the run's settings ends it at once.
func TestUsageErrorEndsTheRun(t *testing.T) {
	tries := 0
	_, err := runWorkflow(t, func(context.Context, string, Run, bool) (Result, error) {
		tries++
		return Result{}, temporal.NewNonRetryableApplicationError("no such folder", "usage", nil)
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "no such folder") || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// The session's events say what it waits for, and when its exchange has finished.
func TestFollower(t *testing.T) {
	var s follower
	apply := func(e event.Event) Result { s.last++; return s.apply(event.Envelope{Seq: s.last, Payload: e}) }
	apply(event.ExchangeFinished{Outcome: event.Completed}) // of an earlier prompt
	apply(event.PromptSubmitted{ID: 1, Text: "go", Key: "k"})
	apply(event.ApprovalAsked{ID: "a"})
	apply(event.QuestionAsked{ID: "q", Text: strings.Repeat("x", 2*maxAsk)})
	if len(s.waits) != 2 || s.waits[0].Cut || !s.waits[1].Cut || len(s.waits[1].Text) > maxAsk+3 {
		t.Errorf("waits %+v", s.waits)
	}
	apply(event.SessionResumed{})
	apply(event.ApprovalAsked{ID: "b"})
	apply(event.TaskFinished{Outcome: event.Completed}) // after a crash, the exchange is not over
	if len(s.waits) != 1 || s.waits[0].ID != "b" {
		t.Errorf("after a resume: %+v", s.waits)
	}
	apply(event.ApprovalAnswered{ID: "b"})
	if r := apply(event.ExchangeFinished{Outcome: event.MaxTurns}); r.Outcome != event.MaxTurns || len(s.waits) != 0 {
		t.Errorf("%+v, waits %+v", r, s.waits)
	}
}
