package workflow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/extensions/workflow"
	"buddy/tools"
)

// Part runs workflows as tasks of the main conversation. It is a [turn.Driver]; use New.
type Part struct {
	turn.Nothing
	turn.Driving
	Options
	session   turn.Session
	book      Book
	suggested sync.Map     // names of workflows that were suggested
	next      atomic.Int64 // the run that [event.Continue] resumes, or 0
}

// New returns a part without runs.
func New(o Options) *Part { return &Part{Options: o} }

// Name implements turn.Part.
func (*Part) Name() string { return "workflow" }

// Begin implements turn.Part.
func (p *Part) Begin(s turn.Session) { p.session = s }

// Bind implements turn.Driver.
func (p *Part) Bind(d turn.Driving) { p.Driving, p.book.stream, p.book.now = d, d.Stream, d.Now }

// Replay applies a stored event of an earlier process.
func (p *Part) Replay(env event.Envelope) { p.book.Replay(env) }

// note publishes a notice about workflows.
func (p *Part) note(text string) {
	p.Stream.Publish(0, 0, event.Notice{Text: text, Code: "workflow"})
}

// Handle executes commands about workflows. [event.Continue] resumes the run of an earlier process.
func (p *Part) Handle(c event.Command) bool {
	switch c := c.(type) {
	case event.RunWorkflow:
		p.run(c)
	case event.ResumeWorkflow:
		p.resume(c.Run)
	case event.CancelWorkflow:
		p.cancel(c.Run)
	case event.SaveWorkflow:
		p.save(c.Name)
	case event.Continue:
		next := int(p.next.Load())
		if next == 0 {
			return false
		}
		p.resume(next)
	default:
		return false
	}
	return true
}

// Run does nothing, because other drivers handle the tasks of prompts.
func (*Part) Run(context.Context, *turn.Exchange, bool) (event.Outcome, error) { return "", nil }

// Ended forgets the run of an earlier process, because [event.Continue] now means the newer task.
func (p *Part) Ended(event.Outcome, error) bool {
	p.next.Store(0)
	return false
}

// Left pauses the run that was active when an earlier process ended, and reports whether there is one to resume. The
// resumed run settles its own calls.
func (p *Part) Left(l *record.Branch) bool {
	if l == nil {
		return false
	}
	maps.DeleteFunc(l.Calls, func(id string, _ *record.Call) bool { return p.book.owns(id) })
	if !l.Open {
		return false
	}
	next := p.book.active()
	switch {
	case next != 0:
		_ = p.book.publish(0, event.WorkflowChanged{Run: next, State: event.WorkflowPaused, Why: "buddy ended while it ran"})
	case l.Paused:
		next = p.book.paused()
	}
	p.next.Store(int64(next))
	return next != 0
}

// Waits describes the paused run of an earlier process.
func (p *Part) Waits() string {
	if p.next.Load() == 0 {
		return ""
	}
	return "the workflow is paused · Enter or /workflow resume continues it"
}

// Past does nothing, because finished steps are not undone.
func (*Part) Past() (seen func(event.Event), goBack func()) { return func(event.Event) {}, func() {} }

// run starts a workflow.
func (p *Part) run(c event.RunWorkflow) {
	if p.All == nil {
		p.Stream.Reject("%v", errNone)
		return
	}
	p.startTask(strings.TrimSpace("/workflow "+c.Name+" "+workflow.Line(c.Inputs)), func(ctx context.Context, with working) (*run, error) {
		def, err := p.Find(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		if err := p.possible(def); err != nil {
			return nil, err
		}
		return p.book.start(def, c.Inputs, with, event.WorkflowStarted{})
	})
}

// possible returns why a workflow can't run in this session, or nil. It checks the steps' tools, but not the tools of
// MCP servers, which may appear later.
func (p *Part) possible(def *workflow.Workflow) error {
	demo := p.session.Selection.Model().Info().API == model.Demo
	for _, s := range def.Steps {
		if demo && s.Tool == tools.Agent {
			return fmt.Errorf("workflow %s: step %s needs a model, and none is configured (/login connects one)", def.Name, s.ID)
		}
		if s.Tool == workflow.Runner || strings.HasPrefix(s.Tool, "mcp__") {
			continue
		}
		if _, err := p.session.Selection.Tools().Lookup(s.Tool); err != nil {
			return fmt.Errorf("workflow %s: step %s can't run: %w", def.Name, s.ID, err)
		}
	}
	return nil
}

// resume resumes a paused run; 0 is the newest.
func (p *Part) resume(number int) {
	if number = cmp.Or(number, p.book.paused()); number == 0 {
		p.Stream.Reject("no workflow is paused")
		return
	}
	p.startTask(fmt.Sprintf("/workflow resume %d", number), func(_ context.Context, with working) (*run, error) {
		return p.book.resume(number, with)
	})
}

// maxNews limits the summary of an ended run for the model, in bytes.
const maxNews = 4 << 10

// startTask starts the task of a run. The model gets a summary with the next prompt.
func (p *Part) startTask(line string, open func(context.Context, working) (*run, error)) {
	p.Start(line, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		r, err := open(ctx, working{p, turn.NewSteps(p.Loop, x)})
		if err != nil {
			return event.Failed, err
		}
		outcome, err := r.do(ctx)
		text := "The user ran the workflow " + r.rec.Name + "; do nothing about it unless the user asks. " + r.summary()
		x.Tell(reminder.Workflow, compact.Clip(inject.Defuse(text, inject.Scan(text)), maxNews))
		return outcome, err
	})
}

// cancel ends an active or paused run; 0 is the newest.
func (p *Part) cancel(number int) {
	r := p.book.get(cmp.Or(number, p.book.active(), p.book.paused()))
	switch {
	case r.active() && p.Cancel(r.Task):
	case r.State == event.WorkflowPaused:
		_ = p.book.publish(0, event.WorkflowChanged{Run: r.Run, State: event.WorkflowCancelled})
		p.next.Store(0)
		p.note("the workflow " + r.Name + " is cancelled; the finished steps are not undone")
	default:
		p.Stream.Reject("no such workflow run is active")
	}
}
