package workflow

import (
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/show"
	"buddy/extensions"
	"buddy/extensions/workflow"
	"buddy/tools/toolset"
)

const deploy = `name: deploy
description: Roll a version out.
inputs:
  version: {type: string}
  service: {type: string, default: app}
steps:
  - id: look
    tool: run_shell
    params: {command: "echo {{ inputs.version }} {{ inputs.service }}", why: look}
`

// TestWorkflowLists: paused runs come first, then workflows with their required inputs, and files with problems; ended
// runs are missing. The inputs of a run are typed.
func TestWorkflowLists(t *testing.T) {
	w, mistakes := workflow.Read(extensions.Item{Kind: extensions.Workflow, Name: "deploy", Origin: extensions.Project, File: "/w/.buddy/workflows/deploy.yaml", Source: deploy}, toolset.Arguments())
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	began := time.Date(2026, 11, 30, 9, 0, 0, 0, time.Local)
	runs := []Summary{
		{Run: 1, Name: "deploy", Began: began, State: event.WorkflowPaused, Why: "buddy ended while it ran", Steps: []string{"✔ look", "‖ roll 1/3: paused"}},
		{Run: 2, Name: "deploy", Began: began, State: event.WorkflowCompleted},
		{Run: 3, Name: "other", Began: began, State: event.WorkflowPaused, Parent: 1},
		{Run: 4, Name: "look", Began: began, State: event.WorkflowRunning},
	}
	left := []extensions.Problem{{Kind: extensions.Workflow, File: "/w/x.yaml", Line: 1, Reason: "name: is missing"}}
	list := listOf(Set{All: []workflow.Workflow{w}, Problems: left}, runs, false)
	want := `Workflows:
* 1  deploy           run 1    paused (buddy ended while it ran)
       ✔ look
       ‖ roll 1/3: paused
  2  deploy  version  project  Roll a version out.
  3  x.yaml                    left out
       /w/x.yaml:1: left out: name: is missing
`
	if got := (show.Answer{List: &list.List}).String(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	run := list.Rows[1].Deeds[0]
	if list.Rows[0].ID != "resume 1" || strings.Join(run.Run, " ") != "workflow run deploy" || !run.Typed || run.Edit != "version=" || list.Rows[1].Line != "/workflow deploy version=… [service=app]" {
		t.Errorf("%+v", list.Rows)
	}
	want = `Workflow runs:
   look    4  running                            2026-11-30 09:00
   other   3  paused                             2026-11-30 09:00
   deploy  2  completed                          2026-11-30 09:00
   deploy  1  paused (buddy ended while it ran)  2026-11-30 09:00
       ✔ look
       ‖ roll 1/3: paused`
	all := RunList(runs)
	if got := (show.Answer{List: all}).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var deeds []string
	for _, r := range all.Rows {
		for _, d := range r.Deeds {
			deeds = append(deeds, strings.Join(d.Run, " "))
		}
	}
	if want := []string{"workflow cancel 4", "workflow resume 1", "workflow cancel 1"}; !slices.Equal(deeds, want) {
		t.Errorf("deeds %q, want %q", deeds, want)
	}
}
