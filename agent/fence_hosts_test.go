package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// reachingTool is a shell whose commands are names of hosts: those joined by commas are requested together, words one
// after another.
type reachingTool struct{}

func (reachingTool) Definition() model.ToolDef { return model.ToolDef{Name: "run_shell"} }

func (reachingTool) Plan(c tools.Call) (action.Action, error) {
	var args struct{ Command string }
	err := json.Unmarshal([]byte(c.Arguments), &args)
	return action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: args.Command, Cwd: "/w"}, err
}

func (reachingTool) Run(ctx context.Context, c tools.Call) tools.Result {
	var got []string
	for _, together := range strings.Fields(c.Planned.Command) {
		all := strings.Split(together, ",")
		said := make([]string, len(all))
		var wait sync.WaitGroup
		for i, host := range all {
			wait.Go(func() { said[i] = fmt.Sprint(host, "=", c.Reach(ctx, host, "443")) })
		}
		wait.Wait()
		got = append(got, said...)
	}
	return tools.Result{Content: strings.Join(got, " ")}
}

// reaching starts a session in auto mode whose model runs commands that connect to hosts.
func reaching(t *testing.T, steps ...step) *session {
	t.Helper()
	return start(t, func(o *Options) {
		o.Tools = tools.NewRegistry(reachingTool{})
		o.Policy.Workspace, o.Policy.Fence, o.Policy.Confined = "/w", func() error { return nil }, true
		o.Policy.Rules = []action.Rule{{Decision: action.Deny, Host: "denied.com", Source: action.FromUser}}
		o.Mode, o.Target = action.ModeAuto, "local"
	}, steps...)
}

func reaches(id, command string) string { return id + ` run_shell {"command":"` + command + `"}` }

// asked waits for dialog number n and returns it.
func asked(t *testing.T, s *session, n int) event.ApprovalAsked {
	t.Helper()
	time.Sleep(time.Second)
	s.do()
	a, got := find[event.ApprovalAsked](s)
	if got != n {
		t.Fatalf("%d dialogs, want %d; the last %+v", got, n, a)
	}
	return a
}

// TestHostsThatWaitAreInOneDialog: waiting hosts share a dialog. An approval is for the command, or for these hosts
// in the session; denied hosts are not asked about.
func TestHostsThatWaitAreInOneDialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reaching(t, says("", reaches("c1", "a.com,b.com,denied.com a.com")), says("", reaches("c2", "a.com,b.com,c.com")), says("ok"))
		defer s.stop()
		s.do(event.Submit{Text: "go"})
		a := asked(t, s, 1)
		slices.Sort(a.Action.Hosts)
		if a.Action.Kind != action.Connect || strings.Join(a.Action.Hosts, " ") != "a.com:443 b.com:443" || a.Action.Command == "" || a.CallID != "" {
			t.Fatalf("asked about %+v", a)
		}
		s.do(event.AnswerApproval{ID: a.ID, Decision: event.Similar})
		if c := asked(t, s, 2); strings.Join(c.Action.Hosts, " ") != "c.com:443" {
			t.Fatalf("asked about %q after yes for the session", c.Action.Hosts)
		} else {
			s.do(event.AnswerApproval{ID: c.ID, Decision: event.Deny, Reason: "use the mirror"})
		}
		got := s.results()
		if len(got) != 2 || !strings.HasPrefix(got[0], "a.com=<nil> b.com=<nil> denied.com=denied by the policy a.com=<nil>") || !strings.Contains(got[0], "[the sandbox refused a connection to denied.com:443: denied by the policy: a rule denies it") {
			t.Errorf("the model reads %q", got)
		}
		if want := "a.com=<nil> b.com=<nil> c.com=the user said no\n[the sandbox refused a connection to c.com:443: the user said no: use the mirror]"; got[1] != want {
			t.Errorf("the model reads %q, want %q", got[1], want)
		}
		rules, _ := find[event.RuleAdded](s)
		if r := rules.Rule; r.Shape != action.Exactly || r.Source != action.FromSession || r.Tool != "run_shell" {
			t.Errorf("added %+v", r)
		}
	})
}

// TestThreeDialogsAboutHosts: after three dialogs hosts are refused until the next prompt.
func TestThreeDialogsAboutHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reaching(t, says("", reaches("c1", "a.com b.com c.com d.com")), says("ok"), says("", reaches("c2", "e.com")), says("ok"))
		defer s.stop()
		s.do(event.Submit{Text: "go"})
		for n := range 3 {
			a := asked(t, s, n+1)
			s.do(event.AnswerApproval{ID: a.ID, Decision: event.Once})
		}
		time.Sleep(time.Second)
		s.do()
		got := s.results()
		if len(got) != 1 || !strings.Contains(got[0], "c.com=<nil> d.com=the user was asked about hosts 3 times since the prompt, which is the limit\n[the sandbox refused a connection to d.com:443") {
			t.Errorf("the model reads %q", got)
		}
		s.do(event.Submit{Text: "again"})
		a := asked(t, s, 4)
		s.do(event.AnswerApproval{ID: a.ID, Decision: event.Once})
	})
}

// TestHostsNobodyIsAskedAbout: no dialog opens in other modes, and hosts are refused when the task is cancelled or
// nobody answers.
func TestHostsNobodyIsAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reaching(t, says("", reaches("c1", "a.com")), says("ok"))
		s.do(event.SetMode{Mode: action.ModeAll}, event.Submit{Text: "go"})
		if got := s.reads(); got != "a.com="+tools.ErrNobody.Error() {
			t.Errorf("in mode all the model reads %q", got)
		}
		s.stop()

		s = reaching(t, says("", reaches("c1", "a.com")), says("ok"))
		s.do(event.Submit{Text: "go"})
		asked(t, s, 1)
		s.do(event.Cancel{})
		if a, n := find[event.ApprovalAnswered](s); n != 1 || a.Decision != event.Deny || a.By != "cancel" {
			t.Errorf("after an interruption %d answers, the last %+v", n, a)
		}
		s.stop()

		s = reaching(t, says("", reaches("c1", "a.com")), says("ok"))
		defer s.stop()
		s.do(event.Submit{Text: "go"})
		asked(t, s, 1)
		time.Sleep(5 * time.Minute)
		s.do()
		if got := s.reads(); !strings.HasPrefix(got, "a.com=nobody answered within 5m0s") {
			t.Errorf("nobody answered, the model reads %q", got)
		}
	})
}

// TestHostsAfterACrash: neither the dialog nor the command is repeated after a crash.
func TestHostsAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reaching(t, says("", reaches("c1", "a.com")), says("ok"))
		s.do(event.Submit{Text: "go"})
		asked(t, s, 1)
		s.mem.mu.Lock()
		stored := slices.Clone(s.mem.events)
		s.mem.mu.Unlock()
		s.stop()
		s = start(t, func(o *Options) {
			o.Tools, o.Replay, o.Mode, o.Target = tools.NewRegistry(reachingTool{}), stored, action.ModeAuto, "local"
		}, says("ok"))
		defer s.stop()
		if _, n := find[event.ApprovalAsked](s); n != 0 {
			t.Errorf("asked %d times", n)
		}
		if r, n := find[event.ToolResult](s); n != 1 || r.CallID != "c1" || strings.Contains(r.Result, "a.com=") {
			t.Errorf("%d results, the last %+v", n, r)
		}
	})
}
