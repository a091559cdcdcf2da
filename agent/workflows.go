package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/agent/workflow"
	format "buddy/extensions/workflow"
	"buddy/tools"
)

// Workflows say which workflows there are, and where they look for files. The zero value has none.
type Workflows struct {
	// Find returns the workflow of a name, checked; nil: there are none.
	Find func(ctx context.Context, name string) (*format.Workflow, error)
	// Exists reports whether there is a file on a target, "" for the current one.
	Exists func(ctx context.Context, target, path string) (bool, error)
	// Draft writes calls as a workflow, and returns where it may be kept.
	Draft func(name, description string, calls []format.DraftCall) (text string, files []WorkflowFile, err error)
	// Fitting returns how a workflow is started that a prompt's words fit, and its name; "" for none. nil: none is suggested.
	Fitting func(prompt string) (name, usage string)
	// Single is the name of the only target, "" if there are several.
	Single string
}

// workflowRuns runs workflows, each as an exchange of the main conversation. The lock of tasks guards
// next.
type workflowRuns struct {
	tasks *tasks
	o     Workflows
	book  *workflow.Book
	next  int // the run that Continue takes up; 0: it is none

	closing atomic.Bool // the session ends

	suggested sync.Map // names of workflows
}

var errNoWorkflows = errors.New("there are no workflows here")

// handle does a command about workflows.
func (w *workflowRuns) handle(c event.Command) {
	switch c := c.(type) {
	case event.RunWorkflow:
		w.start(c)
	case event.ResumeWorkflow:
		w.resume(c.Run)
	case event.CancelWorkflow:
		w.cancel(c.Run)
	case event.SaveWorkflow:
		w.save(c.Name)
	}
}

// start runs a workflow.
func (w *workflowRuns) start(c event.RunWorkflow) {
	if w.o.Find == nil {
		w.tasks.stream.Reject("%v", errNoWorkflows)
		return
	}
	text := strings.TrimSpace("/workflow " + c.Name + " " + format.Line(c.Inputs))
	w.begin(text, func(ctx context.Context, p workflow.Parts) (*workflow.Run, error) {
		def, err := w.o.Find(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		if err := w.possible(def); err != nil {
			return nil, err
		}
		return w.book.Start(def, c.Inputs, p)
	})
}

// suggest says in one line which workflow a prompt's words fit, once for each. It waits for no file: that
// line may come while the answer does.
func (w *workflowRuns) suggest(c event.Submit) {
	if w.o.Fitting == nil || c.Task != 0 || c.Shell {
		return
	}
	w.tasks.life.work.Go(func() {
		name, usage := w.o.Fitting(c.Text)
		if name == "" {
			return
		}
		if _, known := w.suggested.LoadOrStore(name, true); !known {
			w.tasks.stream.Publish(0, 0, event.Notice{Text: "a workflow may help: /workflow " + usage, Code: "workflow"})
		}
	})
}

// WorkflowRuns returns the runs of workflows, the oldest first. Any goroutine may call it.
func WorkflowRuns(r *Runtime) []workflow.Summary { return r.tasks.workflows.book.Runs() }

// possible returns why a workflow can't run in this session, or nil: what its steps call must be there before
// the first one begins. Tools of MCP servers may come later.
func (w *workflowRuns) possible(def *format.Workflow) error {
	demo := w.tasks.selection.Model().Info().API == model.Demo
	for _, s := range def.Steps {
		if demo && s.Tool == tools.Agent {
			return fmt.Errorf("workflow %s: step %s needs a model, and none is configured (/login connects one)", def.Name, s.ID)
		}
		if s.Tool == format.Runner || strings.HasPrefix(s.Tool, "mcp__") {
			continue
		}
		if _, err := w.tasks.selection.Tools().Lookup(s.Tool); err != nil {
			return fmt.Errorf("workflow %s: step %s can't run: %w", def.Name, s.ID, err)
		}
	}
	return nil
}

// resume goes on with a run that is paused.
func (w *workflowRuns) resume(run int) {
	if run == 0 {
		run = w.book.Paused()
	}
	if run == 0 {
		w.tasks.stream.Reject("no workflow is paused")
		return
	}
	w.begin(fmt.Sprintf("/workflow resume %d", run), func(_ context.Context, p workflow.Parts) (*workflow.Run, error) {
		return w.book.Resume(run, p)
	})
}

// begin opens the exchange of a run.
func (w *workflowRuns) begin(text string, open func(context.Context, workflow.Parts) (*workflow.Run, error)) {
	w.exchange(text, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		run, err := open(ctx, w.parts(x))
		if err != nil {
			return event.Failed, err
		}
		outcome, err := run.Do(ctx)
		w.told(run)
		return outcome, err
	})
}

// exchange lets work be an exchange that a person began with a command.
func (w *workflowRuns) exchange(text string, do work) {
	s := w.tasks
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.main.task; t != nil {
		s.stream.Reject("%s: not done, because task #%d is running", text, t.id)
		return
	}
	if err := s.stream.StoreError(); err != nil {
		s.stream.Reject("%s: not done, because the session can't be saved: %v", text, err)
		return
	}
	p := s.newPrompt(text, nil)
	p.Kind = event.Typed
	s.start(s.main, event.MainTask, []event.PromptSubmitted{p}, do)
}

// parts returns what a run works with in an exchange. The caller is the task of the main conversation.
func (w *workflowRuns) parts(x *turn.Exchange) workflow.Parts {
	s := w.tasks
	s.mu.Lock()
	id := s.main.task.id
	s.mu.Unlock()
	return workflow.Parts{
		Find: w.o.Find, Task: id, Steps: turn.NewSteps(s.loop, x), Exists: w.o.Exists, Single: w.o.Single, Ended: w.closing.Load,
		Ask: func(ctx context.Context, q event.QuestionAsked) (event.QuestionAnswered, error) {
			return turn.AskGate(ctx, s.loop, x, q)
		},
	}
}

// maxWorkflowNews limits what the model is told of a run, in bytes.
const maxWorkflowNews = 4 << 10

// told lets the model know with the next prompt how a run has ended.
func (w *workflowRuns) told(run *workflow.Run) {
	s := w.tasks
	text := "The user ran the workflow " + run.Name() + "; do nothing about it unless the user asks. " + run.Summary()
	s.mu.Lock()
	defer s.mu.Unlock()
	text = compact.Clip(inject.Defuse(text, inject.Scan(text)), maxWorkflowNews)
	s.main.talk.Attach(s.main.task.id, 0, event.ReminderAttached{Kinds: []string{reminder.Workflow}, Text: reminder.Wrap(text)})
}

// cancel ends a run, whether it runs or is paused.
func (w *workflowRuns) cancel(run int) {
	if task := w.book.Running(run); task != 0 && w.tasks.cancel(task) {
		return
	}
	name, ok := w.book.Cancel(run)
	if !ok {
		w.tasks.stream.Reject("no such workflow run is active")
		return
	}
	w.tasks.mu.Lock()
	w.next = 0
	w.tasks.mu.Unlock()
	w.tasks.stream.Publish(0, 0, event.Notice{Text: "the workflow " + name + " is cancelled; the finished steps are not undone", Code: "workflow"})
}

// pauseLeft pauses the run that an earlier process was at when it ended, and reports whether there is
// one to go on with. It is called for the exchange that was cut off; paused says that this was left
// paused. The caller holds the lock of tasks.
func (w *workflowRuns) pauseLeft(paused bool) bool {
	run := w.book.Left()
	switch {
	case run != 0:
		w.book.Pause(0, run, "buddy ended while it ran")
	case paused:
		run = w.book.Paused()
	}
	if run == 0 {
		return false
	}
	w.next, w.tasks.main.pending = run, true
	defer w.tasks.startNext(w.tasks.main)
	w.tasks.stream.Publish(0, 0, event.Interrupted{Text: "the workflow is paused · Enter or /workflow resume continues it", CanContinue: true})
	return true
}
