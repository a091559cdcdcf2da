package turn

import (
	"context"
	"strings"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/selection"
	"buddy/agent/usage"
	"buddy/extensions/subagent"
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

// Caller describes the agent that calls a subagent, and what it has.
type Caller struct {
	Agent
	Loop  *Loop
	Task  int
	Talk  *conversation.Conversation
	Used  *usage.Task
	Tools *tools.Registry
	Model model.Model
	Begun func() // is called when the subagent's task has its number; may be nil
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

// Errand is a task of the person's on which a subagent works beside all else.
type Errand struct {
	Agent         subagent.Definition
	Title, Prompt string
	Dir           string // where files for the agent are, on this machine; "" is nowhere
	// Again returns what the agent is asked after an answer, "" for nothing more.
	Again func(answer string) string
}

// Delivered holds what came of an errand.
type Delivered struct {
	Task    int
	Answer  string // the last one, which may be incomplete
	Problem string // how the agent ended, such as "was cancelled"; "" when it has completed
	Usage   model.Usage
	Cost    model.Money // 0 = not known
}

// Delegate lets a subagent work on an errand and waits for its end. The error says why none works.
type Delegate func(context.Context, Errand) (Delivered, error)

// For returns a loop that runs the turns of a subagent, which has a model, tools and limits of its
// own.
func (l *Loop) For(a Agent, s *selection.Selection, c *compact.Compactor) *Loop {
	other := *l
	other.agent, other.p.Selection, other.p.Compactor = a, s, c
	other.o.Strict = false
	return &other
}

// tellAgents tells the model which agents there are, if it can call one.
func tellAgents(ctx context.Context, b Briefing) {
	if b.Has(tools.Agent) {
		b.List(b.l.p.Subagents.Listing(ctx))
	}
}

// tellMentions tells the model which agents the person named in prompts, behind them.
func tellMentions(ctx context.Context, b Briefing) {
	var named []string
	for _, p := range b.Prompts() {
		if p.Kind != event.Typed {
			named = append(named, b.l.p.Subagents.Mentioned(ctx, p.Text)...)
		}
	}
	if len(named) > 0 {
		b.Tell(reminder.AgentMention, "The user named an agent: call the tool agent with type "+strings.Join(named, ", then with ")+" for what the prompt asks of it.")
	}
}

// runAgent lets a subagent work for a call, and calls begun when its task has its number.
func (b *batch) runAgent(ctx context.Context, call tools.Call, s tools.Subagent, begun func()) tools.Result {
	now := b.loop.p.Selection
	by := Caller{Agent: b.loop.agent, Loop: b.loop, Task: b.x.task, Talk: b.x.talk, Used: &b.x.used, Tools: now.Tools(), Model: now.Model(), Begun: begun}
	return b.loop.p.Subagents.RunAgent(ctx, by, call, s)
}
