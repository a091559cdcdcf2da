package agent

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
)

// New rules replace those of the configuration and keep those of the session. They can deny open requests but never
// allow them.
func TestSetRules(t *testing.T) {
	rule := func(d action.Decision, words string) action.Rule {
		return action.Rule{Decision: d, Prefix: strings.Fields(words), Source: action.FromUser}
	}
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { shellOptions(o); o.Policy.Rules = []action.Rule{rule(action.Allow, "make all")} },
			says("", "c1 do make all"), says("", "c2 do mkdir a"), says("ok"),
			says("", "c3 do make all"), says("ok"),
			says("", "c4 do mkdir b", "c5 do make new"), says("ok"))
		s.do(event.Submit{Text: "one"})
		asked, n := find[event.ApprovalAsked](s)
		if n != 1 || asked.Action.Command != "mkdir a" {
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

// A removed rule no longer applies, and its calls need approval again.
func TestRemoveRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		user := action.Rule{Decision: action.Allow, Prefix: []string{"make", "all"}, Source: action.FromUser}
		s := start(t, func(o *Options) { shellOptions(o); o.Policy.Rules = []action.Rule{user} },
			says("", "c1 do mkdir a"), says("ok"), says("", "c2 do mkdir b"), says("ok"), says("", "c3 do make all"), says("ok"))
		s.do(event.Submit{Text: "one"})
		asked, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Similar})
		rules := s.Rules()
		if len(rules) != 2 || rules[1].Source != action.FromSession {
			t.Fatalf("rules %v", rules)
		}
		for i, r := range []action.Rule{rules[1], user} {
			s.do(event.RemoveRule{Rule: r})
			if e, n := find[event.RuleRemoved](s); n != i+1 || e.Scope != []string{"session", "settings"}[i] {
				t.Errorf("%d rules removed, the last %+v", n, e)
			}
			s.do(event.RemoveRule{Rule: r})
			if e, _ := find[event.Error](s); !strings.Contains(e.Text, "no longer exists") {
				t.Errorf("removed twice: %+v", e)
			}
			s.do(event.Submit{Text: "again"})
			asked, n := find[event.ApprovalAsked](s)
			if n != i+2 {
				t.Fatalf("%d approvals after %v was removed", n, r)
			}
			s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Deny})
		}
		s.stop()
	})
}
