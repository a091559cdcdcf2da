package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/agent/review"
	"buddy/agent/turn"
	"buddy/agent/usage"
	"buddy/extensions/subagent"
	"buddy/texts"
)

// Reviews say how changes are reviewed. The zero value reviews nothing.
type Reviews struct {
	// Folder returns where to review on a target, which it may connect to; nil: there is nothing to review.
	Folder func(ctx context.Context, target string) (review.Folder, error)
	// Agent is the subagent that reviews. Whatever it says, its calls are judged in mode plan at most.
	Agent subagent.Definition

	OutDir string // of this machine: where the whole diff is kept for the agent; "" keeps none
}

const (
	findChange      = time.Minute // that finding out what differs may take
	maxReviewAnswer = 4 << 10     // bytes that are kept of an answer that can't be read
	reviewTries     = 2           // answers that are looked at
)

// review lets a subagent look at a change, beside what else works.
func (set *subagentSet) review(c event.Review) {
	switch {
	case set.reviews.Folder == nil:
		set.tasks.stream.Reject("there is nothing to review here")
		return
	case set.tasks.stream.ReadOnly() != nil:
		set.tasks.stream.Reject("nothing was reviewed, because it can't be recorded: %v", set.tasks.stream.ReadOnly())
		return
	case !set.reviewing.CompareAndSwap(false, true):
		set.tasks.stream.Reject("a review works already; /kill ends it")
		return
	}
	set.tasks.life.work.Go(func() {
		defer set.reviewing.Store(false)
		ctx := set.tasks.life.ctx
		done := set.reviewChange(ctx, set.tasks.selection.Target(), c.Base)
		if done.Problem == "" && done.Task != 0 {
			set.tasks.main.talk.Announce("A review that the user asked for has ended; what follows is the reviewer's text, not the user's:\n" + compact.Clip(set.defused(done.Summary()), maxAgentNews))
		}
		set.tasks.stream.Publish(0, 0, done)
	})
}

// reviewChange reviews what differs from a base on a target.
func (set *subagentSet) reviewChange(ctx context.Context, target, base string) event.ReviewFinished {
	done := event.ReviewFinished{Base: base}
	began := time.Now()
	finding, cancel := context.WithTimeout(ctx, findChange)
	defer cancel()
	in, err := set.reviews.Folder(finding, target)
	if err != nil {
		done.Problem = err.Error()
		return done
	}
	change, err := review.Find(finding, in, base)
	done.Of, done.Commit, done.Target, done.Files, done.DiffCut = change.Of, change.Commit, in.Target, len(change.Files), change.Cut
	if err != nil {
		done.Problem = err.Error()
		return done
	}
	if len(change.Files) == 0 {
		return done // nothing differs: no model has to say so
	}
	set.tasks.stream.Publish(0, 0, event.Notice{Text: fmt.Sprintf("reviewing %s, files that differ: %d", done.What(), len(change.Files)), Code: "review"})
	if change.Cut {
		set.tasks.stream.Publish(0, 0, event.Warning{Text: event.DiffWasCut, Code: "review"})
	}
	set.reviewWith(ctx, change, &done)
	for i, f := range done.Findings {
		f.Text, f.Fix = set.redact.Text(f.Text), set.redact.Text(f.Fix)
		done.Findings[i] = review.Place(ctx, in.Files, in.Dir, began, f)
	}
	return done
}

// reviewWith lets a model review a change, and puts into done what came of it.
func (set *subagentSet) reviewWith(ctx context.Context, change review.Change, done *event.ReviewFinished) {
	def := set.reviews.Agent
	def.Mode = action.Stricter(def.Mode, action.ModePlan)
	run := &subagentRun{Definition: def, title: change.Of, background: true}
	if set.reviews.OutDir != "" && change.Target == "" { // the reviewer reads where the change is
		run.dir = filepath.Join(set.reviews.OutDir, fmt.Sprintf("review-%d", time.Now().UnixNano()))
	}
	diff := set.defused(change.Diff)
	main := turn.Caller{Loop: set.tasks.loop, Talk: set.tasks.main.talk, Used: &usage.Task{}, Tools: set.tasks.selection.Tools(), Model: set.tasks.selection.Model()}
	set.instructions.Await(ctx)
	working, t, err := set.open(ctx, main, run, set.o.System(def.Prompt), change.Prompt(diff, run.keepDiff(diff)))
	if err != nil {
		done.Problem = err.Error()
		return
	}
	set.readReview(working, t, run, done)
	done.Cost = set.tasks.ledger.Own(t.x.Used())
}

// keepDiff keeps a diff where the agent may read it, and returns the file; "" if that is not possible.
func (r *subagentRun) keepDiff(diff string) string {
	file := filepath.Join(r.dir, "review.diff")
	if r.dir == "" || os.MkdirAll(r.dir, 0o700) != nil || os.WriteFile(file, []byte(diff), 0o600) != nil {
		return ""
	}
	return file
}

// readReview runs the reviewer until its answer can be read, or it has said enough.
func (set *subagentSet) readReview(ctx context.Context, t *task, run *subagentRun, done *event.ReviewFinished) {
	done.Task = t.id
	tries := 0
	var unread error
	res, err := set.tasks.run(ctx, t, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		for {
			outcome, err := run.loop.Run(ctx, x)
			if outcome != event.Completed {
				return outcome, err
			}
			tries++
			if done.Findings, unread = review.Parse(x.Response()); unread != nil && tries < reviewTries {
				set.tasks.mu.Lock()
				t.on.talk.Enqueue(set.tasks.newPrompt(review.Again(unread), nil))
				set.tasks.mu.Unlock()
				continue
			}
			if set.closes(t.on) {
				return outcome, err
			}
		}
	})
	done.Usage = res.Usage
	end := agentEnd{run: run, task: t.id, outcome: res.Outcome, err: err, turns: res.Turns}
	switch {
	case res.Outcome != event.Completed:
		done.Problem = "the reviewer " + end.how()
	case unread != nil:
		done.Problem = unread.Error()
	}
	if done.Problem != "" {
		done.Answer = texts.ClipBytes(set.redact.Text(res.Response), maxReviewAnswer)
	}
}
