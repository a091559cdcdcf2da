package slash

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/extensions/workflow"
)

// Workflow takes the name of a workflow with its inputs, or a verb about runs.
func Workflow(args string) (event.Command, error) {
	words, err := workflow.Words(args)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return event.Report{What: event.ReportRuns}, nil
	}
	verb, rest := strings.ToLower(words[0]), words[1:]
	switch verb {
	case "runs", "status":
		return event.Report{What: event.ReportRuns}, nil
	case "resume":
		run, err := runNumber(rest)
		return event.ResumeWorkflow{Run: run}, err
	case "cancel":
		run, err := runNumber(rest)
		return event.CancelWorkflow{Run: run}, err
	case "save":
		if len(rest) != 1 {
			return nil, errors.New("say how it is to be called: /workflow save NAME")
		}
		return event.SaveWorkflow{Name: rest[0]}, nil
	case "run":
		if len(rest) == 0 {
			return nil, errors.New("say which: /workflow run NAME [INPUT=VALUE]")
		}
		words = rest
	}
	given, err := workflow.Given(words[1:])
	return event.RunWorkflow{Name: words[0], Inputs: given}, err
}

// runNumber reads the number of a run, 0 for none.
func runNumber(words []string) (int, error) {
	if len(words) == 0 {
		return 0, nil
	}
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 1 || len(words) > 1 {
		return 0, fmt.Errorf("%q is not the number of a run (/workflow runs lists them)", strings.Join(words, " "))
	}
	return n, nil
}

// workflowVerbs are what may follow /workflow besides the name of a workflow.
var workflowVerbs = []string{"runs", "status", "resume", "cancel", "save", "run"}

// WorkflowWords returns what the beginning of a word may become that follows /workflow and some others:
// verbs and names of workflows, then the inputs of one that have no value yet.
func WorkflowWords(all []workflow.Workflow, said []string, begun string) (words []string) {
	names := workflowVerbs
	if len(said) > 0 && strings.EqualFold(said[0], "run") {
		said, names = said[1:], nil
	}
	add := func(word string) {
		if strings.HasPrefix(word, begun) {
			words = append(words, word)
		}
	}
	if len(said) == 0 {
		for _, w := range all {
			add(w.Name)
		}
		for _, verb := range names {
			add(verb)
		}
		return words
	}
	for _, w := range all {
		if w.Name != said[0] {
			continue
		}
		for _, in := range w.Inputs {
			if !slices.ContainsFunc(said[1:], func(s string) bool { return strings.HasPrefix(s, in.Name+"=") }) {
				add(in.Name + "=")
			}
		}
	}
	return words
}
