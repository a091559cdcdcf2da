package policy

import (
	"testing"

	"buddy/agent/action"
)

func TestThePolicySaysWhatTheModelNeedNot(t *testing.T) {
	p := Policy{Workspace: "/w", Confined: true}
	for _, tt := range []struct {
		act              action.Action
		mutates, privesc bool
		risk             action.Risk
	}{
		{action.Action{Kind: action.Shell, Command: "ls", Cwd: "/w"}, false, false, action.Low},
		{action.Action{Kind: action.Shell, Command: "touch x"}, true, false, action.Medium},
		{action.Action{Kind: action.Shell, Command: "sudo ls"}, false, true, action.High},
		{action.Action{Kind: action.Shell, Command: "doas rm x"}, false, true, action.High},
		{action.Action{Kind: action.Shell, Command: "rm x"}, true, false, action.High},
		{action.Action{Kind: action.Shell, Command: "ls", Mutation: true, Privesc: true, Risk: action.High}, true, true, action.High}, // the model claims more
		{action.Action{Kind: action.FileWrite, Path: "/w/a"}, true, false, action.Medium},
		{action.Action{Kind: action.FileRead, Path: "/w/a"}, false, false, action.Low},
	} {
		c := p.Context(tt.act, action.ModeAsk)
		if c.Mutation != tt.mutates || c.Privesc != tt.privesc || c.Risk != tt.risk {
			t.Errorf("%s %s: mutation %v, privesc %v, risk %s", tt.act.Kind, tt.act.Command, c.Mutation, c.Privesc, c.Risk)
		}
	}
}
