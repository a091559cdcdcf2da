package workflow_test

import (
	"fmt"
	"testing"

	"buddy/extensions"
	"buddy/extensions/workflow"
)

// TestPromptsFitWorkflows checks the words of a name, in any order and in singular or plural, or several of a
// description.
func TestPromptsFitWorkflows(t *testing.T) {
	t.Parallel()
	var all []extensions.Item
	for i, w := range [][2]string{{"code_review", "Review what this branch changes and list findings by severity."}, {"disk_full", "Find out what fills a disk on targets and remove old rotated logs there."}, {"rollback", "Take a service back to the version before."}} {
		source := "name: " + w[0] + "\ndescription: >\n  " + w[1] + "\nsteps:\n  - id: x\n"
		if i == 1 {
			source = "steps:\n  - id: x\ndescription: " + w[1] + "\n"
		}
		all = append(all, extensions.Item{Kind: extensions.Workflow, Name: w[0], File: w[0] + ".yaml", Source: source})
	}
	for prompt, want := range map[string]string{
		"please do a code review of my change":                 "code_review",
		"Review the code, then merge":                          "code_review",
		"the disks of web-1 are full":                          "disk_full",
		"what fills the disk? remove the old rotated logs":     "disk_full",
		"roll the service back":                                "",
		"rollback app to yesterday":                            "rollback",
		"review this":                                          "",
		"write a function that says whether a disk is full up": "",
		"don't do a code review yet":                           "",
		"hello":                                                "",
		"":                                                     "",
	} {
		got := ""
		if found := workflow.Fitting(workflow.Suggestions(all), prompt); len(found) > 0 {
			got = found[0].Name
		}
		if got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}

func BenchmarkFitting(b *testing.B) {
	all := make([]extensions.Item, 30)
	for i := range all {
		all[i].Name, all[i].Source = fmt.Sprint("code_review_", i), "description: Review what this branch changes and list findings by severity.\nsteps:\n"
	}
	suggestions := workflow.Suggestions(all)
	for b.Loop() {
		workflow.Fitting(suggestions, "please look at the branch and say what changes there are")
	}
}

// BenchmarkSuggestions reads the descriptions of the built-in workflows, like the first prompt of a session.
func BenchmarkSuggestions(b *testing.B) {
	found, err := extensions.Read(b.Context(), extensions.Workflow, extensions.BuiltInSource())
	if err != nil || len(found.Items) < 20 {
		b.Fatalf("%d workflows, %v", len(found.Items), err)
	}
	b.ReportAllocs()
	for b.Loop() {
		workflow.Suggestions(found.Items)
	}
}
