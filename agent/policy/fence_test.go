package policy

import (
	"errors"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/texts/unseen"
)

// fencedPolicy returns the policy of a machine with both sandboxes.
func fencedPolicy(rules ...action.Rule) Policy {
	return Policy{Workspace: "/w", Home: "/home/ann", Own: Own{Files: []string{"/home/ann/.config/buddy"}}, Confined: true, Fence: func() error { return nil }, Rules: rules}
}

// at returns an action of the workspace's shell.
func at(a action.Action) action.Action {
	a.Tool, a.Target, a.Cwd = "run_shell", "local", "/w"
	return a
}

func outside(command string) action.Action {
	a := at(sh(command))
	a.Outside = true
	return a
}

func on(target string, a action.Action) action.Action {
	a.Target = target
	return a
}

func userRule(d action.Decision, words string) action.Rule {
	return action.Rule{Decision: d, Prefix: strings.Fields(words), Source: action.FromUser}
}

func TestModeAuto(t *testing.T) {
	p := fencedPolicy()
	closed := action.Rule{Decision: action.Allow, Tool: "run_shell", Prefix: []string{"touch"}, Shape: action.Closed, Source: action.FromSession}
	exact := action.Rule{Decision: action.Allow, Tool: "run_shell", Prefix: []string{"make", "test"}, Shape: action.Exactly, Folder: "/w", Source: action.FromSession}
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
		{"buddy's own keys, which are not inside", p, at(sh("cp /home/ann/.config/buddy/auth.json .")), action.Allow, InFence},
		{"buddy's own keys, outside", fencedPolicy(userRule(action.Allow, "cp")), outside("cp /home/ann/.config/buddy/auth.json ."), action.Ask, action.OwnKeys},
		{"outside", p, outside("make test"), action.Ask, OutsideFence},
		{"outside, only reads", p, outside("ls -la"), action.Ask, OutsideFence},
		{"outside, a rule allows it", fencedPolicy(userRule(action.Allow, "make")), outside("make test"), action.Allow, "allow `make …` (user)"},
		{"outside, exactly this was allowed before", fencedPolicy(exact), outside("make test"), action.Allow, exact.String()},
		{"outside, a rule allows what changes another machine", fencedPolicy(userRule(action.Allow, "git push")), outside("git push"), action.Allow, "allow `git push …` (user)"},
		{"outside, a closed shape", fencedPolicy(closed), outside("touch a.txt"), action.Allow, closed.String()},
		{"outside, never", p, outside("rm -rf ~"), action.Deny, "built-in: never run"},
		{"keys for a pane", p, action.Action{Kind: action.PaneKeys, Command: "make\n"}, action.Ask, "pane keys"},
		{"writes", p, write("/w/a.go"), action.Allow, "auto mode"},
		{"deletes", p, action.Action{Kind: action.FileDelete, Path: "/w/a.go"}, action.Allow, "auto mode"},
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

// Without a sandbox, auto mode asks like ask mode.
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
	// If one target needs the sandbox, the verdict says so, whatever allows the command on the other.
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

// After unseen changes of the workspace, a command outside the sandbox needs approval, whatever the rules allow.
// Without the mark each of these is allowed.
func TestCommandsOutsideAskAfterUnseenChanges(t *testing.T) {
	rules := []action.Rule{userRule(action.Allow, "git commit"), userRule(action.Allow, "terraform apply"), userRule(action.Allow, "make")}
	boxed, weak := "with [sandbox]", "changed in mode edits"
	tests := []struct {
		name string
		act  action.Action
		mode action.Mode
		asks bool
	}{
		{"", outside("terraform apply"), action.ModeAuto, true},
		{"", outside("make"), action.ModeAuto, true},
		{"", at(sh("make")), action.ModeAsk, true},
		{"", at(sh("make")), action.ModeEdits, true},
		{"", at(sh("git commit -m x")), action.ModeAsk, true},
		{"", on("box", at(sh("make"))), action.ModeAsk, true},  // a container on this machine
		{"", on("far", at(sh("make"))), action.ModeAsk, false}, // another machine
		{"", at(sh("make")), action.ModeAll, false},            // a person chose this mode instead of the sandbox
		{"", at(sh("make")), action.ModeAuto, false},           // inside
		{"", at(sh("git status")), action.ModeAsk, false},      // in the read-only sandbox
		{"", at(sh("docker ps")), action.ModeAuto, false},      // a service query, written out
		{"", write("/w/a.go"), action.ModeAuto, false},
		{boxed, at(sh("make")), action.ModeAsk, false},
		{boxed, outside("make"), action.ModeAsk, true},
		{weak, outside("make"), action.ModeAuto, true},
		{weak, at(sh("make")), action.ModeEdits, false},
	}
	for _, tt := range tests {
		p := fencedPolicy(rules...)
		local := Target{Workspace: "/w", Confined: true, Fence: p.Fence, Boxed: tt.name == boxed}
		p.At = func(name string) Target {
			return map[string]Target{"local": local, "box": {Workspace: "/src"}, "far": {Workspace: "/srv", Elsewhere: true}}[name]
		}
		p.Unseen = unseen.Place{Dir: t.TempDir(), Folders: []string{"/w"}}
		if before := p.Judge(tt.act, tt.mode); before.Decision != action.Allow {
			t.Fatalf("%s%s in mode %s: %+v before the change, want it allowed", tt.name, tt.act.Command, tt.mode, before)
		}
		if _, err := p.Unseen.Begin(tt.name != weak); err != nil {
			t.Fatal(err)
		}
		if got := p.Judge(tt.act, tt.mode); got.Decision == action.Ask != tt.asks || tt.asks && got.Rule != ChangedUnseen {
			t.Errorf("%s %s in mode %s: %+v, asks: want %v", tt.name, tt.act.Command, tt.mode, got, tt.asks)
		}
		if r, ok := p.Similar(tt.act, tt.mode); ok && tt.asks {
			t.Errorf("%s in mode %s offers %s after changes that nobody has seen", tt.act.Command, tt.mode, r)
		}
	}
}

// A person's program approves no command outside the sandbox after unseen changes.
func TestHooksGrantNothingAfterUnseenChanges(t *testing.T) {
	p := fencedPolicy()
	p.Unseen = unseen.Place{Dir: t.TempDir(), Folders: []string{"/w"}}
	if !p.Grantable(at(sh("make test")), action.ModeAsk) {
		t.Fatal("want a hook to grant make test before")
	}
	if _, err := p.Unseen.Begin(true); err != nil {
		t.Fatal(err)
	}
	if p.Grantable(at(sh("make test")), action.ModeAsk) {
		t.Error("a hook grants make test after")
	}
}

// Outside the sandbox only closed shapes are offered for the session.
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

// A person's program does not approve commands outside the sandbox.
func TestHooksGrantNothingOutsideTheFence(t *testing.T) {
	if !fencedPolicy().Grantable(at(sh("make test")), action.ModeAsk) || fencedPolicy().Grantable(outside("make test"), action.ModeAuto) {
		t.Error("want a hook to grant make test in mode ask, and not outside the fence in mode auto")
	}
}
