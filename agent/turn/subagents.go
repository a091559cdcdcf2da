package turn

import (
	"context"
	"strings"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/selection"
	"buddy/agent/usage"
	"buddy/tools"
)

// Agent describes the subagent whose turns a loop runs. The zero value is the session's main agent.
type Agent struct {
	ID    string      // unique in the session
	Type  string      // the name of its definition
	Label string      // for people: its type and the title of its task
	Depth int         // how many agents are above it
	Most  action.Mode // the loosest mode in which its calls are judged; "" is no limit

	Skills []string // whose texts it gets with its task
}

// Caller is who calls a subagent.
type Caller struct {
	Loop *Loop
	Task int
	Talk *conversation.Conversation
	Used *usage.Task
}

// Agent returns whose turns the loop runs.
func (l *Loop) Agent() Agent { return l.agent }

// Tools returns the tools that the loop offers.
func (l *Loop) Tools() *tools.Registry { return l.p.Selection.Tools() }

// Model returns the model that the loop asks.
func (l *Loop) Model() model.Model { return l.p.Selection.Model() }

// Defused returns what somebody else said without secrets, and with prompt injections in it marked.
func (l *Loop) Defused(text string) string {
	text = l.o.Redact.Text(text)
	return inject.Defuse(text, inject.Scan(text))
}

// Subagents runs subagents.
type Subagents interface {
	// RunAgent lets a subagent work for a call and returns what the call gives. It returns when
	// the work is done, or at once if it goes on in the background.
	RunAgent(ctx context.Context, by Caller, call tools.Call, s tools.Subagent) tools.Result
	// Listing returns the types of agents that a model does not know without being told.
	Listing(ctx context.Context) conversation.Listing
	// Mentioned returns the types of agents that a prompt names as @TYPE or @agent-TYPE.
	Mentioned(ctx context.Context, prompt string) []string
}

// For returns a loop that runs the turns of a subagent, which has a model, tools and limits of its
// own. Reminders of the moment are for the main agent.
func (l *Loop) For(a Agent, s *selection.Selection, c *compact.Compactor) *Loop {
	other := *l
	other.agent, other.p.Selection, other.p.Compactor = a, s, c
	other.o.Reminders, other.o.Strict = nil, false
	return &other
}

// bind tells the model which agents a person named in prompts, behind them.
func (l *Loop) bind(x *Exchange) {
	if len(x.named) > 0 {
		x.talk.Attach(x.task, 0, event.ReminderAttached{Kinds: []string{"agent_mention"}, Text: "<system-reminder>The user named an agent: call the tool agent with type " +
			strings.Join(x.named, ", then with ") + " for what the prompt asks of it.</system-reminder>"})
	}
	x.named = nil
}

// runAgent lets a subagent work for a call.
func (b *batch) runAgent(ctx context.Context, call tools.Call, s tools.Subagent) tools.Result {
	by := Caller{Loop: b.loop, Task: b.x.task, Talk: b.x.talk, Used: &b.x.used}
	return b.loop.p.Subagents.RunAgent(ctx, by, call, s)
}
