package workflow

import (
	"os"
	"strings"
	"testing"

	"buddy/agent/reminder"
	"buddy/extensions"
	"buddy/extensions/workflow"
	"buddy/tools/toolset"
)

// fittingBuiltIn returns a function like [Part.fitting] for the workflows that come with buddy.
func fittingBuiltIn(t *testing.T) func(prompt string) []workflow.Workflow {
	t.Helper()
	read, err := extensions.Read(t.Context(), extensions.Workflow, extensions.BuiltInSource())
	if err != nil {
		t.Fatal(err)
	}
	all, broken, _ := workflow.All(read.Items, toolset.Arguments())
	for _, b := range broken {
		t.Errorf("%s: %s", b.File, b.Mistakes)
	}
	suggestions := workflow.Suggestions(read.Items)
	return func(prompt string) (found []workflow.Workflow) {
		for _, s := range workflow.Fitting(suggestions, prompt) {
			if w, err := workflow.Find(all, nil, s.Name); err == nil {
				found = append(found, w)
			}
		}
		return found
	}
}

// TestHintsFitTasks measures the hints with tasks in plain words: at least 18 of 20 tasks in a file find their workflow
// or command first, no other task gets a hint, and no hint costs more than 200 bytes.
func TestHintsFitTasks(t *testing.T) {
	fitting := fittingBuiltIn(t)
	for _, file := range []string{"tasks.txt", "more_tasks.txt"} {
		t.Run(file, func(t *testing.T) { measureHints(t, fitting, "testdata/"+file) })
	}
}

func measureHints(t *testing.T, fitting func(prompt string) []workflow.Workflow, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	right, tasks, others, bytes := 0, 0, 0, 0
	for line := range strings.Lines(string(data)) {
		want, prompt, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		want, mac := strings.TrimPrefix(want, "mac "), strings.HasPrefix(want, "mac ")
		name, command := commandFor(prompt, mac)
		text, names := hint(fitting(prompt), name, command)
		if n := len(reminder.Wrap(text)); text != "" {
			bytes = max(bytes, n)
		}
		if want == "-" {
			others++
			if onMac, _ := commandFor(prompt, true); text != "" || onMac != "" {
				t.Errorf("%q needs no hint, gets %q %s", prompt, text, onMac)
			}
			continue
		}
		tasks++
		if len(names) > 0 && names[0] == want {
			right++
		} else {
			t.Logf("%q: %q, want %s", prompt, names, want)
		}
	}
	if tasks != 20 || others != 20 || right < 18 || bytes > maxHint {
		t.Errorf("%d of %d tasks are right, %d others, at most %d bytes", right, tasks, others, bytes)
	}
	t.Logf("%d of %d right, at most %d bytes", right, tasks, bytes)
}
