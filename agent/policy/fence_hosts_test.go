package policy

import (
	"testing"

	"buddy/agent/action"
)

// connects returns the action for hosts that a command in the sandbox wants to reach.
func connects(hosts ...string) action.Action {
	a := at(action.Action{Kind: action.Connect, Command: "npm ci"}).To(hosts[0])
	a.Hosts = hosts
	return a
}

func TestHostsOfTheFence(t *testing.T) {
	rule := func(d action.Decision, tool, host string, shape action.Shape, from action.Source) Policy {
		return fencedPolicy(action.Rule{Decision: d, Tool: tool, Host: host, Shape: shape, Source: from})
	}
	guarded := fencedPolicy(action.Rule{Decision: action.Allow, Tool: "run_shell", Host: "a.com", Shape: action.Exactly, Source: action.FromSession})
	guarded.guarded = true
	session := rule(action.Allow, "run_shell", "a.com", action.Exactly, action.FromSession)
	for name, tt := range map[string]struct {
		p     Policy
		act   action.Action
		want  action.Decision
		offer string
	}{
		"a host":                               {fencedPolicy(), connects("a.com:443"), action.Ask, "don't ask again for a.com this session"},
		"several":                              {fencedPolicy(), connects("a.com:443", "b.com:80"), action.Ask, "don't ask again for these 2 hosts this session"},
		"allowed for the session":              {session, connects("a.com:443"), action.Allow, ""},
		"its other port":                       {session, connects("a.com:80"), action.Allow, ""},
		"a host below it":                      {session, connects("x.a.com:443"), action.Ask, "don't ask again for x.a.com this session"},
		"one of two is allowed":                {session, connects("a.com:443", "b.com:443"), action.Ask, ""},
		"denied":                               {rule(action.Deny, "", "a.com", "", action.FromUser), connects("a.com:443"), action.Deny, ""},
		"denied by the project":                {rule(action.Deny, "", "a.com", "", action.FromProject), connects("x.a.com:443"), action.Deny, ""},
		"denied for pages":                     {rule(action.Deny, "fetch_url", "a.com", "", action.FromUser), connects("a.com:443"), action.Deny, ""},
		"one of two is denied":                 {rule(action.Deny, "", "b.com", "", action.FromUser), connects("a.com:443", "b.com:443"), action.Deny, ""},
		"a rule asks":                          {rule(action.Ask, "", "a.com", "", action.FromUser), connects("a.com:443"), action.Ask, ""},
		"allowed for pages by the settings":    {rule(action.Allow, "", "a.com", "", action.FromUser), connects("a.com:443"), action.Ask, "don't ask again for a.com this session"},
		"allowed for commands by the settings": {rule(action.Allow, "run_shell", "a.com", "", action.FromUser), connects("a.com:443"), action.Ask, "don't ask again for a.com this session"},
		"allowed for pages by the session":     {rule(action.Allow, "fetch_url", "a.com", "", action.FromSession), connects("a.com:443"), action.Ask, "don't ask again for a.com this session"},
		"a tool without hosts":                 {fencedPolicy(action.Rule{Decision: action.Allow, Tool: "run_shell", Source: action.FromSession}), connects("a.com:443"), action.Ask, "don't ask again for a.com this session"},
		"production":                           {guarded, connects("a.com:443"), action.Ask, ""},
	} {
		if v := tt.p.Judge(tt.act, action.ModeAuto); v.Decision != tt.want {
			t.Errorf("%s: %s (%s), want %s", name, v.Decision, v.Reason, tt.want)
		}
		if got := tt.p.Context(tt.act, action.ModeAuto).Similar; got != tt.offer && tt.want == action.Ask {
			t.Errorf("%s: offers %q, want %q", name, got, tt.offer)
		}
	}
	for mode, want := range map[action.Mode]action.Decision{action.ModeNone: action.Deny, action.ModePlan: action.Deny, action.ModeStrict: action.Ask} {
		if v := fencedPolicy().Judge(connects("a.com:443"), mode); v.Decision != want {
			t.Errorf("mode %s: %s, want %s", mode, v.Decision, want)
		}
	}
	if fencedPolicy().Grantable(connects("a.com:443"), action.ModeAuto) {
		t.Error("a hook may allow a host")
	}
	with := session // rules of the session for commands in the sandbox allow nothing else
	for _, act := range []action.Action{{Kind: action.Network, Tool: "fetch_url", Host: "a.com", URL: "https://a.com/", Method: "GET"}, outside("curl https://a.com/")} {
		if v := with.Judge(act, action.ModeAuto); v.Decision != action.Ask {
			t.Errorf("%s %s: %s", act.Kind, act.Command, v.Decision)
		}
	}
}
