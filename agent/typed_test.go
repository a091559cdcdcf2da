package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// pretendShell is run_shell without a shell.
type pretendShell struct{ fakeTool }

func (*pretendShell) Definition() model.ToolDef { return model.ToolDef{Name: "run_shell"} }

func (*pretendShell) Plan(c tools.Call) (action.Action, error) {
	var args struct {
		Command string `json:"command"`
	}
	err := json.Unmarshal([]byte(c.Arguments), &args)
	return action.Action{Kind: action.Shell, Tool: "run_shell", Command: args.Command}, err
}

func (*pretendShell) Run(ctx context.Context, c tools.Call) tools.Result {
	if strings.Contains(c.Arguments, "hang") {
		<-ctx.Done()
		return tools.Result{Content: "operation cancelled by user", IsError: true}
	}
	return tools.Result{Content: `{"exit_code":0,"stdout":"a.go secret-1234 b.go"}`}
}

func TestTypedCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shellOptions := func(o *Options) {
			withWindow(100_000)(o)
			o.Tools, o.Mode = tools.NewRegistry(&pretendShell{}), action.ModeNone
		}
		s := start(t, shellOptions, says("two files"))
		s.do(event.Submit{Text: "!ls *.go", Shell: true})
		s.wantOrder("prompt.submitted", "prompt.submitted task.queued task.started tool.requested tool.started tool.result reminder.attached task.finished exchange.finished")
		if len(s.model.requests) != 0 {
			t.Error("the model was asked")
		}
		s.do(event.Submit{Text: "how many?"})
		var said []string
		for _, m := range s.model.requests[0].Messages {
			if m.Role == model.User {
				said = append(said, m.Content)
			}
		}
		if len(said) != 3 || said[0] != "!ls *.go" || !strings.Contains(said[1], "a.go") || said[2] != "how many?" {
			t.Errorf("the model read %q", said)
		}
		again := start(t, func(o *Options) { shellOptions(o); o.Replay = s.mem.events }, says("still two"))
		again.do(event.Submit{Text: "sure?"})
		if got := again.model.requests[0].Messages; len(got) < 5 || got[1].Content != said[0] || got[2].Content != said[1] {
			t.Errorf("after resuming the model read %+v", got)
		}
		again.do(event.Submit{Text: "!", Shell: true})
		if e, n := find[event.Error](again); n != 1 || !strings.Contains(e.Text, "no command") {
			t.Errorf("%+v", e)
		}
		again.do(event.Submit{Text: "!hang", Shell: true}, event.Submit{Text: "!ls", Shell: true})
		if e, n := find[event.Error](again); n != 2 || !strings.Contains(e.Text, "is running") {
			t.Errorf("%+v", e)
		}
		again.do(event.Cancel{})
		if e, _ := find[event.TaskFinished](again); e.Outcome != event.Cancelled {
			t.Errorf("ended %+v", e)
		}
		s.stop()
		again.stop()
	})
}

// A person's command runs although a rule denies it to the agent, with a warning.
func TestTypedCommandAgainstARule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			o.Tools = tools.NewRegistry(&pretendShell{})
			o.Policy.Rules = []action.Rule{{Decision: action.Deny, Tool: "run_shell", Prefix: []string{"make", "deploy"}}}
		})
		s.do(event.Submit{Text: "!make deploy", Shell: true})
		if w, n := find[event.Warning](s); n != 1 || !strings.Contains(w.Text, "because you typed it") {
			t.Errorf("warned %d times: %+v", n, w)
		}
		if r, n := find[event.ToolResult](s); n != 1 || r.IsError {
			t.Errorf("%d results, %+v", n, r)
		}
		s.do(event.Submit{Text: "!make test", Shell: true})
		if _, n := find[event.Warning](s); n != 1 {
			t.Errorf("warned %d times", n)
		}
		s.SetRules([]action.Rule{{Decision: action.Deny, Tool: "run_shell", Prefix: []string{"make", "test"}}})
		s.do(event.Submit{Text: "!make deploy", Shell: true})
		s.do(event.Submit{Text: "!make test", Shell: true})
		if w, n := find[event.Warning](s); n != 2 || !strings.Contains(w.Text, "make test") {
			t.Errorf("with other rules warned %d times: %+v", n, w)
		}
		s.stop()
	})
}
