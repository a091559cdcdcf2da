package policy

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"buddy/agent/action"
)

func read(path string) action.Action { return action.Action{Kind: action.FileRead, Path: path} }

func write(path string) action.Action {
	return action.Action{Kind: action.FileWrite, Tool: "write_file", Path: path}
}

func sh(command string) action.Action {
	return action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: command, Cwd: "/w"}
}

// TestJudgeZsh checks that commands in an unsupported shell always need approval, and no rule for a command covers
// them.
func TestJudgeZsh(t *testing.T) {
	p := Policy{Workspace: "/w", Shell: "zsh", Rules: []action.Rule{{Decision: action.Allow, Tool: "run_shell", Prefix: []string{"ls"}}}}
	for _, command := range []string{"ls", "ls *(e:'rm x':)", "ls =(rm x)"} {
		if v := p.Judge(sh(command), action.ModeAsk); v.Decision != action.Ask {
			t.Errorf("%s: %+v", command, v)
		}
	}
	if v := p.Judge(sh("rm -rf /"), action.ModeAll); v.Decision != action.Deny {
		t.Errorf("rm -rf /: %+v", v)
	}
}

func TestJudge(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann", Confined: true}
	fetch := action.Action{Kind: action.Network, Tool: "fetch_url", Host: "go.dev", Method: "GET"}
	keys := action.Action{Kind: action.PaneKeys, Tool: "send-keys", Command: "ls"}
	const (
		allow = action.Allow
		ask   = action.Ask
		deny  = action.Deny
	)
	tests := []struct {
		name string
		act  action.Action
		want [6]action.Decision // ask, strict, edits, plan, all, none
	}{
		{"file of the workspace", read("/w/a/b.go"), [6]action.Decision{allow, ask, allow, allow, allow, allow}},
		{"the workspace itself", read("/w"), [6]action.Decision{allow, ask, allow, allow, allow, allow}},
		{"outside", read("/etc/passwd"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"a neighbour with the same beginning", read("/w2/a"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"relative path", read("a"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"secret file", read("/w/.env"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"secret file, other case", read("/w/.ENV.local"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"secret folder", read("/w/.ssh/config"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"key", read("/w/tls/server.key"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"read-only command", sh("ls -la"), [6]action.Decision{allow, ask, allow, allow, allow, allow}},
		{"command", sh("touch x"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"read-only with sudo", sh("sudo ls"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"erases all", sh("rm -rf /"), [6]action.Decision{deny, deny, deny, deny, deny, deny}},
		{"said to need rights", action.Action{Kind: action.Shell, Command: "ls", Privesc: true}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"not to be confined", action.Action{Kind: action.Shell, Command: "ls", Cwd: "/w", Outside: true}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"git that reads", action.Action{Kind: action.Git, Command: "git log -3", Cwd: "/w"}, [6]action.Decision{allow, ask, allow, allow, allow, allow}},
		{"git that pushes", action.Action{Kind: action.Git, Command: "git push"}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"write", write("/w/a"), [6]action.Decision{ask, ask, allow, deny, allow, deny}},
		{"write outside", write("/home/ann/x"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"write of the workspace itself", write("/w"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"write of a secret", write("/w/.env"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"write of a hook of git", write("/w/.git/hooks/pre-commit"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"write of our settings", write("/w/buddy.toml"), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"write to the system", write("/etc/hosts"), [6]action.Decision{deny, deny, deny, deny, deny, deny}},
		{"write of a key", write("/home/ann/.ssh/authorized_keys"), [6]action.Decision{deny, deny, deny, deny, deny, deny}},
		{"delete", action.Action{Kind: action.FileDelete, Path: "/w/a"}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"delete in the system", action.Action{Kind: action.FileDelete, Path: "/usr/bin/ls"}, [6]action.Decision{deny, deny, deny, deny, deny, deny}},
		{"network", fetch, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"keys", keys, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"keys that erase", action.Action{Kind: action.PaneKeys, Command: "rm -rf ~"}, [6]action.Decision{deny, deny, deny, deny, deny, deny}},
		{"mcp", action.Action{Kind: action.MCP, Tool: "x"}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"mcp that says it reads", mcp("x", false, action.MCPTool{}), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"mcp that is believed to read", mcp("x", false, action.MCPTool{Hinted: true}), [6]action.Decision{allow, ask, allow, allow, allow, allow}},
		{"mcp that is believed to change", mcp("x", true, action.MCPTool{Hinted: true}), [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"mcp that was exchanged", mcp("x", true, action.MCPTool{Changed: true}), [6]action.Decision{ask, ask, ask, deny, ask, deny}},
		{"mcp that was exchanged and is believed to read", mcp("x", false, action.MCPTool{Hinted: true, Changed: true}), [6]action.Decision{ask, ask, ask, deny, ask, deny}},
		{"browser", action.Action{Kind: action.Browser}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"generic", action.Action{Kind: action.Generic}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
		{"a list of ours", action.Action{Kind: action.Internal, Tool: "todo"}, [6]action.Decision{allow, ask, allow, allow, allow, allow}},
		{"the end of a command of ours", action.Action{Kind: action.Internal, Tool: "task_kill", Mutation: true}, [6]action.Decision{allow, ask, allow, deny, allow, allow}},
		{"no kind at all", action.Action{}, [6]action.Decision{ask, ask, ask, deny, allow, deny}},
	}
	for _, tt := range tests {
		for i, mode := range []action.Mode{action.ModeAsk, action.ModeStrict, action.ModeEdits, action.ModePlan, action.ModeAll, action.ModeNone} {
			if got := p.Judge(tt.act, mode); got.Decision != tt.want[i] || got.Reason == "" || got.Rule == "" {
				t.Errorf("%s, mode %s: %+v, want %s with a reason and a rule", tt.name, mode, got, tt.want[i])
			}
		}
	}
	if got := p.Judge(sh("touch x"), "later"); got.Decision != ask {
		t.Errorf("an unknown mode: %+v, want ask", got)
	}
	if got := (Policy{}).Judge(read("/x"), action.ModeAsk); got.Decision != ask {
		t.Errorf("no workspace: %+v, want ask", got)
	}
	if got := (Policy{Workspace: "/usr/src/app"}).Judge(write("/usr/src/app/x"), action.ModeEdits); got.Decision != allow {
		t.Errorf("a workspace in a folder of the system: %+v, want allow", got)
	}
}

func mcp(tool string, mutation bool, of action.MCPTool) action.Action {
	return action.Action{Kind: action.MCP, Tool: "mcp__s__" + tool, Target: "local", Op: "s: " + tool, Mutation: mutation, Risk: action.Medium, MCPTool: of}
}

func TestNoRuleAllowsAToolThatWasExchanged(t *testing.T) {
	for _, source := range []action.Source{action.FromUser, action.FromSession} {
		for _, tool := range []string{"mcp__s__x", "mcp__s__*"} {
			p := Policy{Workspace: "/w", Rules: []action.Rule{{Decision: action.Allow, Tool: tool, Source: source}}}
			if v := p.Judge(mcp("x", true, action.MCPTool{}), action.ModeAsk); v.Decision != action.Allow {
				t.Errorf("%s %s: %+v, want allow: else this shows nothing", source, tool, v)
			}
			if v := p.Judge(mcp("x", true, action.MCPTool{Changed: true}), action.ModeAsk); v.Decision != action.Ask || v.Rule != ChangedTool {
				t.Errorf("%s %s: %+v", source, tool, v)
			}
		}
	}
	if r, ok := (Policy{}).Similar(mcp("x", true, action.MCPTool{Changed: true}), action.ModeAsk); ok {
		t.Errorf("a rule is offered for it: %+v", r)
	}
	if r, ok := (Policy{}).Similar(mcp("x", true, action.MCPTool{}), action.ModeAsk); !ok || r.Tool != "mcp__s__x" {
		t.Errorf("the rule for a tool is %+v, %v", r, ok)
	}
	risky := mcp("x", true, action.MCPTool{})
	risky.Risk = action.High
	if r, ok := (Policy{}).Similar(risky, action.ModeAsk); ok {
		t.Errorf("a rule is offered for one that destroys: %+v", r)
	}
}

func TestRules(t *testing.T) { // deny beats ask beats allow; project rules only tighten
	rule := func(d action.Decision, src action.Source, prefix ...string) action.Rule {
		return action.Rule{Decision: d, Prefix: prefix, Source: src}
	}
	goTest := rule(action.Allow, action.FromUser, "go", "test")
	tests := []struct {
		name  string
		rules []action.Rule
		act   action.Action
		want  action.Decision
	}{
		{"allowed prefix", []action.Rule{goTest}, sh("go test ./..."), action.Allow},
		{"allowed with what only reads", []action.Rule{goTest}, sh("go test ./... | tail -5 && ls"), action.Allow},
		{"a word, not a beginning of one", []action.Rule{rule(action.Allow, "user", "go", "te")}, sh("go test"), action.Ask},
		{"not the text", []action.Rule{goTest}, sh("'go test' x"), action.Ask},
		{"allowed with what only reads in a sandbox", []action.Rule{goTest}, sh("go test ./... && git status"), action.Ask},
		{"other command behind", []action.Rule{goTest}, sh("go test; touch x"), action.Ask},
		{"redirection", []action.Rule{goTest}, sh("go test > x"), action.Ask},
		{"substitution", []action.Rule{goTest}, sh("go test $(touch x)"), action.Ask},
		{"assignment", []action.Rule{goTest}, sh("GOFLAGS=-toolexec=./x go test"), action.Ask},
		{"background", []action.Rule{goTest}, sh("go test &"), action.Ask},
		{"wrapper", []action.Rule{goTest}, sh("timeout 9 go test"), action.Ask},
		{"rule for the wrapper", []action.Rule{rule(action.Allow, "user", "timeout")}, sh("timeout 9 touch x"), action.Ask},
		{"rule for env", []action.Rule{rule(action.Allow, "user", "env")}, sh("env touch x"), action.Ask},
		{"rule for xargs", []action.Rule{rule(action.Allow, "user", "xargs")}, sh("ls | xargs touch"), action.Ask},
		{"rule for sh", []action.Rule{rule(action.Allow, "user", "sh")}, sh("sh -c 'touch x'"), action.Ask},
		{"rule for find", []action.Rule{rule(action.Allow, "user", "find")}, sh("find . -exec touch x \\;"), action.Ask},
		{"rule for sudo", []action.Rule{rule(action.Allow, "user", "sudo")}, sh("sudo touch x"), action.Ask},
		{"dynamic name", []action.Rule{goTest}, sh("$go test"), action.Ask},
		{"two rules for two parts", []action.Rule{goTest, rule(action.Allow, "user", "touch")}, sh("go test && touch x"), action.Allow},
		{"program of the system", []action.Rule{goTest}, sh("/usr/bin/go test"), action.Allow},
		{"program of another folder", []action.Rule{goTest}, sh("./go test"), action.Ask},
		{"ask beats allow", []action.Rule{goTest, rule(action.Ask, "user", "go")}, sh("go test"), action.Ask},
		{"ask of a free command", []action.Rule{rule(action.Ask, "project", "ls")}, sh("ls"), action.Ask},
		{"deny beats allow", []action.Rule{goTest, rule(action.Deny, "project", "go")}, sh("go test"), action.Deny},
		{"deny in a part", []action.Rule{rule(action.Deny, "user", "git", "push")}, sh("ls && git push"), action.Deny},
		{"deny in a wrapper", []action.Rule{rule(action.Deny, "user", "git", "push")}, sh("env A=1 timeout 9 sh -c 'git push -f'"), action.Deny},
		{"deny in a substitution", []action.Rule{rule(action.Deny, "user", "git", "push")}, sh("echo $(git push)"), action.Deny},
		{"deny in a function", []action.Rule{rule(action.Deny, "user", "git", "push")}, sh("f() { git push; }; f"), action.Deny},
		{"deny with quotes", []action.Rule{rule(action.Deny, "user", "git", "push")}, sh(`g"i"t pu\sh`), action.Deny},
		{"deny of sudo", []action.Rule{rule(action.Deny, "user", "sudo")}, sh("sudo -u ann ls"), action.Deny},
		{"deny with find", []action.Rule{rule(action.Deny, "user", "rm")}, sh("find . -exec rm {} +"), action.Deny},
		{"deny with xargs", []action.Rule{rule(action.Deny, "user", "rm")}, sh("ls | xargs -n1 rm"), action.Deny},
		{"deny of a path in a command", []action.Rule{{Decision: action.Deny, Path: "private/**"}}, sh("cat private/x"), action.Deny},
		{"a project may not allow", []action.Rule{rule(action.Allow, "project", "go", "test")}, sh("go test"), action.Ask},
		{"an empty rule matches nothing", []action.Rule{{Decision: action.Allow}, {Decision: action.Deny}}, sh("go test"), action.Ask},
		{"a tool alone allows no command", []action.Rule{{Decision: action.Allow, Tool: "run_shell"}}, sh("go test"), action.Ask},
		{"target", []action.Rule{{Decision: action.Allow, Prefix: []string{"go"}, Target: "local"}}, sh("go test"), action.Allow},
		{"other target", []action.Rule{{Decision: action.Allow, Prefix: []string{"go"}, Target: "root@*"}}, sh("go test"), action.Ask},
		{"path", []action.Rule{{Decision: action.Allow, Path: "docs/**"}}, write("/w/docs/a.md"), action.Allow},
		{"other path", []action.Rule{{Decision: action.Allow, Path: "docs/**"}}, write("/w/a.md"), action.Ask},
		{"path of the system", []action.Rule{{Decision: action.Allow, Path: "/etc/hosts", Source: "user"}}, write("/etc/hosts"), action.Allow},
		{"a pattern is not for secrets", []action.Rule{{Decision: action.Allow, Path: "**"}}, read("/w/.env"), action.Ask},
		{"host", []action.Rule{{Decision: action.Allow, Host: "go.dev"}}, action.Action{Kind: action.Network, Host: "pkg.go.dev"}, action.Allow},
		{"local, by its host", []action.Rule{{Decision: action.Allow, Host: "localhost"}}, action.Action{Kind: action.Network, Host: "localhost", Local: true}, action.Allow},
		{"local, by the tool", []action.Rule{{Decision: action.Allow, Tool: "fetch_url"}}, action.Action{Kind: action.Network, Tool: "fetch_url", Host: "localhost", Local: true}, action.Ask},
		{"public, by the tool", []action.Rule{{Decision: action.Allow, Tool: "fetch_url"}}, action.Action{Kind: action.Network, Tool: "fetch_url", Host: "go.dev"}, action.Allow},
		{"host with the same end", []action.Rule{{Decision: action.Allow, Host: "go.dev"}}, action.Action{Kind: action.Network, Host: "notgo.dev"}, action.Ask},
		{"keys are no command", []action.Rule{rule(action.Allow, "user", "ls")}, action.Action{Kind: action.PaneKeys, Command: "ls"}, action.Ask},
		{"harm stays", []action.Rule{rule(action.Allow, "user", "rm")}, sh("rm -rf /"), action.Deny},
	}
	for _, tt := range tests {
		p := Policy{Workspace: "/w", Home: "/home/ann", Rules: tt.rules}
		if got := p.Judge(tt.act, action.ModeAsk); got.Decision != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, got, tt.want)
		}
		if got := p.Judge(tt.act, action.ModeAll); tt.want == action.Deny && got.Decision != action.Deny {
			t.Errorf("%s in mode all: %+v, want deny", tt.name, got)
		}
	}
}

// TestSimilar checks that the offered rule allows the command itself, and otherwise only commands of its closed
// shape or the same command.
func TestSimilar(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	p.Resolve = filepath.Clean
	rows := table(t, "similar.txt", 3)
	for _, row := range rows {
		want, command, other := row[0], row[1], row[2]
		r, ok := p.Similar(sh(command), action.ModeAsk)
		got := "none"
		if ok {
			got = string(r.Shape)
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", command, got, r, want)
		}
		if !ok {
			continue
		}
		if r.Check() != nil || r.Source != action.FromSession || p.With(r).Judge(sh(command), action.ModeAsk).Decision != action.Allow {
			t.Errorf("%s: %v does not allow it", command, r)
		}
		if v := p.With(r).Judge(sh(other), action.ModeAsk); v.Decision == action.Allow {
			t.Errorf("%s: %v allows %s (%s)", command, r, other, v.Reason)
		}
	}
	if len(rows) < 90 {
		t.Errorf("%d rows", len(rows))
	}
	if r, ok := p.Similar(write("/w/docs/a.md"), action.ModeAsk); !ok || r.Path != "/w/docs/**" {
		t.Errorf("Similar of a write = %v %v", r, ok)
	}
	for _, a := range []action.Action{write("/w/.env"), write("/etc/hosts"), read("/w/.env"), {Kind: action.Generic, Tool: "x"}, {Kind: action.PaneKeys, Tool: "x", Command: "ls"}} {
		if r, ok := p.Similar(a, action.ModeAsk); ok {
			t.Errorf("Similar(%+v) = %v, want none", a, r)
		}
	}
}

// TestSimilarStaysWithItsKind checks that a rule for writing files does not cover deleting, and one for fetching
// pages does not cover sending.
func TestSimilarStaysWithItsKind(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	get := action.Action{Kind: action.Network, Tool: "fetch_url", Host: "go.dev", Method: "GET"}
	post, remove := get, write("/w/docs/a.md")
	post.Method, remove.Kind = "POST", action.FileDelete
	for _, tt := range []struct{ asked, other action.Action }{{get, post}, {write("/w/docs/b.md"), remove}} {
		r, ok := p.Similar(tt.asked, action.ModeAsk)
		if !ok || p.With(r).Judge(tt.asked, action.ModeAsk).Decision != action.Allow {
			t.Errorf("Similar(%+v) = %v %v", tt.asked, r, ok)
		}
		if v := p.With(r).Judge(tt.other, action.ModeAsk); v.Decision != action.Ask {
			t.Errorf("%v: %+v is %+v", r, tt.other, v)
		}
	}
}

// TestSimilarWithoutSandbox checks that, where read-only commands need approval, a rule for a closed shape covers
// others that only read.
func TestSimilarWithoutSandbox(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	for _, tt := range []struct {
		command, want string
		yes, no       []string
	}{
		{"ls *.go", "ls", []string{"ls -la *.md", "ls src/*"}, []string{"ls ../*", "ls /etc/*", "ls $(rm x)", "ls > x"}},
		{"kubectl get pods", "kubectl get", []string{"kubectl get nodes -o wide"}, []string{"kubectl get secrets", "kubectl delete pod x", "kubectl get pods -o go-template-file=x"}},
		{"head -5 *.md", "head", []string{"head x*.md"}, []string{"head .e*", "head *.pem"}},
		{"git log", "git log", nil, []string{"git log -p", "git log --ext-diff"}},
	} {
		r, ok := p.Similar(sh(tt.command), action.ModeAsk)
		if !ok || strings.Join(r.Prefix, " ") != tt.want {
			t.Errorf("Similar(%s) = %v %v, want %s", tt.command, r, ok, tt.want)
		}
		for _, c := range tt.yes {
			if v := p.With(r).Judge(sh(c), action.ModeAsk); v.Decision != action.Allow {
				t.Errorf("%v: %s is %s (%s)", r, c, v.Decision, v.Reason)
			}
		}
		for _, c := range tt.no {
			if v := p.With(r).Judge(sh(c), action.ModeAsk); v.Decision != action.Ask {
				t.Errorf("%v: %s is %s (%s)", r, c, v.Decision, v.Reason)
			}
		}
	}
}

// TestExamples checks that the approval names two commands that each offered rule allows and one that it does not.
func TestExamples(t *testing.T) {
	var acts []action.Action
	for file, columns := range map[string]int{"similar.txt": 3, "deny.txt": 3, "never.txt": 2} {
		for _, row := range table(t, file, columns) {
			acts = append(acts, sh(row[1]), sh(row[columns-1]))
		}
	}
	for _, file := range []string{"daily", "everyday", "beyond", "services", "core"} {
		data, err := os.ReadFile("shell/testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			acts = append(acts, sh(strings.TrimSuffix(line, "\n")))
		}
	}
	offered := make(map[action.Shape]int)
	p := Policy{Workspace: "/w", Home: "/home/ann", Resolve: filepath.Clean}
	for _, a := range acts {
		r, ok := p.Similar(a, action.ModeAsk)
		c := p.Context(a, action.ModeAsk)
		if !ok {
			if c.Passes != nil || c.Stops != "" {
				t.Errorf("%s: examples without a rule: %q, %q", a.Command, c.Passes, c.Stops)
			}
			continue
		}
		offered[r.Shape]++
		judge := func(command string) action.Decision {
			one := a
			one.Command = command
			return p.With(r).Judge(one, action.ModeAsk).Decision
		}
		if len(c.Passes) != 2 || c.Passes[0] == c.Passes[1] || judge(c.Passes[0]) != action.Allow || judge(c.Passes[1]) != action.Allow {
			t.Errorf("%s: %v does not allow %q", a.Command, r, c.Passes)
		}
		if piped := c.Passes[0] + " | tail"; c.Exact != (r.Shape == action.Exactly) || c.Exact && judge(piped) != action.Allow {
			t.Errorf("%s: exact is %v of %v", a.Command, c.Exact, r)
		}
		if c.Stops == "" || judge(c.Stops) == action.Allow {
			t.Errorf("%s: %v allows %q", a.Command, r, c.Stops)
		}
	}
	if offered[action.Closed] < 30 || offered[action.Exactly] < 40 {
		t.Errorf("offered %v", offered)
	}
	for a, want := range map[string][3]string{
		"mkdir -p x": {"mkdir NAME", "mkdir -p DIR/NAME", "mkdir ../NAME"}, "chmod +x a": {"chmod +x NAME", "chmod -v +x DIR/NAME", "chmod +x ../NAME"},
		"make test": {"make test", "make test | tail -n 20", "make test x"},
	} {
		c := p.Context(sh(a), action.ModeAsk)
		if got := [3]string{c.Passes[0], c.Passes[1], c.Stops}; got != want {
			t.Errorf("%s: %q, want %q", a, got, want)
		}
	}
	c := p.Context(write("/w/docs/a.md"), action.ModeAsk)
	if c.Similar == "" || c.Passes != nil || c.Stops != "" {
		t.Errorf("a rule about files (%q) has examples of files that may not be there: %q, not %q", c.Similar, c.Passes, c.Stops)
	}
	c = p.Context(action.Action{Kind: action.Network, Tool: "fetch_url", Host: "go.dev", Method: "GET"}, action.ModeAsk)
	if got := strings.Join(append(c.Passes, c.Stops), " "); got != "https://go.dev/ https://docs.go.dev/ https://other-go.dev/" {
		t.Errorf("a host: %q", got)
	}
}

func TestRuleCheck(t *testing.T) {
	good := action.Rule{Decision: action.Deny, Prefix: []string{"git", "push"}, Target: "local", Source: action.FromProject}
	if err := good.Check(); err != nil {
		t.Errorf("Check(%v) = %v", good, err)
	}
	if got, want := good.String(), "deny `git push …` on local (project)"; got != want {
		t.Errorf("String = %s, want %s", got, want)
	}
	for _, r := range []action.Rule{
		{},
		{Decision: "maybe", Tool: "x"},
		{Decision: action.Allow},
		{Decision: action.Allow, Tool: "x", Source: action.FromProject},
		{Decision: action.Deny, Prefix: []string{"git", ""}},
		{Decision: action.Deny, Prefix: []string{"git push"}},
	} {
		if r.Check() == nil {
			t.Errorf("Check(%+v) finds nothing", r)
		}
	}
}

func TestContext(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	tests := []struct {
		act        action.Action
		risk       action.Risk
		reversible bool
	}{
		{sh("ls"), action.Low, true},
		{sh("git commit -m x"), action.Medium, true},
		{sh("rm x"), action.High, false},
		{sh("sudo ls"), action.High, false},
		{sh("rm -rf /"), action.High, false},
		{sh("make"), action.Medium, false},
		{sh("ls > x"), action.Medium, false},
		{write("/w/a"), action.Medium, true},
		{write("/w/.git/config"), action.High, true},
		{read("/w/.env"), action.High, false},
		{action.Action{Kind: action.FileDelete, Path: "/w/a"}, action.High, false},
		{action.Action{Kind: action.Network, Host: "x", Method: "POST"}, action.High, false},
		{action.Action{Kind: action.Shell, Command: "make", Risk: action.High}, action.High, false},
		{action.Action{Kind: action.Generic}, action.Medium, false},
	}
	for _, tt := range tests {
		c := p.Context(tt.act, action.ModeAsk)
		if c.Risk != tt.risk || c.Reversible != tt.reversible || c.Why == "" || c.Rule == "" {
			t.Errorf("Context(%+v) = %+v, want risk %s, reversible %v", tt.act, c, tt.risk, tt.reversible)
		}
		if !reflect.DeepEqual(c, p.Context(tt.act, action.ModeAsk)) {
			t.Errorf("Context(%+v) differs from call to call", tt.act)
		}
	}
}

func TestExplain(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann", Confined: true}
	got := p.Explain(action.ModeAsk, "local", "git log | tee x.log", "/w").String()
	want := `ask (mode ask): tee writes files
rule: shell
  free  git log
        git log is read-only
  ask   tee x.log
        tee writes files
note: Read-only commands run in a sandbox without asking. This one isn't known to be read-only.
note: Once approved, it runs in /w with your full permissions.
risk: medium
then: it changes files or settings
`
	if got != want {
		t.Errorf("Explain =\n%s\nwant\n%s", got, want)
	}
	if s := p.Explain(action.ModeAsk, "local", "ls \x1b[2J\u202e", "/w").String(); strings.ContainsAny(s, "\x1b\u202e") {
		t.Errorf("Explain lets a terminal obey: %q", s)
	}
}

func TestSecret(t *testing.T) {
	for _, p := range []string{".env", "a/.env.local", "/home/ann/.ssh/config", "x.PEM", "credentials.json", "my_credentials.json", "/etc/shadow", "/proc/../etc/shadow", ".git/config", "prod.tfstate", ".bash_history", "id_rsa.bak"} {
		if Secret(p) == "" {
			t.Errorf("Secret(%q) finds nothing", p)
		}
	}
	for _, p := range []string{"", "main.go", "environment.go", "keys.md", "/etc/passwd", "src/shadow.css", "env.go", ".gitignore", "token.go", "README", "id_rsa.pub"} {
		if s := Secret(p); s != "" {
			t.Errorf("Secret(%q) = %q", p, s)
		}
	}
	for _, p := range []string{"*", ".*", ".e*", "~/.s*/id*", "*/config/*", "*.pem", "*.p?m", "c*", "[c]redentials", "/etc/sh*w", "/etc/*", "?env*/.env", "id_*", "*.json", ".[e]nv", `\.env*`, "README*", "server.*"} {
		if SecretPattern(p) == "" {
			t.Errorf("SecretPattern(%q) finds nothing", p)
		}
	}
	for _, p := range []string{"*.go", "src/*.ts", "*/main.go", "**/*.py", "README*.md", "x?.md", "docs/*.md", "/var/log/*.log", "a?.txt"} {
		if s := SecretPattern(p); s != "" {
			t.Errorf("SecretPattern(%q) = %q", p, s)
		}
	}
}

func TestEveryPathCounts(t *testing.T) { // a patch is as dangerous as its worst file
	p := Policy{Workspace: "/w"}
	act := action.Action{Kind: action.FileWrite, Tool: "apply_patch", Path: "/w/a.go", Paths: []string{"/w/a.go", "/w/b.go"}}
	if v := p.Judge(act, action.ModeEdits); v.Decision != action.Allow {
		t.Errorf("two files of the workspace: %+v", v)
	}
	for path, want := range map[string]action.Decision{"/w/.git/hooks/pre-commit": action.Ask, "/home/ann/x": action.Ask, "/etc/passwd": action.Deny} {
		act.Paths = []string{"/w/a.go", path}
		if v := p.Judge(act, action.ModeEdits); v.Decision != want {
			t.Errorf("with %s: %+v, want %s", path, v, want)
		}
	}
}

// A rule that could match nothing because of a typo is refused.
func TestCheck(t *testing.T) {
	tools, targets := []string{"run_shell", "write_file"}, []string{"local", "web-01"}
	for _, tt := range []struct {
		rule action.Rule
		want string // "" if it is accepted
	}{
		{action.Rule{Path: "secret/**"}, ""},
		{action.Rule{Tool: "run_shell", Target: "web-*"}, ""},
		{action.Rule{Target: "web-01"}, ""},
		{action.Rule{Target: "root@web-02 (ssh)"}, ""}, // from the command line
		{action.Rule{Path: "secret/[ab"}, "is not a valid glob"},
		{action.Rule{Path: "secret/{a,b"}, "is not a valid glob"},
		{action.Rule{Target: "web-[0"}, "is not a valid glob"},
		{action.Rule{Tool: "run_shel"}, `unknown tool "run_shel" (have: run_shell, write_file)`},
		{action.Rule{Target: "web-1"}, `unknown target "web-1" (have: local, web-01)`},
		{action.Rule{}, "a rule needs"},
	} {
		tt.rule.Decision = action.Deny
		err := Check(tt.rule, tools, targets)
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Check(%v) = %v, want %q", tt.rule, err, tt.want)
		}
	}
}

// A folder with glob characters in its name does not disable a rule.
func TestRuleBelowAFolderLikeAGlob(t *testing.T) {
	for _, dir := range []string{"/w/[old", "/w/{a", "/w/a*", "/w/[ab]"} {
		p := Policy{Workspace: dir, Home: dir, Rules: []action.Rule{{Decision: action.Deny, Path: "secret/**"}, {Decision: action.Deny, Path: "~/keys/*"}}}
		for _, path := range []string{"/secret/x", "/keys/x"} {
			v := p.Judge(action.Action{Kind: action.FileWrite, Tool: "write_file", Target: "local", Path: dir + path}, action.ModeAll)
			if v.Decision != action.Deny {
				t.Errorf("%s in %s: %v, want deny", path, dir, v)
			}
		}
	}
}

// If there is a sandbox, running outside of it needs approval.
func TestOutsideOfTheSandbox(t *testing.T) {
	p := Policy{Workspace: "/w", Confined: true}
	for command, want := range map[string]action.Verdict{
		"cat a.go":       {Decision: action.Ask, Rule: "shell"},
		"docker ps":      {Decision: action.Allow, Rule: LiteralCore}, // can't work inside
		"git log":        {Decision: action.Ask, Rule: "shell"},
		"cat $(echo a*)": {Decision: action.Ask, Rule: "shell"},
		"make":           {Decision: action.Ask, Rule: "shell"},
	} {
		v := p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Command: command, Cwd: "/w", Outside: true}, action.ModeAsk)
		if v.Decision != want.Decision || v.Rule != want.Rule {
			t.Errorf("%q: %+v, want %+v", command, v, want)
		}
	}
}
