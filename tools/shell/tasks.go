package shell

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"buddy/agent/action"
	"buddy/tools"
)

var (
	//go:embed task_output.md
	taskOutputText string
	//go:embed task_kill.md
	taskKillText string
)

type taskOutputArgs struct {
	ID   int    `json:"id,omitempty"`
	Pane string `json:"pane,omitempty"`
	Wait string `json:"wait,omitempty" desc:"for its end, at most this time"`
	Why  string `json:"why,omitempty" schema:"-"`
}

// patience parses wait.
func (a taskOutputArgs) patience() (time.Duration, error) {
	if a.Wait == "" {
		return 0, nil
	}
	d, err := tools.ParseDuration(a.Wait)
	if err != nil {
		return 0, tools.Invalid("wait: %v", err)
	}
	return d, nil
}

type taskOutput struct {
	shell *Shell
	tools.Typed[taskOutputArgs]
}

// NewTaskOutput returns the tool task_output, which reports on a command that shell left
// running.
func NewTaskOutput(shell *Shell) tools.Tool {
	return tools.New(&taskOutput{shell: shell}, "task_output", taskOutputText)
}

func (*taskOutput) Parallel(tools.Call) bool { return true }

// Patient returns true for a call that sets how long it waits.
func (*taskOutput) Patient(call tools.Call) bool {
	args, err := tools.Decode[taskOutputArgs](call)
	return err == nil && args.Wait != ""
}

func (t *taskOutput) PlanArgs(args taskOutputArgs) (action.Action, error) {
	if _, err := args.patience(); err != nil {
		return action.Action{}, err
	}
	if err := named(args.ID, args.Pane); err != nil {
		return action.Action{}, err
	}
	return tools.PlanInternal(t.Name(), args.Why), nil
}

// named returns an error if neither the number nor the pane of a command is given.
func named(id int, pane string) error {
	if id == 0 && pane == "" {
		return tools.Invalid("id or pane: one of them is needed")
	}
	return nil
}

func (t *taskOutput) RunArgs(ctx context.Context, _ tools.Call, args taskOutputArgs) tools.Result {
	job, err := t.shell.jobs.find(args.ID, args.Pane)
	if err != nil {
		return tools.Failure(err)
	}
	patience, err := args.patience()
	if err != nil {
		return tools.Failure(err)
	}
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-job.run.Done():
		case <-timer.C:
		case <-ctx.Done():
			return tools.Failure(fmt.Errorf("waiting for task %d: %w", job.id, ctx.Err()))
		}
	}
	where := ""
	if job.pane != "" {
		where = " in pane " + job.pane
	}
	return job.result(fmt.Sprintf("task %d still runs%s, for %d s now", job.id, where, int(time.Since(job.since).Seconds())), job.shell.limits.Output)
}

type taskKillArgs struct {
	ID   int    `json:"id,omitempty"`
	Pane string `json:"pane,omitempty"`
	Why  string `json:"why,omitempty" schema:"-"`
}

type taskKill struct {
	shell *Shell
	tools.Typed[taskKillArgs]
}

// NewTaskKill returns the tool task_kill, which ends a command that shell left running.
func NewTaskKill(shell *Shell) tools.Tool {
	return tools.New(&taskKill{shell: shell}, "task_kill", taskKillText)
}

// PlanArgs returns an action for which few policies ask, because the tool only ends commands that buddy started.
func (t *taskKill) PlanArgs(args taskKillArgs) (action.Action, error) {
	if err := named(args.ID, args.Pane); err != nil {
		return action.Action{}, err
	}
	shell := t.shell
	if job, err := t.shell.jobs.find(args.ID, args.Pane); err == nil { // Run reports an unknown command
		shell = job.shell
	}
	act := shell.planManaged(t.Name(), args.Why)
	act.Op = "kill"
	return act, nil
}

func (t *taskKill) RunArgs(ctx context.Context, _ tools.Call, args taskKillArgs) tools.Result {
	job, err := t.shell.jobs.find(args.ID, args.Pane)
	if err != nil {
		return tools.Failure(err)
	}
	if job.over() {
		return job.result("", job.shell.limits.Output)
	}
	job.shell.touched.Add(1)
	job.run.Cancel()
	select {
	case <-job.run.Done():
		res, _ := job.run.Wait(ctx)
		out, errs := job.out.text(job.shell.limits.Output)
		return tools.Streams(out, errs, fmt.Sprintf("task %d was ended, exit code %d", job.id, res.ExitCode))
	case <-ctx.Done():
		return tools.Failure(fmt.Errorf("task %d was asked to end and is still running", job.id))
	}
}
