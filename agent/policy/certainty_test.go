package policy

import (
	"slices"
	"testing"

	"buddy/agent/action"
)

// The confidence says how much of an action the tables describe.
func TestCertaintyOfActions(t *testing.T) {
	p := Policy{Workspace: "/w", Confined: true}
	for _, tt := range []struct {
		action action.Action
		want   string
		other  bool // there is an alternative
	}{
		{action.Action{Kind: action.FileRead, Path: "/w/a.go"}, "high", false},
		{action.Action{Kind: action.Shell, Command: "git status", Cwd: "/w"}, "high", false},
		{action.Action{Kind: action.Shell, Command: "mkdir x", Cwd: "/w"}, "high", false},
		{action.Action{Kind: action.Shell, Command: "rm -rf dist", Cwd: "/w"}, "high", true},
		{action.Action{Kind: action.Shell, Command: "go test ./...", Cwd: "/w"}, "medium", false},
		{action.Action{Kind: action.Shell, Command: "git status && frobnicate", Cwd: "/w"}, "low", false},
		{action.Action{Kind: action.PaneKeys, Command: "y", Cwd: "/w"}, "low", false},
	} {
		got, others := Certainty(p, tt.action, action.ModeAsk)
		if got != tt.want || (len(others) > 0) != tt.other {
			t.Errorf("%s %s: %s %q, want %s", tt.action.Kind, tt.action.Command, got, slices.Clip(others), tt.want)
		}
	}
}
