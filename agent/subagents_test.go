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

// definitions reads subagents from texts of files.
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

// byAgent answers each conversation from a script of its own, which it finds by the system prompt
// and the first prompt: "main", or what the prompt of a subagent begins with up to a blank.
type byAgent struct {
	mu       sync.Mutex
	scripts  map[string][]step
	requests map[string][]model.Request
	info     model.Info
}

func (m *byAgent) Info() model.Info {
	m.info.Profile, m.info.Model = "test", "scripted"
	return m.info
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

// sent returns the requests of one conversation.
func (m *byAgent) sent(who string) []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[who]
}

// agentResults returns the results in the last request of one conversation.
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
		o.Agents.System = func(text string) (string, error) { return "SUB " + text, nil }
		if change != nil {
			change(o)
		}
	})
	return s, m
}

// calls makes a call of the tool agent: "id agent {…}".
func callsAgent(id, kind, prompt, more string) string {
	return fmt.Sprintf(`%s agent {"type":%q,"prompt":%q,"title":"do %s"%s}`, id, kind, prompt, id, more)
}

// TestSubagent: an agent works on a conversation of its own, and only its last answer comes back.
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
		if got := m.results("main"); len(got) != 1 || !strings.Contains(got[0], `"result":"the sky is blue"`) || strings.Contains(got[0], "I look") {
			t.Errorf("the main agent reads %q", got)
		}
		begun, n := taskOf(s, "worker")
		if n != 1 || begun.Kind != event.SubagentTask || begun.Title != "do a1" || begun.Parent != 1 || begun.Call != "a1" || begun.Background {
			t.Errorf("%d tasks, %+v", n, begun)
		}
		for _, env := range s.events() {
			if env.Task == begun.ID && env.Branch != 1 {
				t.Errorf("%s of the agent is on branch %d", env.Payload.Type(), env.Branch)
			}
		}
		s.stop()
	})
}

// events returns what was published.
func (s *session) events() []event.Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// taskOf returns the last task of an agent, and how many there were.
func taskOf(s *session, agent string) (last event.TaskStarted, n int) {
	for _, env := range s.events() {
		if p, ok := env.Payload.(event.TaskStarted); ok && p.Agent == agent {
			last = p
			n++
		}
	}
	return last, n
}
