package policy

import (
	"strings"
	"testing"

	"buddy/agent/action"
)

// threeTargets returns a policy with three targets: two with a folder each, and a production one.
func threeTargets(rules ...action.Rule) Policy {
	targets := map[string]Target{
		"local":  {Workspace: "/home/ann/shop", Home: "/home/ann"},
		"web-01": {Workspace: "/srv/www", Home: "/root"},
		"db":     {Workspace: "/srv/db", Home: "/root", Guarded: true},
	}
	return Policy{Rules: rules, At: func(target string) Target { return targets[target] }}
}

func TestTargets(t *testing.T) { // rules, folders and modes of each target apply
	shell := func(command string, targets ...string) action.Action {
		a := action.Action{Kind: action.Shell, Tool: "run_shell", Command: command}
		folders := map[string]string{"local": "/home/ann/shop", "web-01": "/srv/www", "db": "/srv/db"}
		if len(targets) == 1 {
			a.Target, a.Cwd = targets[0], folders[targets[0]]
			return a
		}
		a.Target = strings.Join(targets, ", ")
		for _, name := range targets {
			a.Targets = append(a.Targets, action.TargetCwd{Target: name, Cwd: folders[name]})
		}
		return a
	}
	read := func(path, target string) action.Action {
		return action.Action{Kind: action.FileRead, Tool: "read_file", Path: path, Target: target}
	}
	allowOn := func(target string) action.Rule {
		return action.Rule{Decision: action.Allow, Prefix: []string{"make"}, Target: target}
	}
	denyOn := action.Rule{Decision: action.Deny, Prefix: []string{"make"}, Target: "db"}
	tests := []struct {
		name   string
		a      action.Action
		mode   action.Mode
		rules  []action.Rule
		want   action.Decision
		reason string
	}{
		{"a file of the folder there", read("/srv/www/x", "web-01"), action.ModeAsk, nil, action.Allow, ""},
		{"a file of the folder of another target", read("/home/ann/shop/x", "web-01"), action.ModeAsk, nil, action.Ask, "outside the workspace /srv/www"},
		{"a target that nobody knows", read("/srv/www/x", "elsewhere"), action.ModeAsk, nil, action.Ask, "outside"},
		{"production", read("/srv/db/x", "db"), action.ModeAsk, nil, action.Ask, "db is marked as production"},
		{"production in mode all", shell("make", "db"), action.ModeAll, nil, action.Ask, "production"},
		{"production in mode edits", read("/srv/db/x", "db"), action.ModeEdits, nil, action.Ask, "production"},
		{"production in mode none", read("/srv/db/x", "db"), action.ModeNone, nil, action.Deny, "production"},
		{"production in mode plan", shell("make", "db"), action.ModePlan, nil, action.Deny, "plan mode"},
		{"production and a rule", shell("make", "db"), action.ModeAsk, []action.Rule{allowOn("*")}, action.Ask, "production"},
		{"production, nothing outside", action.Action{Kind: action.Internal}, action.ModeAsk, nil, action.Allow, ""},
		{"production, the end of a command there", action.Action{Kind: action.Internal, Target: "db", Mutation: true}, action.ModeAsk, nil, action.Ask, "production"},
		{"production, the end of a command there, mode none", action.Action{Kind: action.Internal, Target: "db", Mutation: true}, action.ModeNone, nil, action.Deny, "production"},
		{"production, a picture of a pane there", action.Action{Kind: action.Internal, Target: "db"}, action.ModeAll, nil, action.Ask, "production"},
		{"a rule for the target", shell("make", "web-01"), action.ModeAsk, []action.Rule{allowOn("web-01")}, action.Allow, ""},
		{"a rule for another", shell("make", "local"), action.ModeAsk, []action.Rule{allowOn("web-01")}, action.Ask, ""},
		{"several, all allowed", shell("make", "local", "web-01"), action.ModeAsk, []action.Rule{allowOn("web-*"), allowOn("local")}, action.Allow, ""},
		{"several, one is not", shell("make", "local", "web-01"), action.ModeAsk, []action.Rule{allowOn("web-*")}, action.Ask, "on local: "},
		{"several, one is denied", shell("make", "local", "db", "web-01"), action.ModeAll, []action.Rule{denyOn}, action.Deny, "on db: "},
		{"several that only read", shell("ls", "local", "web-01"), action.ModeAsk, nil, action.Allow, ""},
		{"several with production", shell("ls", "local", "db"), action.ModeAsk, nil, action.Ask, "on db: db is marked"},
	}
	for _, tt := range tests {
		v := threeTargets(tt.rules...).Judge(tt.a, tt.mode)
		if v.Decision != tt.want || !strings.Contains(v.Reason, tt.reason) {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, v.Decision, v.Reason, tt.want, tt.reason)
		}
	}
}

func TestSimilarIsForOneTarget(t *testing.T) {
	p := threeTargets()
	a := action.Action{Kind: action.Shell, Tool: "run_shell", Command: "make all", Target: "web-01", Cwd: "/srv/www"}
	r, ok := p.Similar(a, action.ModeAsk)
	if !ok || r.Target != "web-01" {
		t.Fatalf("rule %+v, %v", r, ok)
	}
	p = p.With(r)
	if v := p.Judge(a, action.ModeAsk); v.Decision != action.Allow {
		t.Errorf("the rule does not allow its own action: %+v", v)
	}
	a.Target = "local"
	if v := p.Judge(a, action.ModeAsk); v.Decision != action.Ask {
		t.Errorf("a rule of web-01 decides on this machine: %+v", v)
	}
	a.Target = "db"
	if r, ok := p.Similar(a, action.ModeAsk); ok {
		t.Errorf("production can be allowed by %v", r)
	}
	a.Target, a.Targets = "local, web-01", []action.TargetCwd{{Target: "local"}, {Target: "web-01"}}
	if r, ok := p.Similar(a, action.ModeAsk); ok {
		t.Errorf("one rule for two targets: %v", r)
	}
	if c := p.Context(a, action.ModeAsk); !strings.Contains(strings.Join(c.Consequences, " "), "on 2 machines at once") {
		t.Errorf("context %+v", c)
	}
}
