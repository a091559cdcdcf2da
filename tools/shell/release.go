package shell

import (
	"context"
	"fmt"
	"time"

	"buddy/tmux"
	"buddy/tools"
)

// toTheEnd is the patience of a call that waits for its command without limit.
const toTheEnd time.Duration = -1

// Releases implements [tools.Releasable]: every command can keep running without its call.
func (*Shell) Releases(tools.Call) bool { return true }

// await waits for the end of a command, up to patience. If the command still runs then, or the user sends it to the
// background, it becomes a task.
func (t *Shell) await(ctx context.Context, call tools.Call, job *shellJob, patience time.Duration, limit int) tools.Result {
	defer job.out.detach()
	note := job.awaitEnd(ctx, call, patience)
	if note == "" {
		res, err := wait(ctx, job.run)
		if job.shared {
			cwd := job.run.Cwd()
			t.cwd.Store(&cwd)
		}
		r := finished(res, err, limit, t.elsewhere())
		r.Stopped = r.Stopped && !released(call) // a command that the user sent to the background is not started again
		return r
	}
	job.pane = t.ref(job.run.Pane()).String()
	if job.shared {
		t.left.Store(job.run)
	}
	t.jobs.begin(call, job)
	asked := note == asks
	note += fmt.Sprintf("; it still runs as task %d", job.id)
	if job.pane != "" {
		note += " in pane " + job.pane
	}
	note += fmt.Sprintf(`. You will get its end. Through use_tool: task_output {"id":%d} and capture-pane show how it goes, task_kill {"id":%d} ends it.`, job.id, job.id)
	if job.shared {
		note += " Until it ends, each command runs in a pane of its own, with the folder and variables from before this one; changes to them are lost."
	}
	if asked {
		return job.asked(ctx, note, limit)
	}
	return job.result(note, limit)
}

// awaitEnd waits up to patience for the end of a call's command. It returns the reason why the command continues as a
// task, or "" if it has ended or ends because ctx has ended.
func (s *shellJob) awaitEnd(ctx context.Context, call tools.Call, patience time.Duration) string {
	var late <-chan time.Time
	switch {
	case patience == 0:
		return "started"
	case patience > 0:
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	why := ""
	select {
	case <-s.run.Done():
	case <-ctx.Done():
	case <-call.Release:
	case <-late:
		why = fmt.Sprintf("did not end within %s", patience)
	case <-s.asks():
		why = asks
	}
	if released(call) && !s.over() { // also when a parallel call ended ctx at the same time
		why = "the user sent it to the background"
	}
	return why
}

// asks explains why a command that waits for keys continues as a task.
const asks = "it waits for keys, and nobody is there to type: send-keys types into its pane; after a time without keys it is ended"

// asks returns a channel that is closed when the command waits for keys. The channel is nil if the user can type them.
func (s *shellJob) asks() <-chan struct{} {
	if s.shell.alone {
		return s.out.waits
	}
	return nil
}

// asked returns the state of a command that waits for keys, with the end of its pane's screen. The screen matters
// because programs ask their questions there even if their output goes elsewhere.
func (s *shellJob) asked(ctx context.Context, note string, limit int) tools.Result {
	r := s.result(note, limit)
	looking, stop := context.WithTimeout(ctx, lookLimit)
	defer stop()
	_, text, err := s.shell.panes.Capture(looking, s.run.Pane(), tmux.View{})
	if err != nil || s.over() {
		return r // without a screen, the output must suffice
	}
	shown := tools.Streams(cutStart(text, limit, 0), "", note)
	shown.Outcome = r.Outcome
	return shown
}

// lookLimit limits the time to capture a pane.
const lookLimit = 3 * time.Second

// released reports whether the user has sent the call to the background.
func released(call tools.Call) bool {
	select {
	case <-call.Release:
		return true
	default:
		return false // also for a nil channel
	}
}

// untilReleased returns a context that also ends when the user sends the call to the background. Call stop when the
// context is not needed any more.
func untilReleased(ctx context.Context, call tools.Call) (until context.Context, stop func()) {
	until, stop = context.WithCancel(ctx)
	if call.Release != nil {
		go func() {
			select {
			case <-call.Release:
				stop()
			case <-until.Done():
			}
		}()
	}
	return until, stop
}

// sharedBusy reports whether a command that was sent to the background still occupies the shared pane. When that
// command ends, the next one starts in the folder where it left the shell.
func (t *Shell) sharedBusy() bool {
	run := t.left.Load()
	if run == nil {
		return false
	}
	select {
	case <-run.Done():
		if t.left.CompareAndSwap(run, nil) {
			cwd := run.Cwd()
			t.departed.Store(t.cwd.Swap(&cwd))
		}
		return false
	default:
		return true
	}
}

// moved returns an error if the shell is no longer in the folder that was approved for the call, because a background
// command has ended elsewhere since the call was planned.
func (t *Shell) moved(call tools.Call) error {
	now, planned := t.Cwd(), call.Planned.Cwd
	for _, at := range call.Planned.Targets {
		if at.Target == t.target {
			planned = at.Cwd
		}
	}
	if before := t.departed.Load(); before == nil || planned == "" || planned != *before || planned == now {
		return nil
	}
	return fmt.Errorf("the command in the background has ended meanwhile, and the shell is in %q now instead of %q: call it again", now, planned)
}

// runsShared reports whether a revived command runs in the shared pane.
func (t *Shell) runsShared(run *tmux.Running) bool {
	id := run.Pane()
	return id != "" && id == t.panes.Pane()
}
