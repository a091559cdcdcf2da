package policy

import (
	"testing"

	"buddy/agent/action"
)

// TestFilesThatReachFurther checks that no mode and no rule allows a change that affects other names of a file, or
// a file that its owner made read-only, and that the approval shows this.
func TestFilesThatReachFurther(t *testing.T) {
	const ask, deny = action.Ask, action.Deny
	everywhere := action.Rule{Decision: action.Allow, Path: "/w/**", Source: action.FromUser}
	plain := write("/w/a.txt")
	linked, readOnly, both, hook, far := plain, plain, plain, write("/w/.git/hooks/pre-commit"), write("/etc/hosts")
	linked.OtherNames, readOnly.ReadOnly, hook.OtherNames, far.OtherNames = 2, true, 1, 1
	both.OtherNames, both.ReadOnly = 1, true
	patch := action.Action{Kind: action.FileWrite, Tool: "apply_patch", Path: "/w/a", Paths: []string{"/w/a", "/w/b"}, FileReach: action.FileReach{OtherNames: 1}}
	gone := action.Action{Kind: action.FileDelete, Tool: "apply_patch", Path: "/w/a", FileReach: action.FileReach{ReadOnly: true}}
	modes := []action.Mode{action.ModeAsk, action.ModeStrict, action.ModeEdits, action.ModeAuto, action.ModePlan, action.ModeAll, action.ModeNone}
	for _, p := range []Policy{
		{Workspace: "/w", Fence: func() error { return nil }},
		{Workspace: "/w", Fence: func() error { return nil }, Rules: []action.Rule{everywhere}},
	} {
		for _, tt := range []struct {
			name           string
			act            action.Action
			reason, effect string
			rule           string
		}{
			{"hard links", linked, "also changes 2 other names", "Also changes 2 other names.", HardLinks},
			{"read-only", readOnly, "changes a read-only file", "Changes a read-only file.", ReadOnlyFile},
			{"both", both, "changes a read-only file and 1 other name", "Changes a read-only file and 1 other name.", HardLinks},
			{"several files", patch, "also changes 1 other name", "Also changes 1 other name.", HardLinks},
			{"deletion", gone, "deletes a read-only file", "Deletes a read-only file.", ReadOnlyFile},
		} {
			for _, mode := range modes {
				want := ask
				if mode == action.ModePlan || mode == action.ModeNone {
					want = deny
				}
				v := p.Judge(tt.act, mode)
				if v.Decision != want || want == ask && (v.Reason != tt.reason || v.Rule != tt.rule) {
					t.Errorf("%s, mode %s: %+v, want %s, %s", tt.name, mode, v, want, tt.reason)
				}
			}
			if c := p.Context(tt.act, action.ModeAll); c.Effect.Sentence() != tt.effect || c.Because != "" {
				t.Errorf("%s: effect %q, because %q", tt.name, c.Effect.Sentence(), c.Because)
			}
			if r, ok := p.Similar(tt.act, action.ModeAsk); ok || p.Grantable(tt.act, action.ModeAsk) {
				t.Errorf("%s: a rule is offered, or a hook may approve it: %+v", tt.name, r)
			}
		}
	}
	p := Policy{Workspace: "/w"}
	if v := p.Judge(plain, action.ModeEdits); v.Decision != action.Allow { // otherwise this test proves nothing
		t.Errorf("a plain file: %+v", v)
	}
	if v := p.Judge(hook, action.ModeAsk); v.Decision != ask || v.Rule != executedRule {
		t.Errorf("a hook of git: %+v", v)
	}
	if v := p.Judge(far, action.ModeAll); v.Decision != deny {
		t.Errorf("a file of the system: %+v", v)
	}
}
