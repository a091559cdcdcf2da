package policy

import (
	"errors"
	"strings"
	"testing"

	"buddy/agent/action"
)

// fencedPolicy is a policy of a machine that has the fence and the read-only sandbox.
func fencedPolicy(rules ...action.Rule) Policy {
	return Policy{Workspace: "/w", Home: "/home/ann", Own: Own{Files: []string{"/home/ann/.config/buddy"}}, Confined: true, Fence: func() error { return nil }, Rules: rules}
}

// at is an action of the workspace's shell.
func at(a action.Action) action.Action {
	a.Tool, a.Target, a.Cwd = "run_shell", "local", "/w"
	return a
}

func outside(command string) action.Action {
	a := at(sh(command))
	a.Outside = true
	return a
}

func userRule(d action.Decision, words string) action.Rule {
	return action.Rule{Decision: d, Prefix: strings.Fields(words), Source: action.FromUser}
}

func TestModeAuto(t *testing.T) {
	p := fencedPolicy()
	closed := action.Rule{Decision: action.Allow, Tool: "run_shell", Prefix: []string{"touch"}, Shape: action.Closed, Source: action.FromSession}
	exact := action.Rule{Decision: action.Allow, Tool: "run_shell", Prefix: []string{"make", "test"}, Shape: action.Exactly, Folder: "/w", Source: action.FromSession}
	elsewhere := outside("git fetch")
	elsewhere.Cwd = "/home/ann/.cache/buddy/fence/x"
	linked := fencedPolicy(userRule(action.Allow, "git fetch"))
	linked.Resolve = func(path string) string { return strings.Replace(path, "/w/web", "/w/node_modules/a/b", 1) }
	tests := []struct {
		name string
		p    Policy
		act  action.Action
		want action.Decision
		rule string
	}{
		{"builds", p, at(sh("make test")), action.Allow, InFence},
		{"an unknown program", p, at(sh("./tool --all > out.txt")), action.Allow, InFence},
		{"computed", p, at(sh("sh -c \"$(cat x)\"")), action.Allow, InFence},
		{"commits", p, at(action.Action{Kind: action.Git, Command: "git commit -am x"}), action.Allow, InFence},
		{"pushes, which the fence stops", p, at(sh("git push")), action.Allow, InFence},
		{"sudo, which the fence stops", p, at(sh("sudo make install")), action.Allow, InFence},
		{"only reads", p, at(sh("ls -la")), action.Allow, ReadOnly},
		{"asks a service, as in every mode", p, at(sh("docker ps")), action.Allow, LiteralCore},
		{"never", p, at(sh("rm -rf /")), action.Deny, "built-in: never run"},
		{"denied", fencedPolicy(userRule(action.Deny, "make")), at(sh("make test")), action.Deny, "deny `make …` (user)"},
		{"perhaps denied", fencedPolicy(userRule(action.Deny, "git push")), at(sh("git $x")), action.Ask, "deny `git push …` (user)"},
		{"a rule asks", fencedPolicy(userRule(action.Ask, "make")), at(sh("make test")), action.Ask, "ask `make …` (user)"},
		{"a rule allows, inside", fencedPolicy(userRule(action.Allow, "make")), at(sh("make test")), action.Allow, InFence},
		{"buddy's own keys", p, at(sh("cp /home/ann/.config/buddy/auth.json .")), action.Ask, action.OwnKeys},
		{"outside", p, outside("make test"), action.Ask, OutsideFence},
		{"outside, only reads", p, outside("ls -la"), action.Ask, OutsideFence},
		{"outside, a rule allows what runs code", fencedPolicy(userRule(action.Allow, "make")), outside("make test"), action.Ask, OutsideFence},
		{"outside, exactly this was allowed before", fencedPolicy(exact), outside("make test"), action.Ask, OutsideFence},
		{"outside, a rule allows what runs none", fencedPolicy(userRule(action.Allow, "git push")), outside("git push"), action.Allow, "allow `git push …` (user)"},
		{"outside, a rule allows fetching", fencedPolicy(userRule(action.Allow, "git fetch")), outside("git fetch origin main"), action.Allow, "allow `git fetch …` (user)"},
		{"outside, a program for git to run", fencedPolicy(userRule(action.Allow, "git fetch")), outside("git fetch --upload-pack=./tool origin"), action.Ask, OutsideFence},
		{"outside, the repository itself", fencedPolicy(userRule(action.Allow, "git push")), outside("git push . HEAD:refs/heads/x"), action.Allow, "allow `git push …` (user)"},
		{"outside, hooks of another repository", fencedPolicy(userRule(action.Allow, "git push")), outside("git push /tmp/e.git main"), action.Ask, OutsideFence},
		{"outside, git in another folder", fencedPolicy(userRule(action.Allow, "git fetch")), outside("cd web && git fetch"), action.Allow, "allow `git fetch …` (user)"},
		{"outside, git in a folder of packages", fencedPolicy(userRule(action.Allow, "git fetch")), outside("cd node_modules/a/b && git fetch"), action.Ask, OutsideFence},
		{"outside, git in a folder that a link names", linked, outside("cd web && git fetch"), action.Ask, OutsideFence},
		{"outside, git where nothing is compared", fencedPolicy(userRule(action.Allow, "git fetch")), elsewhere, action.Ask, OutsideFence},
		{"outside, a closed shape", fencedPolicy(closed), outside("touch a.txt"), action.Allow, closed.String()},
		{"outside, never", p, outside("rm -rf ~"), action.Deny, "built-in: never run"},
		{"keys for a pane", p, action.Action{Kind: action.PaneKeys, Command: "make\n"}, action.Ask, "pane keys"},
		{"writes", p, write("/w/a.go"), action.Allow, "mode auto"},
		{"deletes", p, action.Action{Kind: action.FileDelete, Path: "/w/a.go"}, action.Allow, "mode auto"},
		{"writes what runs later", p, write("/w/Makefile"), action.Ask, executedRule},
		{"deletes what runs later", p, action.Action{Kind: action.FileDelete, Path: "/w/.git/hooks/pre-commit"}, action.Ask, executedRule},
		{"writes a secret", p, write("/w/.env"), action.Ask, "delicate files"},
		{"writes elsewhere", p, write("/home/ann/x"), action.Ask, "file write"},
		{"writes the workspace itself", p, write("/w"), action.Ask, "file write"},
		{"writes to the system", p, write("/etc/hosts"), action.Deny, "protected places"},
		{"a rule asks about a file", fencedPolicy(action.Rule{Decision: action.Ask, Path: "migrations/**", Source: action.FromUser}), write("/w/migrations/1.sql"), action.Ask, `ask for migrations/** (user)`},
		{"reads a secret", p, read("/w/.env"), action.Ask, "secret files"},
		{"network", p, action.Action{Kind: action.Network, Host: "go.dev", URL: "https://go.dev/"}, action.Ask, "network"},
		{"another program", p, action.Action{Kind: action.MCP, Tool: "x"}, action.Ask, "mcp"},
	}
	for _, tt := range tests {
		if got := tt.p.Judge(tt.act, action.ModeAuto); got.Decision != tt.want || got.Rule != tt.rule || got.Reason == "" {
			t.Errorf("%s: %+v, want %s by %q with a reason", tt.name, got, tt.want, tt.rule)
		}
	}
}

// Where there is no fence, mode auto asks as mode ask does.
func TestModeAutoWithoutFence(t *testing.T) {
	broken := fencedPolicy()
	broken.Fence = func() error { return errors.New("no user namespaces") }
	far := Policy{At: func(name string) Target {
		if name == "local" {
			return Target{Workspace: "/w", Fence: func() error { return nil }}
		}
		return Target{Workspace: "/srv", Guarded: name == "db"}
	}}
	several := at(sh("make"))
	several.Targets = []action.TargetCwd{{Target: "local", Cwd: "/w"}, {Target: "web", Cwd: "/srv"}}
	on := func(target string, a action.Action) action.Action { a.Target = target; return a }
	tests := []struct {
		name string
		p    Policy
		act  action.Action
		want action.Decision
		rule string
	}{
		{"a broken fence", broken, at(sh("make")), action.Ask, "shell"},
		{"a broken fence, a file", broken, write("/w/a.go"), action.Ask, "file write"},
		{"this machine", far, at(sh("make")), action.Allow, InFence},
		{"another target", far, on("web", at(sh("make"))), action.Ask, "shell"},
		{"a file of another target", far, on("web", write("/srv/a.go")), action.Ask, "file write"},
		{"production", far, on("db", action.Action{Kind: action.Shell, Command: "ls", Cwd: "/srv"}), action.Ask, "production"},
		{"both", far, several, action.Ask, "shell"},
	}
	for _, tt := range tests {
		if got := tt.p.Judge(tt.act, action.ModeAuto); got.Decision != tt.want || got.Rule != tt.rule {
			t.Errorf("%s: %+v, want %s by %q", tt.name, got, tt.want, tt.rule)
		}
	}
	// What one target fences in is fenced in, whatever allows it on the other.
	far.Rules = []action.Rule{{Decision: action.Allow, Prefix: []string{"make"}, Target: "web", Source: action.FromUser}}
	for range 2 {
		if got := far.Judge(several, action.ModeAuto); got.Decision != action.Allow || got.Rule != InFence {
			t.Errorf("%v: %+v, want it in the fence", several.Targets, got)
		}
		several.Targets[0], several.Targets[1] = several.Targets[1], several.Targets[0]
	}
	if err := CanFence(far, "local"); err != nil {
		t.Errorf("the fence of this machine: %v", err)
	}
	if err := CanFence(far, "web"); err == nil || !strings.Contains(err.Error(), "this machine only") {
		t.Errorf("the fence of another target: %v", err)
	}
}

// What commands inside have changed keeps the next command outside that may run it from running unasked,
// in every mode and whatever the rules say.
func TestChangesInsideAreAskedAbout(t *testing.T) {
	hook := []action.Executed{{Path: ".git/hooks/pre-commit", By: "git", What: "hook", How: action.Created}}
	rules := []action.Rule{userRule(action.Allow, "git commit"), userRule(action.Allow, "git fetch"), userRule(action.Allow, "make"), userRule(action.Allow, "touch")}
	tests := []struct {
		act  action.Action
		mode action.Mode
		asks bool
	}{
		{at(sh("git commit -m x")), action.ModeAsk, true},
		{at(sh("git fetch")), action.ModeAsk, true},
		{outside("git fetch"), action.ModeAuto, true},
		{at(sh("git commit -m x")), action.ModeAll, true},
		{at(sh("make")), action.ModeEdits, true},
		{at(sh("./x")), action.ModeAll, true},
		{action.Action{Kind: action.PaneKeys, Command: "make\n"}, action.ModeAll, true},
		{at(sh("git commit -m x")), action.ModeAuto, false}, // inside
		{at(sh("git status")), action.ModeAsk, false},       // in the read-only sandbox
		{at(sh("touch x")), action.ModeAsk, false},
		{write("/w/a.go"), action.ModeAll, false},
	}
	for _, tt := range tests {
		p := fencedPolicy(rules...)
		if before := p.Judge(tt.act, tt.mode); before.Decision != action.Allow {
			t.Fatalf("%s in mode %s: %+v before the change, want it allowed", tt.act.Command, tt.mode, before)
		}
		p.Inside = hook
		got := p.Judge(tt.act, tt.mode)
		if asks := got.Decision == action.Ask; asks != tt.asks || asks && (got.Rule != ChangedInside || !strings.Contains(got.Reason, ".git/hooks/pre-commit is new (git runs it: hook)")) {
			t.Errorf("%s in mode %s: %+v, asks: want %v", tt.act.Command, tt.mode, got, tt.asks)
		}
	}
	p := fencedPolicy()
	p.Inside = hook
	if c := p.Context(write("/home/ann/x"), action.ModeAsk); len(c.Inside) != 1 {
		t.Errorf("a dialog says that %v changed, want the hook", c.Inside)
	}
}

// Outside the fence nothing is offered for the session but a closed shape.
func TestSimilarOutsideTheFence(t *testing.T) {
	for _, tt := range []struct {
		command string
		mode    action.Mode
		want    string
	}{
		{"make test", action.ModeAsk, "allow `make test` in /w on local in this session"},
		{"make test", action.ModeAuto, ""},
		{"npm publish", action.ModeAuto, ""},
		{"touch a.txt", action.ModeAuto, "allow `touch …` inside the folder on local in this session"},
	} {
		r, ok := fencedPolicy().Similar(outside(tt.command), tt.mode)
		if got := r.String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s in mode %s offers %q, want %q", tt.command, tt.mode, got, tt.want)
		}
		c := fencedPolicy().Context(outside(tt.command), tt.mode)
		if c.Outside != (tt.mode == action.ModeAuto) {
			t.Errorf("%s in mode %s: outside %v", tt.command, tt.mode, c.Outside)
		}
	}
}

// A program of the person's doesn't answer what would leave the fence.
func TestHooksGrantNothingOutsideTheFence(t *testing.T) {
	if !fencedPolicy().Grantable(at(sh("make test")), action.ModeAsk) || fencedPolicy().Grantable(outside("make test"), action.ModeAuto) {
		t.Error("want a hook to grant make test in mode ask, and not outside the fence in mode auto")
	}
}
