package plan

import (
	"strings"
	"testing"
)

func TestShown(t *testing.T) {
	const before, after = "# Round taxes\n\nThey are cut off.\n\n", "\nThat is all.\n"
	block := "```steps\n- description: reproduce it\n  tool: run_shell\n  args: {command: go test ./..., wait: true}\n  risk: low\n- description: fix tax.go\n  depends_on: [1]\n  requires_approval: true\n```\n"
	want := "Steps:\n\n1. reproduce it (with run_shell · risk low)\n   - command: go test ./...\n   - wait: true\n2. fix tax.go (after 1 · needs approval)\n"
	for text, shown := range map[string]string{
		before + block + after:                before + want + after,
		block:                                 want,
		strings.TrimRight(before+block, "\n"): before + want,
		before + after:                        before + after,
		"```yaml\n- description: x\n```\n" + block:               "```yaml\n- description: x\n```\n" + want,
		before + "```steps\n- what: x\n```\n":                    before + "```steps\n- what: x\n```\n", // not a list of steps
		before + "```steps\n- description: x\n":                  before + "```steps\n- description: x\n",
		"````\n" + block + "````\nquoted only\n":                 "````\n" + block + "````\nquoted only\n",
		"````yaml steps\n- description: one\n```\n````\nafter\n": "````yaml steps\n- description: one\n```\n````\nafter\n",
	} {
		if got := Shown(text); got != shown {
			t.Errorf("%q:\n%q, want\n%q", text, got, shown)
		}
	}
}
