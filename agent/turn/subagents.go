package turn

import (
	"context"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/model"
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

// runAgent lets a subagent work for a call, and calls begun when its task has its number.
func (b *batch) runAgent(ctx context.Context, call tools.Call, s tools.Subagent, begun func()) tools.Result {
	now := b.loop.p.Selection
	by := Caller{Agent: b.loop.agent, Loop: b.loop, Task: b.x.task, Talk: b.x.talk, Used: &b.x.used, Tools: now.Tools(), Model: now.Model(), Begun: begun}
	return b.loop.p.RunAgent(ctx, by, call, s)
}
