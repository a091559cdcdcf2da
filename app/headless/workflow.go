package headless

import (
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/texts"
)

// RunWorkflow sends a command that starts or continues a workflow run. The run's outputs go to stdout, its progress to
// stderr. The user decides about gates on the terminal. Without a terminal, gates are denied, except in the mode that
// approves everything.
func RunWorkflow(f *compose.Options, once Options, c event.Command, stdout, stderr *os.File) error {
	var end <-chan time.Time // nil is never
	if once.Timeout > 0 {
		end = time.After(once.Timeout)
	}
	return runWorkflow(f, once, c, end, stdout, stderr)
}

func runWorkflow(f *compose.Options, once Options, c event.Command, end <-chan time.Time, stdout, stderr *os.File) error {
	f.Modelless, once.Workflow = true, true
	return run(f, once, c, nil, end, stdout, stderr)
}

// workflow returns the command of a prompt that starts with /workflow, nil for any other prompt.
func (o Options) workflow(prompt string) (event.Command, error) {
	name, args, ok := slash.Split(strings.TrimSpace(prompt))
	if !ok || name != "workflow" {
		return nil, nil
	}
	if o.goal() || o.Schema != "" || o.Every > 0 {
		return nil, exit.Usage("--check, --verdict, --output-schema and --every can't be combined with a workflow")
	}
	row, _ := slash.Find(name)
	all, err := row.Events(args)
	if err != nil {
		return nil, exit.Usage("/workflow: %v", err)
	}
	for _, c := range all {
		switch c.(type) {
		case event.RunWorkflow, event.ResumeWorkflow, event.CancelWorkflow:
			return c, nil
		}
	}
	return nil, onlyRuns(args)
}

// onlyRuns returns the error for a verb of /workflow that exec does not have.
func onlyRuns(args string) error {
	return exit.Usage("/workflow %s: exec runs, resumes and cancels workflows; buddy workflow list and buddy workflow runs list them", texts.Clip(args, 80))
}

// workflow prints how a run ended, and uses its outputs as the answer. It returns an outcome only when a paused run was
// cancelled, because without a task no event with an outcome follows.
func (l *line) workflow(p event.WorkflowChanged) event.Outcome {
	l.Remark(p)
	var outputs []string
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		value := strings.TrimRight(p.Outputs[name], "\n")
		if strings.Contains(value, "\n") {
			value = "\n" + value
		}
		outputs = append(outputs, name+": "+value)
	}
	l.text = strings.Join(outputs, "\n")
	if p.State == event.WorkflowCancelled && l.task == 0 {
		return event.Completed
	}
	return ""
}
