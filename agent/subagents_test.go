package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/subagents"
	"buddy/extensions"
	"buddy/extensions/frontmatter"
	"buddy/extensions/subagent"
	"buddy/tools"
	"buddy/tools/basic"
)

// definitions parses subagent files.
func definitions(t *testing.T, files ...string) []subagent.Definition {
	t.Helper()
	var items []extensions.Item
	for i, text := range files {
		block, err := frontmatter.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, extensions.Item{Kind: extensions.Agent, Origin: extensions.Project, File: fmt.Sprintf("/p/.buddy/agents/%d.md", i), Sum: text, Block: block})
	}
	defs, problems := subagent.All(items)
	for _, p := range problems {
		if !p.Used {
			t.Fatal(p)
		}
	}
	return defs
}

// worker is an agent with all tools.
const worker = "---\nname: worker\ndescription: works\n---\nYou work."

// byAgent answers each conversation from its own script, selected by the system prompt and the first prompt: "main",
// or the first word of the prompt of a subagent.
type byAgent struct {
	mu       sync.Mutex
	scripts  map[string][]step
	requests map[string][]model.Request
	info     model.Info
}

func (m *byAgent) Info() model.Info {
	info := m.info
	info.Profile, info.Model = "test", "scripted"
	return info
}

func (m *byAgent) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	req.Messages = slices.Clone(req.Messages)
	who := "main"
	if i := slices.IndexFunc(req.Messages, func(one model.Message) bool { return one.Role == model.User && one.Kind == model.Prompt }); i >= 0 && strings.Contains(req.Messages[0].Content, "SUB") {
		who, _, _ = strings.Cut(req.Messages[i].Content, " ")
		who, _, _ = strings.Cut(who, "\n")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[who] = append(m.requests[who], req)
	if len(m.scripts[who]) == 0 {
		return func(yield func(model.Delta, error) bool) {
			yield(model.Delta{}, fmt.Errorf("the script of %s is over", who))
		}
	}
	next := m.scripts[who][0]
	m.scripts[who] = m.scripts[who][1:]
	return func(yield func(model.Delta, error) bool) { next(ctx, yield) }
}

// sent returns the requests of a conversation.
func (m *byAgent) sent(who string) []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[who]
}

// results returns the results in the last request of a conversation.
func (m *byAgent) results(who string) []string {
	var out []string
	all := m.sent(who)
	if len(all) == 0 {
		return nil
	}
	for _, one := range all[len(all)-1].Messages {
		if one.Role == model.Tool {
			out = append(out, one.Content)
		}
	}
	return out
}

// withAgents starts a session with subagents; scripts are by conversation, see byAgent.
func withAgents(t *testing.T, scripts map[string][]step, files []string, change func(*Options)) (*session, *byAgent) {
	t.Helper()
	m := &byAgent{scripts: scripts, requests: make(map[string][]model.Request)}
	defs := definitions(t, files...)
	s := start(t, func(o *Options) {
		o.Model, o.System, o.OutDir = m, "You are the main agent.", t.TempDir()
		o.Tools = tools.NewRegistry(&fakeTool{}, basic.NewAgent(), basic.NewAskUser())
		o.Agents.Read = func(context.Context) (subagents.Set, error) { return subagents.Set{Agents: defs}, nil }
		o.Agents.System = func(text string) string { return "SUB " + text }
		if change != nil {
			change(o)
		}
	})
	return s, m
}

// callsAgent returns a call of the tool agent: "id agent {…}".
func callsAgent(id, kind, prompt, more string) string {
	return fmt.Sprintf(`%s agent {"type":%q,"prompt":%q,"title":"do %s"%s}`, id, kind, prompt, id, more)
}

// TestSubagent: an agent works on its own conversation, and only its last answer is returned.
func TestSubagent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := withAgents(t, map[string][]step{
			"main": {says("let me see", callsAgent("a1", "worker", "one look", "")), says("it is blue")},
			"one":  {says("I look", aCall), says("the sky is blue")},
		}, []string{worker}, nil)
		s.do(event.Submit{Text: "what colour?"})
		first := m.sent("one")[0].Messages
		if len(first) != 3 || first[0].Content != "SUB You work." || !strings.Contains(first[1].Content, "- worker: works") || !strings.HasPrefix(first[2].Content, "one look") {
			t.Errorf("the agent was asked %+v", first)
		}
		if got := m.results("main"); len(got) != 1 || got[0] != "the sky is blue" {
			t.Errorf("the main agent reads %q", got)
		}
		begun, n := taskOf(s, "worker")
		if n != 1 || begun.Kind != event.SubagentTask || begun.Title != "do a1" || begun.Parent != 1 || begun.Call != "a1" || begun.Background {
			t.Errorf("%d tasks, %+v", n, begun)
		}
		for _, env := range s.events() {
			if env.Task == begun.ID && env.Branch != 1 {
				t.Errorf("%s of the agent is on branch %d", event.Type(env.Payload), env.Branch)
			}
		}
		s.stop()
	})
}

// Agents are numbered in call order, which people see in the conversation.
func TestAgentsAreNumberedAsTheyWereCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := withAgents(t, map[string][]step{
			"main": {says("look", callsAgent("a1", "worker", "one look", ""), callsAgent("a2", "worker", "two look", ""), callsAgent("a3", "worker", "three look", "")), says("done")},
			"one":  {says("1")}, "two": {says("2")}, "three": {says("3")},
		}, []string{worker}, nil)
		s.do(event.Submit{Text: "look"})
		var calls []string
		for _, env := range s.events() {
			if p, ok := env.Payload.(event.TaskStarted); ok && p.Agent != "" {
				calls = append(calls, fmt.Sprint(p.ID, p.Call))
			}
		}
		if want := []string{"2a1", "3a2", "4a3"}; !slices.Equal(calls, want) {
			t.Errorf("began %v, want %v", calls, want)
		}
		s.stop()
	})
}

// events returns the published events.
func (s *session) events() []event.Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// taskOf returns the last task of an agent, and their number.
func taskOf(s *session, agent string) (last event.TaskStarted, n int) {
	for _, env := range s.events() {
		if p, ok := env.Payload.(event.TaskStarted); ok && p.Agent == agent {
			last = p
			n++
		}
	}
	return last, n
}

// TestInterruptedAgents: agents that worked when buddy was killed are shown as interrupted and do not continue, and
// requests are valid.
func TestInterruptedAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := withAgents(t, map[string][]step{
			"main": {
				says("", callsAgent("a1", "worker", "one", ""), callsAgent("a2", "worker", "two", ""), callsAgent("a3", "worker", "three", "")),
			},
			"one": {hangs("thinking")}, "two": {says("", aHang)}, "three": {says("", `c1 do {"kind":"shell","do":"echo"}`)},
		}, []string{worker}, nil)
		s.do(event.Submit{Text: "go"})
		killed := slices.Clone(s.mem.events)
		s.stop()
		again, m := withAgents(t, map[string][]step{"main": {says("I go on")}}, []string{worker}, func(o *Options) { o.Replay = killed })
		failed := 0
		for _, env := range again.events() {
			if end, ok := env.Payload.(event.TaskFinished); ok && end.Outcome == event.Failed && strings.HasPrefix(end.Error, "interrupted") && env.Branch > 0 {
				failed++
			}
			if _, asked := env.Payload.(event.ApprovalAsked); asked {
				t.Errorf("it asks: %+v", env.Payload)
			}
		}
		if failed != 3 || len(m.sent("main")) != 0 || len(again.tasks.forks) != 0 {
			t.Errorf("%d interrupted, %d requests, %d branches", failed, len(m.sent("main")), len(again.tasks.forks))
		}
		again.do(event.Continue{})
		checkPairs(t, m.sent("main")[0].Messages)
		for _, got := range m.results("main") {
			if !strings.HasPrefix(got, "interrupted: buddy ended") {
				t.Errorf("the call gave %q", got)
			}
		}
		for _, who := range []string{"one", "two", "three"} {
			if n := len(m.sent(who)); n != 0 {
				t.Errorf("%s was asked %d times", who, n)
			}
		}
		again.stop()
	})
}

// TestAgentsAskInOneQueue: when all agents ask at the same time, each request names its agent, and each answer
// reaches the right one.
func TestAgentsAskInOneQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const agents = 7
		scripts := map[string][]step{}
		var all []string
		for i := range agents {
			who := fmt.Sprintf("n%d", i)
			all = append(all, callsAgent("a"+who, "worker", who, ""))
			scripts[who] = []step{says("", `c`+who+` do {"kind":"shell","do":"echo"}`), says("end of " + who)}
		}
		scripts["main"] = []step{says("", all...), says("done")}
		s, m := withAgents(t, scripts, []string{worker}, func(o *Options) { o.Agents.Limits.AtOnce = agents })
		s.do(event.Submit{Text: "go"})
		var asked []event.ApprovalAsked
		tasks := make(map[string]int)
		for _, env := range s.events() {
			if p, ok := env.Payload.(event.ApprovalAsked); ok {
				asked, tasks[p.ID] = append(asked, p), env.Task
			}
		}
		if len(asked) != agents {
			t.Fatalf("%d questions", len(asked))
		}
		for i, a := range slices.Backward(asked) {
			who := strings.TrimPrefix(a.CallID, "c")
			if a.Agent != "worker: do a"+who || tasks[a.ID] == 0 {
				t.Errorf("question %d is of %q, task %d", i, a.Agent, tasks[a.ID])
			}
			decision := event.Once
			if who == "n3" {
				decision = event.Deny
			}
			s.do(event.AnswerApproval{ID: a.ID, Decision: decision, Reason: "not now"})
		}
		for i := range agents {
			who := fmt.Sprintf("n%d", i)
			got := m.results(who)
			if denied := strings.Contains(fmt.Sprint(got), "Reason: not now"); len(got) != 1 || denied != (who == "n3") {
				t.Errorf("%s reads %q", who, got)
			}
			if got := m.results("main")[i]; !strings.Contains(got, "end of "+who) {
				t.Errorf("result %d is %q", i, got)
			}
		}
		s.stop()
	})
}

// TestNobodyAnswersAnAgent: without a person, an agent's request is denied, and the agent continues.
func TestNobodyAnswersAnAgent(t *testing.T) {
	m := &byAgent{requests: make(map[string][]model.Request), scripts: map[string][]step{
		"main": {says("", callsAgent("a1", "worker", "one", `,"background":true`)), says("done")},
		"one":  {says("", `c1 do {"kind":"shell","do":"echo"}`), says("could not")},
	}}
	defs := definitions(t, worker)
	r := New(Options{Model: m, Tools: tools.NewRegistry(&fakeTool{}, basic.NewAgent()), Agents: Agents{
		Read:   func(context.Context) (subagents.Set, error) { return subagents.Set{Agents: defs}, nil },
		System: func(text string) string { return "SUB " + text },
	}})
	res, err := r.RunText(t.Context(), "go")
	if err != nil || res.Response != "done" {
		t.Fatal(res, err)
	}
	if got := m.results("one"); len(got) != 1 || !strings.Contains(got[0], "nobody was there to ask") {
		t.Errorf("the agent reads %q", got)
	}
	if got := m.results("main"); !strings.Contains(got[0], "could not") {
		t.Errorf("in the background, though nobody is told of its end: %q", got)
	}
}
