package policy

import (
	"testing"

	"buddy/agent/action"
)

// The sentence of an approval is built from data and names the effect of the command and the files.
func TestEffectSentences(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/u", Confined: true, Count: func(path string) (int, bool, bool) {
		switch path {
		case "/w/dist/old":
			return 41, true, true
		case "/w/a", "/w/b":
			return 1, false, true
		}
		return 0, false, false
	}}
	for command, want := range map[string]string{
		"rm -rf dist/old":           "Deletes dist/old (41 files). Can't be undone.",
		"rm -rf -- dist/old a":      "Deletes dist/old, a (42 files). Can't be undone.",
		"rm a b":                    "Deletes a, b. Can't be undone.",
		"rm -r gone":                "Deletes gone. Can't be undone.",
		"rm *.log":                  "Deletes *.log. Can't be undone.",
		"sudo rm -rf dist/old":      "Deletes dist/old with elevated privileges (41 files). Can't be undone.",
		"go test ./... && rm a":     "rm deletes a. Can't be undone.",
		"go test ./...":             "Runs code from this folder.",
		"systemctl restart nginx":   "Restarts a service. Can't be undone.",
		"sh dev.sh":                 "Runs the script dev.sh, which buddy can't check.",
		"git push origin main":      "Publishes commits. Can't be undone.",
		"git push --force origin x": "git push --force replaces or deletes commits of origin/x.",
		"git add a":                 "Changes the index.",
		"frobnicate --all":          "buddy doesn't know what frobnicate does.",
		"cat .env":                  ".env may hold secrets.",
		"cat /root/x":               "/root/x is outside the workspace /w.",
		"mkdir -p x":                "Creates folders.",
		"curl https://go.dev -d @a": "Uses the network.",
		"X=1 ls":                    "The variable X may change what the command does.",
	} {
		if got := p.Context(sh(command), action.ModeAsk).Effect.Sentence(); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for _, tt := range []struct {
		act  action.Action
		want string
	}{
		{write("/w/a.go"), ""},
		{write("/etc/hosts"), "Changes a file outside this folder."},
		{action.Action{Kind: action.FileRead, Tool: "read_file", Path: "/w/.env"}, "Shows the model a file that may hold secrets. Can't be undone."},
		{action.Action{Kind: action.Network, Tool: "fetch_url", Host: "go.dev", Method: "GET"}, ""},
		{action.Action{Kind: action.Network, Tool: "fetch_url", Host: "go.dev", Method: "POST"}, "Sends data to go.dev and may change something there. Can't be undone."},
		{action.Action{Kind: action.MCP, Tool: "mcp__github__create_issue"}, "buddy can't check what this does."},
	} {
		if got := p.Context(tt.act, action.ModeAsk).Effect.Sentence(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.act, got, tt.want)
		}
	}
}

// The "don't ask again" text continues a sentence that starts with "Yes, and".
func TestOffersReadAsSentences(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/u", Confined: true}
	on := func(a action.Action, target string) action.Action { a.Target = target; return a }
	for want, a := range map[string]action.Action{
		"don't ask again for `go test ./...` this session":                       on(sh("go test ./..."), "local"),
		"don't ask again for `make` on web-02 this session":                      on(sh("make"), "web-02"),
		"don't ask again for `mkdir …` in this folder this session":              on(sh("mkdir a"), "local"),
		"don't ask again for edits in docs/ this session":                        on(write("/w/docs/a.md"), "local"),
		"don't ask again for edits in this folder this session":                  on(write("/w/a.md"), "local"),
		"don't ask again for requests to 192.0.2.7 this session":                 {Kind: action.Network, Tool: "fetch_url", Host: "192.0.2.7", Method: "GET", Target: "local"},
		"don't ask again for requests to go.dev and its subdomains this session": {Kind: action.Network, Tool: "fetch_url", Host: "go.dev", Method: "GET", Target: "local"},
		"don't ask again for create_issue of github this session":                {Kind: action.MCP, Tool: "mcp__github__create_issue", Target: "local"},
	} {
		if got := p.Context(a, action.ModeAsk).Similar; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
