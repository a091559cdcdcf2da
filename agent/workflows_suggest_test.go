package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/turn"
	"buddy/extensions"
	steps "buddy/extensions/workflow"
	"buddy/features/workflow"
	"buddy/tools"
)

// TestAWorkflowIsSuggestedOnce: one line for each workflow that a prompt fits, and none is started.
func TestAWorkflowIsSuggestedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Session: "s", Model: &script{}, Tools: tools.NewRegistry(), Features: turn.Features{Parts: []turn.Part{workflow.New(workflow.Options{Fitting: func(prompt string) (found []steps.Workflow) {
			if strings.Contains(prompt, "review") {
				found = append(found, steps.Workflow{Item: extensions.Item{Name: "code_review"}, Inputs: []steps.Input{{Name: "base", Default: "main"}}})
			}
			return found
		}})}}})
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
		if len(said) != 1 || said[0] != "a workflow may help: /workflow code_review [base=main]" {
			t.Errorf("%q", said)
		}
	})
}
