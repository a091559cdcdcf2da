package policy

import (
	"testing"

	"buddy/agent/action"
)

// A person's hook may approve an action that needs approval because nothing is known about it, but no action that
// the person wants to be asked about or that is dangerous otherwise.
func TestWhatAHookMayApprove(t *testing.T) {
	command := func(text string) action.Action {
		return action.Action{Kind: action.Shell, Tool: "run_shell", Command: text, Cwd: "/w"}
	}
	write := func(path string) action.Action {
		return action.Action{Kind: action.FileWrite, Tool: "write_file", Path: path, Mutation: true}
	}
	p := Policy{Workspace: "/w", Home: "/home/ann", Own: Own{Files: []string{"/home/ann/.config/buddy/auth.json"}}, Rules: []action.Rule{
		{Decision: action.Deny, Prefix: []string{"npm", "publish"}, Source: action.FromUser},
		{Decision: action.Ask, Prefix: []string{"npm", "install"}, Source: action.FromUser},
	}}
	production := p
	production.At = func(string) Target { return Target{Workspace: "/w", Guarded: true} }
	privileged := command("make install")
	privileged.Privesc = true
	there := command("make test")
	there.Target = "web"
	for name, tt := range map[string]struct {
		p    Policy
		a    action.Action
		mode action.Mode
		want bool
	}{
		"a build":                   {p, command("make test"), action.ModeAsk, true},
		"a word like a file's name": {p, command("npm run build"), action.ModeAsk, true},
		"a file":                    {p, write("/w/a.txt"), action.ModeAsk, true},
		"a page":                    {p, action.Action{Kind: action.Network, Host: "go.dev"}, action.ModeAsk, true},
		"mode edits":                {p, command("make test"), action.ModeEdits, true},
		"what nobody asks about":    {p, action.Action{Kind: action.FileRead, Path: "/w/a.txt"}, action.ModeAsk, false},
		"mode strict":               {p, command("make test"), action.ModeStrict, false},
		"mode plan":                 {p, command("make test"), action.ModePlan, false},
		"mode none":                 {p, command("make test"), action.ModeNone, false},
		"a rule that denies":        {p, command("npm publish"), action.ModeAsk, false},
		"a rule that asks":          {p, command("npm install left-pad"), action.ModeAsk, false},
		"no sane use":               {p, command("rm -rf /"), action.ModeAsk, false},
		"production":                {production, there, action.ModeAsk, false},
		"more rights":               {p, privileged, action.ModeAsk, false},
		"sudo":                      {p, command("sudo make test"), action.ModeAsk, false},
		"a secret":                  {p, write("/w/.env"), action.ModeAsk, false},
		"a secret in a command":     {p, command("cp .env /tmp/x"), action.ModeAsk, false},
		"what git executes":         {p, write("/w/.git/hooks/pre-commit"), action.ModeAsk, false},
		"the same in a command":     {p, command("cp x .git/hooks/pre-commit"), action.ModeAsk, false},
		"the same in a redirection": {p, command("echo x > Makefile"), action.ModeAsk, false},
		"a computed name":           {p, command("cp x $y"), action.ModeAsk, false},
		"buddy's own keys":          {p, command("cat /home/ann/.config/buddy/auth.json"), action.ModeAsk, false},
		"git's history":             {p, command("git push --force"), action.ModeAsk, false},
		"the local network":         {p, action.Action{Kind: action.Network, Host: "10.0.0.1", Local: true}, action.ModeAsk, false},
		"keys for a pane":           {p, action.Action{Kind: action.PaneKeys, Command: "y"}, action.ModeAsk, false},
	} {
		if got := tt.p.Grantable(tt.a, tt.mode); got != tt.want {
			t.Errorf("%s: %v, want %v (%+v)", name, got, tt.want, tt.p.Judge(tt.a, tt.mode))
		}
	}
}
