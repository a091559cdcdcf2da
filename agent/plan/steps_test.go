package plan

import (
	"fmt"
	"strings"
	"testing"
)

// block is a plan with a fenced block of steps.
func block(steps string) string { return "# Plan\n\ntext\n\n```steps\n" + steps + "```\nmore\n" }

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- description: step %d\n", i+1)
	}
	return b.String()
}

func TestSteps(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"none", "# Plan\n```go\n- description: no\n```\n", ""},
		{
			"each field", block("- description: 'a  b'\n  tool: run_shell\n  args: {command: ls <x>}\n  risk: high\n  requires_approval: true\n- description: c\n  depends_on: [1]\n"),
			`[{a b run_shell {"command":"ls <x>"} [] high true} {c   [1]  false}]`,
		},
		{"yaml steps", "```yaml steps\n- description: a\n```\n", "[{a   []  false}]"},
		{"longer fence", "````steps\n- description: |\n    ```\n    a\n````\n", "[{``` a   []  false}]"},
		{"a later step first", block("- description: a\n  depends_on: [2]\n- description: b\n"), "[{a   [2]  false} {b   []  false}]"},
		{"CRLF", strings.ReplaceAll(block("- description: a\n"), "\n", "\r\n"), "[{a   []  false}]"},
		{"inside another block", "````md\n```steps\n- description: a\n```\n````\n", ""},
	}
	for _, test := range tests {
		got, err := Steps(test.text)
		shown := ""
		if got != nil {
			shown = fmt.Sprint(got)
		}
		if err != nil || shown != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, shown, err, test.want)
		}
	}
	if got, err := Steps(block(numbered(20))); err != nil || len(got) != 20 {
		t.Errorf("20 steps: %d, %v", len(got), err)
	}
	if got := Checklist(nil); got != "" {
		t.Errorf("no steps: %q", got)
	}
}

// The error names the wrong step and what is allowed.
func TestStepsThatMakeNoSenseAreRefused(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"21 steps", block(numbered(21)), "there are 21, at most 20 are allowed"},
		{"circle", block("- {description: a}\n- {description: b, depends_on: [4]}\n- {description: c, depends_on: [2]}\n- {description: d, depends_on: [3, 1]}\n"), "depends_on has a cycle: 2 → 4 → 3 → 2"},
		{"itself", block("- {description: a, depends_on: [1]}\n"), "cycle: 1 → 1"},
		{"no such step", block("- {description: a, depends_on: [7]}\n"), "step 1: depends_on: there is no step 7 (have: 1 to 1)"},
		{"no description", block("- {tool: run_shell}\n"), "step 1: description: missing"},
		{"long", block("- {description: " + strings.Repeat("x", 501) + "}\n"), "step 1: description: longer than 500 bytes"},
		{"risk", block("- {description: a, risk: deadly}\n"), `step 1: risk: "deadly" is unknown (have: low, medium, high)`},
		{"no list", block("description: a\n"), "expected a list of entries"},
		{"no YAML", block("- [\n"), "the block is not YAML"},
		{"alias", block("- &a {description: a}\n- *a\n"), "aliases are not allowed"},
		{"two blocks", block("- {description: a}\n") + block("- {description: b}\n"), "there are two blocks"},
		{"open", "```steps\n- {description: a}\n", "is not closed"},
		{"args", block("- {description: a, args: {x: " + strings.Repeat("y", 9000) + "}}\n"), "step 1: args: longer than 8192 bytes"},
	}
	for _, test := range tests {
		if got, err := Steps(test.text); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v; want an error with %q", test.name, got, err, test.want)
		}
	}
}

func FuzzSteps(f *testing.F) {
	f.Add(block(numbered(3)))
	f.Add(block("- {description: a, depends_on: [1, 2]}\n- {description: b, depends_on: [1]}\n"))
	f.Add("````\n```steps\n")
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := Steps(text)
		if err == nil && len(steps) > MaxSteps {
			t.Errorf("%d steps", len(steps))
		}
		if err == nil && circleIn(steps) != "" {
			t.Errorf("a circle: %s", circleIn(steps))
		}
		if strings.Count(Checklist(steps), "\n") != len(steps) {
			t.Errorf("a list of %d steps: %q", len(steps), Checklist(steps))
		}
	})
}
