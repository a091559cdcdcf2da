package policy

import (
	"strings"
	"testing"

	"buddy/agent/action"
)

// fieldSays reports whether the text of a rule, as a person reads it, covers one simple command: exactly these
// words, or these words first. It does not use the policy.
func fieldSays(text, command string) bool {
	spec := strings.TrimSuffix(strings.TrimPrefix(text, "Bash("), ")")
	for _, open := range []string{":*", " *"} {
		if words, ok := strings.CutSuffix(spec, open); ok {
			return command == words || strings.HasPrefix(command, words+" ")
		}
	}
	return command == spec
}

// Each command that a rule of other agents allows consists of simple commands that its text names, or that need no
// approval anyway.
func TestFieldRulesAllowNoMoreThanTheySay(t *testing.T) {
	texts := []string{
		"Bash(npm:*)", "Bash(npm run test:*)", "Bash(npm run test)", "Bash(make *)", "Bash(make test)", "Bash(go test ./...)",
		"Bash(git add *)", "Bash(git add x)", "Bash(touch *)", "Bash(rm *)", "Bash(rm x)", "Bash(sudo *)", "Bash(env *)",
	}
	programs := []string{
		"npm", "npm run test", "npm run test -- -u", "npm run testing", "npm run test:unit", "npm install x", "npm x run test", "npx npm",
		"make", "make test", "make test SHELL=/tmp/x", "make testing", "make -f x test", "go test ./...", "go test ./... -exec x", "go test",
		"git add", "git add x", "git add x y", "git addx", "git -C /y add x", "git commit -m x", "git push", "/usr/bin/git add x", "/tmp/git add x",
		"touch a", "rm x", "rm x y", "rm -rf x", "rm", "curl x", "sudo make test", "env make test", "X=1 make test", "make test $(rm x)", "make $x", "make te*", "make {test,x}",
	}
	joins := []string{" && ", " ; ", " | ", "\n", " & "}
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	allowed := 0
	check := func(text, line string, simple []string) {
		t.Helper()
		rules, err := action.FieldRules(text, action.Allow, action.FromUser)
		if err != nil {
			t.Fatal(err)
		}
		a := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: line, Cwd: p.Workspace, Mutation: true}
		with := p
		with.Rules = rules
		if with.Judge(a, action.ModeAsk).Decision != action.Allow {
			return
		}
		allowed++
		for _, c := range simple {
			a.Command = c
			if !fieldSays(text, strings.TrimPrefix(c, "/usr/bin/")) && p.Judge(a, action.ModeAsk).Decision != action.Allow {
				t.Errorf("%s allows %q, whose part %q it does not name", text, line, c)
			}
		}
	}
	for _, text := range texts {
		for _, one := range programs {
			check(text, one, []string{one})
			for _, two := range []string{"make test", "rm x y", "curl x"} {
				for _, join := range joins {
					check(text, one+join+two, []string{one, two})
				}
			}
			check(text, one+" > /tmp/x", []string{one, "redirection"})
			check(text, "bash -c '"+one+"'", []string{"bash -c '" + one + "'"})
			check(text, one+" `curl x`", []string{one, "curl x"})
		}
	}
	if allowed < 50 {
		t.Errorf("only %d lines were allowed: the rules do nothing", allowed)
	}
}

func TestFieldRulesOfFilesAndHosts(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	tests := []struct {
		text string
		a    action.Action
		want action.Decision
	}{
		{"Edit(src/**)", action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: p.Workspace + "/src/a.go"}, action.Allow},
		{"Edit(src/**)", action.Action{Kind: action.FileWrite, Tool: "apply_patch", Path: p.Workspace + "/src/a.go"}, action.Allow},
		{"Edit(src/**)", action.Action{Kind: action.FileWrite, Tool: "apply_patch", Path: p.Workspace + "/src/a.go", Paths: []string{p.Workspace + "/src/a.go", p.Workspace + "/b.go"}}, action.Ask},
		{"Edit(src/**)", action.Action{Kind: action.FileWrite, Tool: "write_file", Path: p.Workspace + "/src/a.go"}, action.Ask},
		{"Edit(src/**)", action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: p.Workspace + "/srcs/a.go"}, action.Ask},
		{"Edit(src/*.go)", action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: p.Workspace + "/src/x/a.go"}, action.Ask},
		{"Edit", action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: p.Workspace + "/a.go"}, action.Allow},
		{"Edit", action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: p.Workspace + "/.git/hooks/pre-commit"}, action.Ask},
		{"Edit", action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: "/srv/a.go"}, action.Ask},
		{"Read", action.Action{Kind: action.FileRead, Tool: "read_file", Path: p.Home + "/.ssh/id_rsa"}, action.Ask},
		{"Read", action.Action{Kind: action.FileRead, Tool: "read_file", Path: p.Workspace + "/.env"}, action.Ask},
		{"Read(~/notes/*.md)", action.Action{Kind: action.FileRead, Tool: "read_file", Path: p.Home + "/notes/a.md"}, action.Allow},
		{"Read(~/notes/*.md)", action.Action{Kind: action.FileRead, Tool: "read_file", Path: p.Home + "/notes/x/a.md"}, action.Ask},
		{"WebFetch(domain:go.dev)", web("go.dev", false), action.Allow},
		{"WebFetch(domain:go.dev)", web("GO.dev", false), action.Allow},
		{"WebFetch(domain:go.dev)", web("evil.go.dev", false), action.Ask},
		{"WebFetch(domain:go.dev)", web("evilgo.dev", false), action.Ask},
		{"WebFetch", web("go.dev", false), action.Allow},
		{"WebFetch", web("router", true), action.Ask},
		{"mcp__files", action.Action{Kind: action.MCP, Tool: "mcp__files__read"}, action.Allow},
		{"mcp__files", action.Action{Kind: action.MCP, Tool: "mcp__filesystem__read"}, action.Ask},
		{"mcp__files__read", action.Action{Kind: action.MCP, Tool: "mcp__files__read_all"}, action.Ask},
	}
	for _, tt := range tests {
		rules, err := action.FieldRules(tt.text, action.Allow, action.FromUser)
		with := p
		with.Rules = rules
		tt.a.Target = "local"
		if got := with.Judge(tt.a, action.ModeAsk); err != nil || got.Decision != tt.want {
			t.Errorf("%s, %s %s%s: %s (%s, %v), want %s", tt.text, tt.a.Tool, tt.a.Path, tt.a.Host, got.Decision, got.Reason, err, tt.want)
		}
	}
}

func web(host string, local bool) action.Action {
	return action.Action{Kind: action.Network, Tool: "fetch_url", URL: "https://" + host + "/", Host: host, Method: "GET", Local: local}
}

// Rules of other agents that deny cover every spelling of a command; without * they cover only that command.
func TestFieldRulesThatDeny(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	for _, tt := range []struct {
		text, command string
		want          bool
	}{
		{"Bash(git push *)", "git push", true},
		{"Bash(git push *)", "cd x && sudo git -C y push -f", true},
		{"Bash(git push *)", "git pull", false},
		{"Bash(git push)", "git push", true},
		{"Bash(git push)", "sudo git push", true},
		{"Bash(git push)", "git push -f", false},
		{"Bash(*)", "ls", true},
	} {
		rules, err := action.FieldRules(tt.text, action.Deny, action.FromProject)
		if err != nil {
			t.Fatal(err)
		}
		with := p
		with.Rules = rules
		a := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: tt.command, Cwd: p.Workspace}
		if got := with.Judge(a, action.ModeAll); (got.Decision == action.Deny) != tt.want {
			t.Errorf("%s, %q: %s (%s)", tt.text, tt.command, got.Decision, got.Reason)
		}
	}
}
