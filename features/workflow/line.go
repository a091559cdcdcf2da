package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/extensions/workflow"
)

// parse parses the arguments of /workflow; nil means that the arguments only show something.
func parse(args string) (event.Command, error) {
	words, err := workflow.Words(args)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, nil
	}
	verb, rest := strings.ToLower(words[0]), words[1:]
	switch verb {
	case "runs", "status", "show", "open":
		return nil, nil
	case "resume":
		run, err := runNumber(rest)
		return event.ResumeWorkflow{Run: run}, err
	case "cancel":
		run, err := runNumber(rest)
		return event.CancelWorkflow{Run: run}, err
	case "save":
		if len(rest) != 1 {
			return nil, errors.New("the workflow needs a name: /workflow save NAME")
		}
		return event.SaveWorkflow{Name: rest[0]}, nil
	case "run":
		if len(rest) == 0 {
			return nil, errors.New("name a workflow: /workflow run NAME [INPUT=VALUE]")
		}
		words = rest
	}
	given, err := workflow.Given(words[1:])
	return event.RunWorkflow{Name: words[0], Inputs: given}, err
}

// runNumber parses the number of a run, 0 if it is missing.
func runNumber(words []string) (int, error) {
	if len(words) == 0 {
		return 0, nil
	}
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 1 || len(words) > 1 {
		return 0, fmt.Errorf("%q is not a run's number (/workflow runs lists the runs)", strings.Join(words, " "))
	}
	return n, nil
}

// verbs lists the subcommands of /workflow.
var verbs = []slash.Choice{
	{Word: "runs", Help: "list this session's runs"},
	{Word: "resume", Help: "continue an interrupted run"},
	{Word: "cancel", Help: "cancel a run"},
	{Word: "show", Help: "show a workflow's inputs, steps and gates"},
	{Word: "save", Help: "turn the last exchange into a workflow"},
	{Word: "run", Help: "run a workflow whose name is one of these words"},
}

// complete returns completions after /workflow and some words: workflow names and subcommands, then inputs without a
// value.
func complete(from slash.Offers, typed []string) (words []slash.Choice) {
	verbs := verbs
	if len(typed) > 0 && strings.EqualFold(typed[0], "run") {
		typed, verbs = typed[1:], nil
	} else if len(typed) > 0 && slices.ContainsFunc(verbs, func(c slash.Choice) bool { return c.Word == strings.ToLower(typed[0]) }) {
		return nil
	}
	for _, w := range workflow.Complete(from.Workflows(), typed) {
		words = append(words, slash.Choice(w))
	}
	if len(typed) == 0 {
		words = append(words, verbs...)
	}
	return words
}
