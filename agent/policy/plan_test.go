package policy

import (
	"fmt"
	"testing"

	"buddy/agent/action"
)

// In plan mode only the plan's file may change, whatever rules allow and tools claim; read-only actions run.
func TestPlanModeLetsNothingChange(t *testing.T) {
	const plan = "/w/.buddyx/sessions/s1/plan.md"
	rules := map[string][]action.Rule{
		"none": nil,
		"all":  {{Decision: action.Allow, Tool: "t", Source: action.FromUser}},
		"path": {{Decision: action.Allow, Tool: "t", Path: "/**", Source: action.FromUser}},
		"host": {{Decision: action.Allow, Tool: "t", Host: "*", Source: action.FromUser}},
		"touch": {
			{Decision: action.Allow, Prefix: []string{"touch"}, Source: action.FromSession}, {Decision: action.Allow, Prefix: []string{"git", "commit"}, Source: action.FromSession},
		},
	}
	kinds := []action.Kind{
		action.FileWrite, action.FileDelete, action.Shell, action.Git, action.PaneKeys, action.Network, action.Browser, action.MCP,
		action.Internal, action.Generic, action.PlanFile, "", "unheard of",
	}
	judged := 0
	for name, r := range rules {
		for _, kind := range kinds {
			for _, path := range []string{"", "/w/a.go", "/etc/passwd", plan, plan + "/x", "/w/../w/.buddyx/sessions/s1/plan.md"} {
				for bits := range 8 {
					p := Policy{Workspace: "/w", Home: "/home/u", Plan: plan, Rules: r, Confined: bits&1 != 0, Boxed: bits&2 != 0}
					a := action.Action{Kind: kind, Tool: "t", Target: "local", Path: path, Mutation: true, Command: "touch x", Cwd: "/w", Host: "example.com", Risk: action.Low}
					if kind == action.Git {
						a.Command = "git commit -am x"
					}
					a.Hinted = bits&4 != 0
					judged++
					allowed := kind == action.PlanFile && path == plan
					if got := p.Judge(a, action.ModePlan); (got.Decision != action.Deny) != allowed {
						t.Errorf("rules %s, %s of %q: %s, %s", name, kind, path, got.Decision, got.Reason)
					}
				}
			}
		}
	}
	if judged < 1000 {
		t.Errorf("only %d actions were judged", judged)
	}
	free := []action.Action{
		{Kind: action.FileRead, Tool: "read_file", Target: "local", Path: "/w/a.go"},
		{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "git status && ls", Cwd: "/w"},
		{Kind: action.Internal, Tool: "todo"},
		{Kind: action.EnterPlan, Tool: "enter_plan"},
		{Kind: action.MCP, Tool: "mcp__a__b", MCPTool: action.MCPTool{Hinted: true}},
	}
	for _, a := range free {
		p := Policy{Workspace: "/w", Plan: plan, Confined: true}
		if got := p.Judge(a, action.ModePlan); got.Decision != action.Allow {
			t.Errorf("%s of %s: %s, %s", a.Kind, a.Tool, got.Decision, got.Reason)
		}
	}
}

// The plan's file is not the person's: it is written without approval where other files need it, even on a guarded
// target, but a deny rule applies.
func TestPlanFileIsJudged(t *testing.T) {
	const plan = "/state/buddy/sessions/s1/plan.md"
	a := action.Action{Kind: action.PlanFile, Tool: "write_file", Target: "web", Path: plan, Mutation: true}
	guarded := func(string) Target { return Target{Guarded: true, Own: Own{Files: []string{"/state/buddy"}}} }
	deny := []action.Rule{{Decision: action.Deny, Tool: "write_file", Source: action.FromUser}}
	tests := []struct {
		p    Policy
		mode action.Mode
		want action.Decision
	}{
		{Policy{Plan: plan}, action.ModeAsk, action.Allow},
		{Policy{Plan: plan, At: guarded}, action.ModePlan, action.Allow},
		{Policy{Plan: plan, Own: Own{Files: []string{"/state/buddy"}}}, action.ModePlan, action.Allow},
		{Policy{Plan: plan}, action.ModeStrict, action.Ask},
		{Policy{Plan: plan, Rules: deny}, action.ModePlan, action.Deny},
		{Policy{Plan: "/other/plan.md"}, action.ModePlan, action.Deny},
		{Policy{}, action.ModePlan, action.Deny},
		{Policy{Plan: "/other/plan.md"}, action.ModeAsk, action.Ask},
	}
	for i, test := range tests {
		if got := test.p.Judge(a, test.mode); got.Decision != test.want {
			t.Errorf("case %d: %s, want %s (%s)", i, got.Decision, test.want, got.Reason)
		}
	}
	enter := action.Action{Kind: action.EnterPlan, Tool: "enter_plan"}
	got := ""
	for _, m := range action.Modes {
		got += fmt.Sprintf("%s:%s ", m, Policy{}.Judge(enter, m).Decision)
	}
	if want := "ask:ask strict:ask edits:ask auto:ask plan:allow all:allow none:deny "; got != want {
		t.Errorf("enter_plan is judged %s, want %s", got, want)
	}
}
