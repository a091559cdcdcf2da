package workflow

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/extensions/workflow"
	"buddy/features/feature"
)

// Feature has the command /workflow. [Of] makes the part of a session.
var Feature = &feature.Feature{Commands: []feature.Command{{
	Command: slash.Command{
		Name: "workflow", Means: []string{"recipe"}, Args: "[NAME [INPUT=VALUE]...|show NAME|open NAME|runs|resume [RUN]|cancel [RUN]|save NAME]", Brief: "run a workflow",
		Help:   "run a workflow (a file of steps and gates); list, continue or cancel this session's runs; turn the last exchange into a workflow; without arguments, list the workflows",
		Events: slash.One(parse), Complete: complete,
	},
	Run: lists,
}}}

// lists shows the workflows, or the runs of this session.
func lists(ctx context.Context, a feature.Asked, args []string) (show.Answer, error) {
	if err := a.Settle(ctx); err != nil {
		return show.Answer{}, err
	}
	p := a.Part.(*Part)
	if len(args) > 0 && (args[0] == "runs" || args[0] == "status") {
		return show.Answer{List: RunList(p.book.Runs())}, nil
	}
	if len(args) > 0 && args[0] == "show" {
		args = args[1:]
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	found, err := p.All(ctx)
	if err != nil {
		return show.Answer{}, fmt.Errorf("workflows: %w", err)
	}
	return listOf(found, p.book.Runs(), p.Away).Answer(args)
}

// listOf lists paused runs, then workflows. away means that the files of workflows are on another machine.
func listOf(found Set, runs []Summary, away bool) *feature.FileList {
	list := &feature.FileList{Command: "workflow", Away: away, List: show.List{
		Title: "Workflows", Columns: []string{"name", "needs", "from", "description"}, Empty: "No workflows found.",
		Usage: "/workflow NAME INPUT=VALUE... runs a workflow. /workflow show NAME shows its details. /workflow runs lists this session's runs.",
	}}
	for _, r := range slices.Backward(runs) {
		if row := runRow(r); r.Parent == 0 && r.State == event.WorkflowPaused {
			row.Mark, row.Cells = true, []string{r.Name, "", "run " + row.ID, r.Status()}
			row.ID = "resume " + row.ID // the arguments of /workflow
			list.Add(row, "")
		}
	}
	for _, w := range found.All {
		list.Add(workflowRow(&w), w.File)
	}
	list.AddProblems(found.Problems)
	return list
}

// workflowRow returns the list row of a workflow. The person types the inputs of a run.
func workflowRow(w *workflow.Workflow) show.Row {
	var needs []string
	run := show.Deed{Label: "run", Run: []string{"workflow", "run", w.Name}, Closes: true}
	for _, in := range w.Inputs {
		if in.Required() {
			needs = append(needs, in.Name)
			run.Edit = strings.TrimPrefix(run.Edit+" "+in.Name+"=", " ")
		}
	}
	run.Typed = len(w.Inputs) > 0
	return show.Row{
		ID: w.Name, Cells: []string{w.Name, strings.Join(needs, ", "), string(w.Origin), w.Description}, Line: "/workflow " + w.Usage(),
		More: strings.Split(strings.TrimSuffix(w.Describe(), "\n"), "\n"), Deeds: []show.Deed{run},
	}
}

// RunList lists runs, newest first.
func RunList(runs []Summary) *show.List {
	list := show.List{Title: "Workflow runs", Columns: []string{"workflow", "run", "state", "started"}, Empty: "No workflow has run in this session.", Changes: true, Numbered: true}
	for _, r := range slices.Backward(runs) {
		list.Rows = append(list.Rows, runRow(r))
	}
	return &list
}

// runRow returns the list row of a run. Until the run has ended, plain text also has the progress of its steps.
func runRow(r Summary) show.Row {
	id := strconv.Itoa(r.Run)
	row := show.Row{
		ID: id, Cells: []string{r.Name, id, r.Status(), r.Began.Format("2006-01-02 15:04")}, Title: r.Name + ", run " + id, More: r.Steps, Whole: !r.State.Ended(),
	}
	if r.Parent > 0 || r.State.Ended() {
		return row
	}
	if r.State == event.WorkflowPaused {
		row.Deeds = append(row.Deeds, show.Deed{Label: "continue it", Run: []string{"workflow", "resume", id}, Closes: true})
	}
	row.Deeds = append(row.Deeds, show.Deed{Label: "cancel", Run: []string{"workflow", "cancel", id}})
	return row
}
