package turn

import (
	"context"
	"fmt"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/tools"
)

// Trier is a part that tries commands: it runs them in a sandbox that collects their file changes in a private folder.
type Trier interface {
	// Try tries the command of a call. If the time limit is over while the command still runs, Try calls the function
	// more, and continues if that returns true. An error means that nothing is left of the try; its text is a clause for
	// the person.
	Try(ctx context.Context, call tools.Call, more func(ctx context.Context, limit action.Tried) bool) (Trial, error)
}

// Trial is a command that was tried. Its owner calls Discard at the end, also after Keep.
type Trial interface {
	// Began returns when the command was started.
	Began() time.Time
	// Tried describes the command and its changes for the person.
	Tried() action.Tried
	// Conflicts returns the changed paths that others have changed since the command started.
	Conflicts() ([]string, error)
	// Keep makes exactly these changes. After an error, some of them may be missing; the error says so.
	Keep() error
	// Result returns what the command printed, as the result of the call.
	Result() tools.Result
	Discard() error
}

// tryFirst tries the command of a call until the person has decided about it, and returns the last answer. If the
// changes are to be kept, j has the trial.
func tryFirst(ctx context.Context, b *batch, j *job, req approval.Request) event.ApprovalAnswered {
	for {
		trial, ended := try(ctx, b, j, &req)
		if ended != nil {
			return *ended
		}
		answer := afterTry(ctx, b, &req, trial)
		if answer.Decision == event.Keep {
			j.trial = trial
			return answer
		}
		discard(b, trial)
		if answer.Decision != event.Try {
			return answer
		}
	}
}

// try tries the command of a call, and adds what the person has to know to the request. ended is set if a person
// decided before the command ended, or if the exchange has ended. After a failed try, trial and ended are nil.
func try(ctx context.Context, b *batch, j *job, req *approval.Request) (trial Trial, ended *event.ApprovalAnswered) {
	trying, stop := context.WithCancel(ctx)
	defer stop()
	more := func(ctx context.Context, so action.Tried) bool {
		asked := *req
		asked.Tried = &so
		answer := b.loop.p.Approvals.Request(ctx, asked)
		if answer.Decision != event.Try && answer.By != "cancel" { // cancel: the command ended while the person was asked
			ended = &answer
			stop()
		}
		return answer.Decision == event.Try
	}
	err := fmt.Errorf("commands can't be tried in this session")
	for _, p := range b.loop.o.Parts {
		if t, ok := p.(Trier); ok {
			trial, err = t.Try(trying, j.call, more)
		}
	}
	req.Tried, req.Untried = nil, ""
	switch {
	case ended != nil || ctx.Err() != nil:
		discard(b, trial)
		if ended == nil {
			ended = &event.ApprovalAnswered{CallID: j.call.ID, Decision: event.Deny, By: "cancel"}
		}
		return nil, ended
	case err != nil:
		req.Untried = b.loop.o.Redact.Text(err.Error())
	default:
		tried := trial.Tried()
		tried.Output = b.loop.o.Redact.Text(tried.Output)
		for i := range tried.Files {
			tried.Files[i].Preview = b.loop.o.Redact.Text(tried.Files[i].Preview)
		}
		for i := range tried.Doubts {
			tried.Doubts[i] = b.loop.o.Redact.Text(tried.Doubts[i])
		}
		req.Tried = &tried
	}
	return trial, nil
}

// afterTry asks the person about a command that was tried. If the answer is to keep changes that can't be kept, it asks
// again.
func afterTry(ctx context.Context, b *batch, req *approval.Request, trial Trial) event.ApprovalAnswered {
	b.loop.notify(b.x, b.turn, "permission_prompt", "buddy has tried a command and needs your decision")
	for {
		answer := b.loop.p.Approvals.Request(ctx, *req)
		if answer.Decision != event.Keep {
			return answer
		}
		paths, err := trial.Conflicts()
		if err == nil && len(paths) == 0 {
			return answer
		}
		tried := *req.Tried
		if tried.Conflicts = paths; err != nil {
			tried.Stopped = err.Error()
		}
		req.Tried = &tried
	}
}

// keep makes the changes of a command that was tried, and returns its result.
func keep(b *batch, trial Trial, call string) tools.Result {
	defer discard(b, trial)
	if err := b.loop.p.Stream.Record(b.x.task, b.turn, event.EffectApplying{CallID: call}); err != nil {
		return tools.Problem("nothing ran, because the session could not be saved: " + err.Error())
	}
	if err := trial.Keep(); err != nil {
		return tools.Problem("the user wanted to keep the changes of a try of this command, but: " + err.Error())
	}
	b.publish(event.EffectApplied{CallID: call, Files: trial.Tried().Count})
	return trial.Result()
}

// discard removes what is left of a trial, which may be nil.
func discard(b *batch, trial Trial) {
	if trial == nil {
		return
	}
	if err := trial.Discard(); err != nil {
		b.publish(event.Warning{Text: fmt.Sprintf("a tried command's files were not removed: %v", err), Code: "try"})
	}
}
