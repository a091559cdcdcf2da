package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	format "buddy/extensions/workflow"
	"buddy/tools"
)

// TestAWorkflowIsSuggestedOnce: one line for each workflow that a prompt fits, and none is started.
func TestAWorkflowIsSuggestedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Session: "s", Model: &script{}, Tools: tools.NewRegistry(), Workflows: Workflows{Fitting: func(prompt string) (name, usage string) {
			if strings.Contains(prompt, "review") {
				return "code_review", "code_review [base=main]"
			}
			return "", ""
		}}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events := r.Subscribe(ctx)
		r.Start()
		for _, text := range []string{"hello", "review this", "review that"} {
			synctest.Wait()
			r.Send(event.Submit{Text: text})
			synctest.Wait()
		}
		_ = r.Close(context.Background())
		var said []string
		for env := range events {
			switch p := env.Payload.(type) {
			case event.Notice:
				if p.Code == "workflow" {
					said = append(said, p.Text)
				}
			case event.WorkflowStarted:
				t.Error("a workflow was started")
			}
		}
		if len(said) != 1 || said[0] != "a workflow may fit: /workflow code_review [base=main]" {
			t.Errorf("%q", said)
		}
	})
}

// TestWorkflowsAreListed: what can be started with what it needs, what was left out, and the runs that can
// be gone on with; not those that are over.
func TestWorkflowsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := workflowsOf(t, rollout)
		o.All = func() ([]format.Workflow, []string, error) {
			w, err := o.Find(t.Context(), "rollout")
			return []format.Workflow{*w}, []string{"/w/x.yaml: left out: line 1: name: is missing"}, err
		}
		r := New(Options{Session: "s", Model: &script{}, Tools: tools.NewRegistry(), Workflows: o})
		for i, state := range []event.WorkflowState{event.WorkflowPaused, event.WorkflowCompleted} {
			r.tasks.workflows.book.Replay(event.Envelope{Payload: event.WorkflowStarted{Run: i + 1, Name: "rollout"}})
			r.tasks.workflows.book.Replay(event.Envelope{Payload: event.WorkflowChanged{Run: i + 1, State: state, Why: "why"}})
		}
		events := r.Subscribe(t.Context())
		r.Start()
		r.Send(event.Report{What: event.ReportWorkflows})
		synctest.Wait()
		_ = r.Close(context.Background())
		text := ""
		for env := range events {
			if p, ok := env.Payload.(event.Notice); ok && p.Code == string(event.ReportWorkflows) {
				text = p.Text
			}
		}
		want := "workflows, which /workflow NAME INPUT=VALUE... runs:\n  rollout  A test. (needs rest)\n/w/x.yaml: left out: line 1: name: is missing\n" +
			"runs of this session to go on with:\n  /workflow resume 1  rollout  paused (why)"
		if text != want {
			t.Errorf("got\n%s\nwant\n%s", text, want)
		}
	})
}
