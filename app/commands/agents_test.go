package commands

import (
	"slices"
	"strings"
	"testing"

	"buddy/extensions"
	"buddy/extensions/frontmatter"
	"buddy/extensions/subagent"
)

// TestAgentRows: a row says what a type of subagents may do at most, and all of its definition.
func TestAgentRows(t *testing.T) {
	all, problems := subagent.All([]extensions.Item{{
		Kind: extensions.Agent, Name: "reviewer", Origin: extensions.Project, File: "/w/.buddy/agents/reviewer.md",
		Block: block(t, "---\ndescription: reviews a change\ntools: Read, Grep\npermissionMode: plan\nmodel: small\n---\nYou review.\nBriefly."),
	}})
	if len(all) != 1 || len(problems) > 0 {
		t.Fatalf("%+v, %v", all, problems)
	}
	r := agentRow(all[0])
	if got, want := strings.Join(r.Cells, "|"), "reviewer|project|reviews a change|model small · mode plan or stricter · tools: grep, read_file"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, want := range []string{"reviews a change", "mode plan or stricter", "/w/.buddy/agents/reviewer.md", "You review.", "Briefly."} {
		if !slices.Contains(r.More, want) {
			t.Errorf("%q has no %q", r.More, want)
		}
	}
}

func block(t *testing.T, text string) frontmatter.Block {
	t.Helper()
	b, err := frontmatter.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
