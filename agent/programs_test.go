package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/hooks"
	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/agent/reminder"
	"buddy/agent/settings"
	"buddy/agent/turn"
	"buddy/tools"
)

// hookSpec is one hook of a test.
type hookSpec struct {
	event   hooks.Event
	matcher string
	command string
	source  hooks.Source // "": the person's
}

// printed returns a command that prints a hook's JSON.
func printed(text string) string { return "cat <<'END'\n" + text + "\nEND" }

// hookSession is a session with a scripted model, a tool that records its calls, and hooks that run in a folder.
// Nobody can answer unless it is started.
type hookSession struct {
	*Runtime
	model *script
	tool  *fakeTool
	dir   string

	mu     sync.Mutex
	events []event.Envelope
}

func newHookSession(t *testing.T, o Options, all []hookSpec, steps ...step) *hookSession {
	t.Helper()
	s := &hookSession{model: &script{steps: steps}, tool: &fakeTool{}, dir: t.TempDir()}
	var handlers []hooks.Handler
	for _, h := range all {
		if h.source == "" {
			h.source = hooks.Person
		}
		set := hooks.Parse([]byte(fmt.Sprintf(`{"hooks": {%q: [{"matcher": %q, "hooks": [{"type": "command", "command": %q}]}]}}`, h.event, h.matcher, h.command)),
			hooks.Origin{Source: h.source, File: "hooks.json"})
		if len(set.Problems) > 0 {
			t.Fatal(set.Problems)
		}
		handlers = append(handlers, set.Handlers...)
	}
	o.Model = s.model
	if o.Tools == nil {
		o.Tools = tools.NewRegistry(s.tool)
	}
	if o.Policy.Workspace == "" {
		o.Policy.Workspace = "/w"
	}
	o.Programs = hooks.New(hooks.Options{Handlers: handlers, Session: "s1", Cwd: s.dir, Project: s.dir, Policy: o.Policy})
	s.Runtime = New(o)
	s.Observe(func(env event.Envelope) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, env)
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// all returns the payloads of one type.
func all[T event.Event](s *hookSession) (found []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.events {
		if p, ok := env.Payload.(T); ok {
			found = append(found, p)
		}
	}
	return found
}

// results returns the results that the model got.
func (s *hookSession) results() (texts []string) {
	for _, r := range all[event.ToolResult](s) {
		texts = append(texts, r.Result)
	}
	return texts
}

// file returns what hooks wrote to a file in their folder.
func (s *hookSession) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(text)
}

// lastRequest returns the whole last request as text.
func (s *hookSession) lastRequest() string {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	var b strings.Builder
	for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
		b.WriteString(string(m.Role) + ": " + m.Content + "\n")
	}
	return b.String()
}

func runText(t *testing.T, s *hookSession, text string) (Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s.RunText(ctx, text)
}

const (
	shellDo = `c1 do {"kind":"shell","do":"echo"}`
	readDo  = `c1 do {"kind":"file_read","do":"echo"}`
)

var (
	denies   = printed(`{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"not today"}}`)
	allows   = printed(`{"hookSpecificOutput":{"permissionDecision":"allow"}}`)
	hookAsks = printed(`{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look first"}}`)
)

// A hook that refuses stops every kind of call: one that waits for the end of the answer, one that could start while
// the answer streams, and one inside use_tool.
func TestGuardKeepsAnyCallFromStarting(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"command":           shellDo,
		"reading":           readDo,
		"streamed parallel": `c1 do {"kind":"file_read","do":"echo","par":true}`,
		"inside use_tool":   `c1 use_tool {"name":"do","args":{"kind":"file_read","do":"echo"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, guarded := range []bool{true, false} {
				var specs []hookSpec
				if guarded {
					specs = []hookSpec{{hooks.PreToolUse, "^(do|Bash)$", "echo not today >&2; exit 2", ""}}
				} else {
					specs = []hookSpec{{hooks.PreToolUse, "Edit", "exit 2", ""}}
				}
				tool := &fakeTool{}
				o := Options{Mode: action.ModeAll}
				if name == "inside use_tool" {
					d := tools.NewDeferred(tool)
					o.Tools = tools.NewRegistry(tools.NewToolSearch(d), tools.NewUseTool(d))
				} else {
					o.Tools = tools.NewRegistry(tool)
				}
				s := newHookSession(t, o, specs, says("", call), says("fine"))
				if _, err := runText(t, s, "go"); err != nil {
					t.Fatal(err)
				}
				got := s.results()
				if ran := len(tool.ran) > 0; ran == guarded {
					t.Errorf("guarded %v: ran %v, the model read %q", guarded, ran, got)
				}
				if guarded && (len(got) != 1 || !strings.Contains(got[0], "Denied by a hook") || !strings.Contains(got[0], "not today")) {
					t.Errorf("the model read %q", got)
				}
			}
		})
	}
}

// Parallel calls wait for their hooks, and then still run in parallel.
func TestParallelCallsWaitForTheirHooks(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{}, []hookSpec{{hooks.PreToolUse, "", "sleep 0.2; touch asked", ""}},
		says("", `c1 do {"kind":"file_read","do":"echo","par":true}`, `c2 do {"kind":"file_read","do":"echo","par":true,"seconds":1}`), says("fine"))
	s.Observe(func(env event.Envelope) {
		if _, ok := env.Payload.(event.ToolStarted); ok && s.file("asked") == "" {
			if _, err := os.Stat(filepath.Join(s.dir, "asked")); err != nil {
				t.Error("a call started before its hook was done")
			}
		}
	})
	if _, err := runText(t, s, "go"); err != nil || len(s.tool.ran) != 2 {
		t.Errorf("%v, ran %q", err, s.tool.ran)
	}
}

// The hooks of parallel calls run at the same time: here each waits until all have started. Each answer applies to
// its own call, and results stay in call order.
func TestHooksOfCallsThatOverlapRunSideBySide(t *testing.T) {
	t.Parallel()
	meet := `id=$(sed 's/.*"tool_use_id":"\([^"]*\)".*/\1/'); touch begun-$id
		while [ "$(ls -d begun-* | wc -l)" -lt 3 ]; do sleep 0.01; done
		case $id in *2*) echo "not the second" >&2; touch second; exit 2;; esac
		while ! [ -e second ]; do sleep 0.01; done`
	s := newHookSession(t, Options{}, []hookSpec{{hooks.PreToolUse, "", meet, ""}, {hooks.PreToolUse, "", allows, ""}},
		says("", `c1 do {"kind":"file_read","do":"a","par":true}`, `c2 do {"kind":"file_read","do":"b","par":true}`, `c3 do {"kind":"file_read","do":"c","par":true}`), says("fine"))
	if _, err := runText(t, s, "go"); err != nil {
		t.Fatal(err)
	}
	if len(s.tool.ran) != 2 {
		t.Errorf("ran %q", s.tool.ran)
	}
	sent := s.lastRequest()
	first, second, third := strings.Index(sent, "tool: done c1"), strings.Index(sent, "not the second"), strings.Index(sent, "tool: done c3")
	if first < 0 || second < first || third < second {
		t.Errorf("sent\n%s", sent)
	}
}

// A hook about a call that runs alone sees the effects of the calls before it.
func TestHookOfACallThatRunsAloneComesAfterTheCallsBefore(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{Mode: action.ModeAll}, []hookSpec{{hooks.PreToolUse, "", "true", ""}},
		says("", `c1 do {"kind":"file_read","do":"a","par":true}`, `c2 do {"kind":"shell","do":"b"}`, `c3 do {"kind":"shell","do":"c"}`, `c4 do {"kind":"file_read","do":"d","par":true}`), says("fine"))
	if _, err := runText(t, s, "go"); err != nil {
		t.Fatal(err)
	}
	var order []string
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.events {
		switch p := env.Payload.(type) {
		case event.HookRan:
			order = append(order, "hook")
		case event.ToolResult:
			order = append(order, p.CallID)
		}
	}
	if got := strings.Join(order, " "); got != "hook c1 hook c2 hook c3 hook c4" {
		t.Errorf("in the order %s", got)
	}
}

// Verdicts that hooks may produce: all hooks can make a verdict stricter, but only a hook of the person can allow a
// call, and only one that needs approval because it is unknown.
func TestHooksTightenAndRarelyAllow(t *testing.T) {
	t.Parallel()
	deny := action.Rule{Decision: action.Deny, Tool: "do", Source: action.FromUser}
	ask := action.Rule{Decision: action.Ask, Tool: "do", Source: action.FromUser}
	guarded := policy.Policy{Workspace: "/w", At: func(string) policy.Target { return policy.Target{Workspace: "/w", Guarded: true} }}
	for name, tt := range map[string]struct {
		command string
		source  hooks.Source
		call    string
		o       Options
		ran     bool
	}{
		"nobody is there, so what is asked about is denied": {"true", "", shellDo, Options{}, false},
		"the person's hook answers instead":                 {allows, "", shellDo, Options{}, true},
		"a project's does not":                              {allows, hooks.Project, shellDo, Options{}, false},
		"against a rule that denies":                        {allows, "", shellDo, Options{Policy: policy.Policy{Workspace: "/w", Rules: []action.Rule{deny}}}, false},
		"against a rule that asks":                          {allows, "", shellDo, Options{Policy: policy.Policy{Workspace: "/w", Rules: []action.Rule{ask}}}, false},
		"in mode plan":                                      {allows, "", shellDo, Options{Mode: action.ModePlan}, false},
		"in mode strict":                                    {allows, "", readDo, Options{Mode: action.ModeStrict}, false},
		"on a production target":                            {allows, "", readDo, Options{Policy: guarded}, true}, // the tool names no target: see below
		"in mode all it denies":                             {denies, "", shellDo, Options{Mode: action.ModeAll}, false},
		"in mode all a project's denies":                    {denies, hooks.Project, shellDo, Options{Mode: action.ModeAll}, false},
		"in mode all it asks":                               {hookAsks, hooks.Project, readDo, Options{Mode: action.ModeAll}, false},
		"in mode all its failure asks":                      {"./none.sh", "", readDo, Options{Mode: action.ModeAll}, false},
		"reading asks nobody":                               {"true", "", readDo, Options{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHookSession(t, tt.o, []hookSpec{{hooks.PreToolUse, "", tt.command, tt.source}}, says("", tt.call), says("fine"))
			if _, err := runText(t, s, "go"); err != nil {
				t.Fatal(err)
			}
			if ran := len(s.tool.ran) > 0; ran != tt.ran {
				t.Errorf("ran %v, want %v; the model read %q", ran, tt.ran, s.results())
			}
		})
	}
}

func TestFailedGuardIsNamedWhereNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{Mode: action.ModeAll}, []hookSpec{{hooks.PreToolUse, "", "./guards/none.sh", ""}}, says("", readDo), says("fine"))
	if _, err := runText(t, s, "go"); err != nil {
		t.Fatal(err)
	}
	if got := s.results(); len(got) != 1 || !strings.Contains(got[0], "none.sh") || !strings.Contains(got[0], "nobody was there") || !strings.Contains(got[0], "127") {
		t.Errorf("the model read %q", got)
	}
}

// answered runs a session in which a person answers the approvals.
func answered(t *testing.T, s *hookSession, answer func(event.ApprovalAsked) event.AnswerApproval, prompts ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events := s.Subscribe(ctx)
	s.Start()
	for _, p := range prompts {
		s.Send(event.Submit{Text: p})
		for env := range events {
			if asked, ok := env.Payload.(event.ApprovalAsked); ok {
				s.Send(answer(asked))
			}
			if _, over := env.Payload.(event.TaskFinished); over {
				break
			}
		}
	}
	if ctx.Err() != nil {
		t.Fatal("it took too long")
	}
}

func TestPersonLetsTheFailuresOfAGuardPass(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{Mode: action.ModeAll}, []hookSpec{{hooks.PreToolUse, "", "./none.sh", ""}}, says("", readDo), says("fine"), says("", `c2 do {"kind":"file_read","do":"echo"}`), says("fine"))
	var asked []event.ApprovalAsked
	answered(t, s, func(a event.ApprovalAsked) event.AnswerApproval {
		asked = append(asked, a)
		return event.AnswerApproval{ID: a.ID, Decision: event.Similar}
	}, "go", "again")
	if len(asked) != 1 || !strings.Contains(asked[0].Verdict.Reason, "none.sh") || !strings.Contains(asked[0].Context.Similar, "failures of the hook none.sh") {
		t.Errorf("asked %+v", asked)
	}
	if len(s.tool.ran) != 2 {
		t.Errorf("ran %q", s.tool.ran)
	}
	if rules := s.Rules(); len(rules) != 0 {
		t.Errorf("rules %v", rules)
	}
}

func TestHookThatAsksOffersNoRule(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{Mode: action.ModeAll}, []hookSpec{{hooks.PreToolUse, "", hookAsks, ""}}, says("", shellDo), says("fine"))
	var asked event.ApprovalAsked
	answered(t, s, func(a event.ApprovalAsked) event.AnswerApproval {
		asked = a
		return event.AnswerApproval{ID: a.ID, Decision: event.Once}
	}, "go")
	if asked.Context.Similar != "" || asked.Context.AskedBy != "cat" || !strings.Contains(asked.Verdict.Reason, "look first") || len(s.tool.ran) != 1 {
		t.Errorf("asked %+v, ran %q", asked, s.tool.ran)
	}
}

// A call changed by a hook is judged like one of the model, and shown to the person.
func TestChangedCallIsJudgedAnew(t *testing.T) {
	t.Parallel()
	change := printed(`{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"kind":"shell","do":"deploy"}}}`)
	denied := policy.Policy{Workspace: "/w", Rules: []action.Rule{{Decision: action.Deny, Prefix: []string{"./deploy"}, Source: action.FromUser}}}
	s := newHookSession(t, Options{Policy: denied, Mode: action.ModeAll}, []hookSpec{{hooks.PreToolUse, "", change, ""}}, says("", readDo), says("fine"))
	if _, err := runText(t, s, "go"); err != nil || len(s.tool.ran) != 0 {
		t.Errorf("%v, ran %q", err, s.tool.ran)
	}
	if got := s.results(); !strings.Contains(got[0], "Denied by the policy") {
		t.Errorf("the model read %q", got)
	}

	s = newHookSession(t, Options{}, []hookSpec{{hooks.PreToolUse, "", printed(`{"hookSpecificOutput":{"updatedInput":{"kind":"shell","do":"deploy"}}}`), hooks.Project}}, says("", readDo), says("fine"))
	var asked event.ApprovalAsked
	answered(t, s, func(a event.ApprovalAsked) event.AnswerApproval {
		asked = a
		return event.AnswerApproval{ID: a.ID, Decision: event.Once}
	}, "go")
	if asked.Action.Command != "./deploy" || !strings.Contains(asked.Context.Changed, "./echo → ./deploy") {
		t.Errorf("asked %+v", asked)
	}
	if got := s.results(); !strings.Contains(got[0], "a hook changed the call") {
		t.Errorf("the model read %q", got)
	}
}

func TestPermissionRequestAnswersInThePersonsPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command string
		source  hooks.Source
		ran     bool
		read    string
	}{
		"allow":           {printed(`{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`), "", true, "done"},
		"a project's":     {printed(`{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`), hooks.Project, false, "nobody was there"},
		"deny":            {printed(`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"ask Ann"}}}`), hooks.Project, false, "ask Ann"},
		"another's words": {printed(`{"hookSpecificOutput":{"permissionDecision":"allow"}}`), "", false, "nobody was there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHookSession(t, Options{}, []hookSpec{{hooks.PermissionRequest, "", tt.command, tt.source}}, says("", shellDo), says("fine"))
			if _, err := runText(t, s, "go"); err != nil {
				t.Fatal(err)
			}
			if got := s.results(); len(s.tool.ran) > 0 != tt.ran || len(got) != 1 || !strings.Contains(got[0], tt.read) {
				t.Errorf("ran %q, the model read %q", s.tool.ran, got)
			}
		})
	}
}

func TestHookAfterAToolTellsAndReplaces(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{}, []hookSpec{
		{hooks.PostToolUse, "do", printed(`{"hookSpecificOutput":{"updatedToolOutput":"short","additionalContext":"gofmt changed it"}}`), ""},
		{hooks.PostToolUse, "do", "echo lint fails >&2; exit 2", hooks.Project},
		{hooks.PostToolUseFailure, "do", "touch failed", ""},
	}, says("", readDo), says("fine"))
	if _, err := runText(t, s, "go"); err != nil {
		t.Fatal(err)
	}
	results := all[event.ToolResult](s)
	if len(results) != 1 || results[0].Result != "short" || results[0].Original != "done c1" {
		t.Errorf("results %+v", results)
	}
	sent := s.lastRequest()
	for _, want := range []string{"tool: short", "The user's hook cat says:\ngofmt changed it", "lint fails"} {
		if strings.Count(sent, want) != 1 {
			t.Errorf("%q is %d times in\n%s", want, strings.Count(sent, want), sent)
		}
	}
	if s.file("failed") != "" || strings.Contains(sent, "done c1") {
		t.Errorf("sent\n%s", sent)
	}
}

func TestFailedToolRunsTheHooksOfFailures(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{}, []hookSpec{{hooks.PostToolUseFailure, "", "cat >failed", ""}, {hooks.PostToolUse, "", "touch fine", ""}}, says("", `c1 do {"kind":"file_read","do":"fail"}`), says("fine"))
	if _, err := runText(t, s, "go"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.file("failed"), "it broke") {
		t.Errorf("told %q", s.file("failed"))
	}
	if _, err := os.Stat(filepath.Join(s.dir, "fine")); err == nil {
		t.Error("the hook of a success ran")
	}
}

func TestHookEndsAnExchangeAfterItsResults(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{}, []hookSpec{{hooks.PostToolUse, "", printed(`{"continue":false,"stopReason":"enough for today"}`), ""}}, says("", readDo), says("next"))
	_, err := runText(t, s, "go")
	stop, ok := errors.AsType[*turn.HookTerminated](err)
	if !ok || !strings.Contains(stop.Reason, "enough for today") {
		t.Errorf("%v", err)
	}
	if got := s.results(); len(got) != 1 || got[0] != "done c1" {
		t.Errorf("results %q", got)
	}
}

// A call that a hook stops is not reported as cancelled by the person: the result and the next request name the hook.
func TestHookEndsAnExchangeBeforeACall(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{}, []hookSpec{{hooks.PreToolUse, "", printed(`{"continue":false,"stopReason":"enough for today"}`), ""}}, says("", readDo), says("next"))
	_, err := runText(t, s, "go")
	stop, ok := errors.AsType[*turn.HookTerminated](err)
	if !ok {
		t.Fatal(err)
	}
	want := "Stopped by a hook, nothing ran: " + stop.Reason
	if got := s.results(); len(got) != 1 || got[0] != want || !strings.Contains(want, "enough for today") {
		t.Errorf("results %q, want %q", got, want)
	}
	if _, err := runText(t, s, "again"); err != nil || !strings.Contains(s.lastRequest(), want) {
		t.Errorf("%v, sent %s", err, s.lastRequest())
	}
}

// The model never sees a prompt that a hook refused, now or after a resume.
func TestRefusedPromptIsNotSent(t *testing.T) {
	t.Parallel()
	refuse := `grep -q hunter2 && { echo "a password is in it" >&2; exit 2; }; exit 0`
	kept := &heldJournal{}
	s := newHookSession(t, Options{Journal: kept}, []hookSpec{{hooks.UserPromptSubmit, "", refuse, ""}}, says("hello"))
	if _, err := runText(t, s, "my password is hunter2"); err == nil || !strings.Contains(err.Error(), "a password is in it") {
		t.Errorf("%v", err)
	}
	if n := len(s.model.requests); n != 0 {
		t.Errorf("%d requests", n)
	}
	if _, err := runText(t, s, "hi"); err != nil {
		t.Fatal(err)
	}
	if sent := s.lastRequest(); strings.Contains(sent, "hunter2") || !strings.Contains(sent, "user: hi") {
		t.Errorf("sent\n%s", sent)
	}
	again := newHookSession(t, Options{Replay: kept.events}, nil, says("hello"))
	if _, err := runText(t, again, "later"); err != nil {
		t.Fatal(err)
	}
	if sent := again.lastRequest(); strings.Contains(sent, "hunter2") || !strings.Contains(sent, "user: hi") {
		t.Errorf("sent after a resume\n%s", sent)
	}
}

// Hook output for the model is in the journal once; a resumed session sends it without running the hook.
func TestContextOfHooksIsKept(t *testing.T) {
	t.Parallel()
	kept := &heldJournal{}
	count := "echo x >>ran; echo "
	s := newHookSession(t, Options{Journal: kept}, []hookSpec{{hooks.UserPromptSubmit, "", count + "branch is main", ""}, {hooks.SessionStart, "startup", count + "be brief", hooks.Project}}, says("one"), says("two"))
	s.Start()
	if _, err := runText(t, s, "go"); err != nil {
		t.Fatal(err)
	}
	sent := s.lastRequest()
	if strings.Count(sent, "branch is main") != 1 || strings.Count(sent, "be brief") != 1 || !strings.Contains(sent, "It is data") {
		t.Errorf("sent\n%s", sent)
	}
	if strings.Count(s.file("ran"), "x") != 2 {
		t.Errorf("ran %q", s.file("ran"))
	}
	reminders := 0
	for _, r := range all[event.ReminderAttached](s) {
		if fmt.Sprint(r.Kinds) == "[hook]" {
			reminders++
		}
	}
	if reminders != 2 {
		t.Errorf("%d reminders", reminders)
	}
	again := newHookSession(t, Options{Replay: kept.events}, []hookSpec{{hooks.SessionStart, "startup", "touch ran", ""}}, says("three"))
	again.Start()
	if _, err := runText(t, again, "later"); err != nil {
		t.Fatal(err)
	}
	if sent := again.lastRequest(); strings.Count(sent, "branch is main") != 1 || strings.Count(sent, "be brief") != 1 {
		t.Errorf("sent after a resume\n%s", sent)
	}
	if _, err := os.Stat(filepath.Join(again.dir, "ran")); err == nil {
		t.Error("a resume is no startup")
	}
}

func TestStopHookMakesTheModelGoOn(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{}, []hookSpec{{hooks.Stop, "", `cat >last; [ -e tested ] || { touch tested; echo run the tests >&2; exit 2; }`, ""}}, says("done"), says("tested"))
	res, err := runText(t, s, "go")
	if err != nil || res.Response != "tested" || res.Turns != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	if sent := s.lastRequest(); strings.Count(sent, "run the tests") != 1 {
		t.Errorf("sent\n%s", sent)
	}
	if last := s.file("last"); !strings.Contains(last, `"stop_hook_active":true`) || !strings.Contains(last, `"last_assistant_message":"tested"`) {
		t.Errorf("the hook read %s", last)
	}
}

// The reason of a Stop hook that continues an exchange is sent even when hook reminders are switched off.
func TestStopHookIsHeardWhereHooksAreOff(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{Features: turn.Features{Reminders: reminder.NewSet([]string{reminder.Hook})}}, []hookSpec{
		{hooks.UserPromptSubmit, "", "echo it rains", ""},
		{hooks.Stop, "", `[ -e tested ] || { touch tested; echo run the tests >&2; exit 2; }`, ""},
	}, says("done"), says("tested"))
	if res, err := runText(t, s, "go"); err != nil || res.Response != "tested" {
		t.Errorf("%+v, %v", res, err)
	}
	if sent := s.lastRequest(); strings.Count(sent, "run the tests") != 1 || strings.Contains(sent, "it rains") {
		t.Errorf("sent\n%s", sent)
	}
}

func TestStopHookThatNeverAgreesIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	var steps []step
	for range 12 {
		steps = append(steps, says("done"))
	}
	s := newHookSession(t, Options{}, []hookSpec{{hooks.Stop, "", "echo x >>ran; exit 2", ""}}, steps...)
	res, err := runText(t, s, "go")
	if err != nil || res.Turns != 9 || strings.Count(s.file("ran"), "x") != 8 {
		t.Errorf("%d turns, %q, %v", res.Turns, s.file("ran"), err)
	}
	if notices := all[event.Notice](s); len(notices) == 0 || !strings.Contains(notices[len(notices)-1].Text, "8 times in a row") {
		t.Errorf("notices %+v", notices)
	}
}

func TestFailedExchangeRunsItsHooksAndNoStop(t *testing.T) {
	t.Parallel()
	broken := &model.Error{Kind: model.StatusError, Status: 401, What: "the key is wrong"}
	s := newHookSession(t, Options{}, []hookSpec{{hooks.StopFailure, "", "cat >failed", ""}, {hooks.Stop, "", "touch stopped", ""}}, fails("", broken))
	if _, err := runText(t, s, "go"); err == nil {
		t.Fatal("no error")
	}
	if !strings.Contains(s.file("failed"), "the key is wrong") || !strings.Contains(s.file("failed"), "authentication_failed") {
		t.Errorf("told %q", s.file("failed"))
	}
	if _, err := os.Stat(filepath.Join(s.dir, "stopped")); err == nil {
		t.Error("Stop ran after an error")
	}
}

func TestCloseRunsTheHooksOfTheEnd(t *testing.T) {
	t.Parallel()
	kept := &heldJournal{}
	s := newHookSession(t, Options{Journal: kept}, []hookSpec{{hooks.SessionEnd, "", "cat >ended", ""}})
	s.Start()
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.file("ended"), `"reason":"other"`) {
		t.Errorf("told %q", s.file("ended"))
	}
	left := newHookSession(t, Options{}, []hookSpec{{hooks.SessionEnd, "clear", "cat >ended", ""}, {hooks.SessionEnd, "other", "touch other", ""}})
	left.Start()
	left.opts.Programs.Leave("clear")
	if err := left.Close(t.Context()); err != nil || !strings.Contains(left.file("ended"), `"reason":"clear"`) {
		t.Errorf("%v, told %q", err, left.file("ended"))
	}
	if _, err := os.Stat(filepath.Join(left.dir, "other")); err == nil {
		t.Error("a hook for another reason ran")
	}
	last := kept.events[len(kept.events)-2:]
	if ran, ok := last[0].Payload.(event.HookRan); !ok || ran.Event != "SessionEnd" {
		t.Errorf("the journal ends with %+v", last)
	}
}

func TestCompactionTellsItsHooksAndCanBeRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 300)
	s := newHookSession(t, Options{}, []hookSpec{
		{hooks.PreCompact, "manual", `cat >pre; [ -e may ] || { echo not now >&2; exit 2; }`, ""}, {hooks.PostCompact, "", "cat >post", ""},
	}, says(long), says("fine"), says("three of them"), says("a summary of what was said"))
	for _, p := range []string{"one", "two", "three"} {
		if _, err := runText(t, s, p); err != nil {
			t.Fatal(err)
		}
	}
	compact := func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		events := s.Subscribe(ctx)
		s.tasks.compact("keep the numbers")
		for env := range events {
			if _, over := env.Payload.(event.TaskFinished); over {
				return
			}
		}
		t.Fatal("it took too long")
	}
	compact()
	if begun := all[event.ContextCompacting](s); len(begun) != 0 {
		t.Errorf("began %+v although a hook refused", begun)
	}
	if done := all[event.ContextCompacted](s); len(done) != 0 || !strings.Contains(s.file("pre"), `"trigger":"manual"`) || !strings.Contains(s.file("pre"), `"custom_instructions":"keep the numbers"`) {
		t.Errorf("compacted %+v, told %q", done, s.file("pre"))
	}
	if err := os.WriteFile(filepath.Join(s.dir, "may"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	compact()
	if done := all[event.ContextCompacted](s); len(done) != 1 || !strings.Contains(s.file("post"), `"trigger":"manual"`) {
		t.Errorf("compacted %+v, told %q", done, s.file("post"))
	}
	if begun := all[event.ContextCompacting](s); len(begun) != 1 || begun[0] != (event.ContextCompacting{By: "summary", Focus: "keep the numbers"}) {
		t.Errorf("began %+v", begun)
	}
	want := []string{event.Type(event.HookRan{}), event.Type(event.ContextCompacting{}), event.Type(event.ContextCompacted{}), event.Type(event.HookRan{})}
	var order []string
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.events[slices.IndexFunc(s.events, func(env event.Envelope) bool { return event.Type(env.Payload) == event.Type(event.ContextCompacting{}) })-1:] {
		if slices.Contains(want, event.Type(env.Payload)) {
			order = append(order, event.Type(env.Payload))
		}
	}
	if !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if asked := s.model.requests[3].Messages[0].Content; !strings.Contains(asked, "<focus>\nkeep the numbers\n</focus>") {
		t.Errorf("the model was asked\n%s", asked)
	}
}

// An automatic digest of a full context asks the hooks as well: if they refuse it, nothing is compacted and nothing
// is sent.
func TestADigestOfAFullContextAsksTheHooks(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{Context: settings.Context{Strategy: settings.Digest}, System: "be brief"}, []hookSpec{
		{hooks.PreCompact, "auto", `cat >pre; [ -e may ] || { echo not now >&2; exit 2; }`, ""},
	}, append(answers(4), answers(2)...)...)
	for i := range 4 {
		if _, err := runText(t, s, prompt(i, 220).Text); err != nil { // the window has 1000 tokens
			t.Fatal(err)
		}
	}
	text := prompt(4, 220).Text
	var full *ContextLimitError
	if _, err := runText(t, s, text); !errors.As(err, &full) || len(s.model.requests) != 4 || !strings.Contains(s.file("pre"), `"trigger":"auto"`) {
		t.Errorf("%v after %d requests, told %q", err, len(s.model.requests), s.file("pre"))
	}
	if err := os.WriteFile(filepath.Join(s.dir, "may"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runText(t, s, prompt(4, 80).Text); err != nil {
		t.Error(err)
	}
	if begun, done := all[event.ContextCompacting](s), all[event.ContextCompacted](s); len(begun) != 1 || begun[0].By != "digest" || len(done) != 1 || done[0].By != "digest" {
		t.Errorf("began %+v, compacted %+v", begun, done)
	}
}

func TestNotificationsAreToldToHooks(t *testing.T) {
	t.Parallel()
	s := newHookSession(t, Options{}, []hookSpec{{hooks.Notification, "permission_prompt", "cat >asked", ""}}, says("", shellDo), says("fine"))
	answered(t, s, func(a event.ApprovalAsked) event.AnswerApproval {
		return event.AnswerApproval{ID: a.ID, Decision: event.Once}
	}, "go")
	for late := time.Now().Add(time.Minute); s.file("asked") == ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("no notification")
		}
	}
}
