package workflow_test

import (
	"testing"

	"buddy/extensions/workflow"
)

// TestPromptsFitWorkflows: the words of a name, in any order and number, or several of a description.
func TestPromptsFitWorkflows(t *testing.T) {
	t.Parallel()
	var all []workflow.Workflow
	for _, w := range [][2]string{{"code_review", "Review what this branch changes and list findings by severity."}, {"disk_full", "Find out what fills a disk on targets and remove old rotated logs there."}, {"rollback", "Take a service back to the version before."}} {
		one := workflow.Workflow{Description: w[1]}
		one.Name = w[0]
		all = append(all, one)
	}
	for prompt, want := range map[string]string{
		"please do a code review of my change":                 "code_review",
		"Review the code, then merge":                          "code_review",
		"the disks of web-1 are full":                          "disk_full",
		"what fills the disk? remove the old rotated logs":     "disk_full",
		"roll the service back":                                "",
		"rollback app to yesterday":                            "rollback",
		"review this":                                          "",
		"write a function that says whether a disk is full up": "disk_full",
		"hello": "",
		"":      "",
	} {
		got := ""
		if w := workflow.Fitting(workflow.Suggestions(all), prompt); w != nil {
			got = w.Name
		}
		if got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}

func BenchmarkFitting(b *testing.B) {
	all := make([]workflow.Workflow, 30)
	for i := range all {
		all[i].Name, all[i].Description = "code_review", "Review what this branch changes and list findings by severity."
	}
	suggestions := workflow.Suggestions(all)
	for b.Loop() {
		workflow.Fitting(suggestions, "please look at the branch and say what changes there are")
	}
}
