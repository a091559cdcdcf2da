package agent

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
)

// New rules replace those of the configuration and keep those of the session. They deny
// what is open but never allow it.
func TestSetRules(t *testing.T) {
	rule := func(d action.Decision, words string) action.Rule {
		return action.Rule{Decision: d, Prefix: strings.Fields(words), Source: action.FromUser}
	}
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { shellOptions(o); o.Policy.Rules = []action.Rule{rule(action.Allow, "make all")} },
			says("", "c1 do make all"), says("", "c2 do go test ./a"), says("ok"),
			says("", "c3 do make all"), says("ok"),
			says("", "c4 do go test ./b", "c5 do make new"), says("ok"))
		s.do(event.Submit{Text: "one"})
		asked, n := find[event.ApprovalAsked](s)
		if n != 1 || asked.Action.Command != "go test ./a" {
			t.Fatalf("%d approvals, the last %+v", n, asked.Action)
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Similar})

		s.SetRules([]action.Rule{rule(action.Allow, "make new")})
		s.do(event.Submit{Text: "two"})
		asked, n = find[event.ApprovalAsked](s)
		if n != 2 || asked.Action.Command != "make all" {
			t.Fatalf("the old rule still allows: %d approvals, the last %+v", n, asked.Action)
		}
		s.SetRules([]action.Rule{rule(action.Allow, "make")})
		s.do()
		if _, n := find[event.ApprovalAnswered](s); n != 1 {
			t.Error("a new rule allowed what was asked")
		}
		s.SetRules([]action.Rule{rule(action.Deny, "make all"), rule(action.Allow, "make new")})
		s.do()
		if a, n := find[event.ApprovalAnswered](s); n != 2 || a.Decision != event.Deny || a.By != "policy" {
			t.Errorf("%d answers, the last %+v", n, a)
		}
		s.do(event.Submit{Text: "three"})
		if asked, n := find[event.ApprovalAsked](s); n != 2 {
			t.Errorf("the session's rule is gone: asked about %+v", asked.Action)
		}
		s.stop()
	})
}
