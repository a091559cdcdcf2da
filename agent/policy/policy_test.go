package policy

import (
	"testing"

	"buddy/agent/action"
)

func TestJudge(t *testing.T) { // DECISIONS 27, F05, F13
	p := Policy{Workspace: "/w"}
	read := func(path string) action.Action { return action.Action{Kind: action.FileRead, Path: path} }
	shell := action.Action{Kind: action.Shell, Command: "ls"}
	tests := []struct {
		name string
		act  action.Action
		mode action.Mode
		want action.Decision
	}{
		{"file of the workspace", read("/w/a/b.go"), action.ModeAsk, action.Allow},
		{"the workspace itself", read("/w"), action.ModeAsk, action.Allow},
		{"outside", read("/etc/passwd"), action.ModeAsk, action.Ask},
		{"a neighbour with the same beginning", read("/w2/a"), action.ModeAsk, action.Ask},
		{"relative path", read("a"), action.ModeAsk, action.Ask},
		{"secret file", read("/w/.env"), action.ModeAsk, action.Ask},
		{"secret file, other case", read("/w/.ENV.local"), action.ModeAsk, action.Ask},
		{"secret folder", read("/w/.ssh/config"), action.ModeAsk, action.Ask},
		{"key", read("/w/tls/server.key"), action.ModeAsk, action.Ask},
		{"secret file when nothing is asked", read("/w/.env"), action.ModeNone, action.Deny},
		{"reading stays free in mode none", read("/w/a"), action.ModeNone, action.Allow},
		{"shell", shell, action.ModeAsk, action.Ask},
		{"shell in mode all", shell, action.ModeAll, action.Allow},
		{"shell in mode none", shell, action.ModeNone, action.Deny},
		{"write", action.Action{Kind: action.FileWrite, Path: "/w/a"}, action.ModeAsk, action.Ask},
		{"generic", action.Action{Kind: action.Generic}, action.ModeAsk, action.Ask},
		{"no kind at all", action.Action{}, action.ModeAsk, action.Ask},
		{"unknown mode asks", shell, "later", action.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := p.Judge(tt.act, tt.mode)
			if got.Decision != tt.want || got.Reason == "" || got.Rule == "" {
				t.Errorf("Judge(%+v, %q) = %+v, want %s with a reason and a rule", tt.act, tt.mode, got, tt.want)
			}
		})
	}
}

func TestNoWorkspaceAsks(t *testing.T) {
	if got := (Policy{}).Judge(action.Action{Kind: action.FileRead, Path: "/x"}, action.ModeAsk); got.Decision != action.Ask {
		t.Errorf("Judge = %+v, want ask", got)
	}
}
