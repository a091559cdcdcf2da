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
	Type  string      // name of its definition
	Label string      // type and title of the task, for the person
	Depth int         // number of agents above it
	Most  action.Mode // the loosest mode for its calls; "" is no limit

	Skills []string // skills whose texts it gets with its task
}

// Caller describes the agent that calls a subagent, and its resources.
type Caller struct {
	Agent
	Loop    *Loop
	Task    int
	Conv    *conversation.Conversation
	Used    *usage.Task
	Tools   *tools.Registry
	Model   model.Model
	Started func() // called when the subagent's task has its number; may be nil
}

// Errand is a task that a subagent does for the person, in parallel with everything else.
type Errand struct {
	Agent         subagent.Definition
	Title, Prompt string
	Dir           string // local folder with files for the agent; "" is none
	// Again returns the next prompt after an answer, "" to end.
	Again func(answer string) string
}

// Delivered holds the result of an errand.
type Delivered struct {
	Task    int
	Answer  string // the last one, which may be incomplete
	Problem string // how the agent ended, such as "was cancelled"; "" after success
	Usage   model.Usage
	Cost    model.Money // 0 if unknown
}

// Delegate makes a subagent work on an errand and waits for its end. The error is the reason why no subagent could
// start.
type Delegate func(context.Context, Errand) (Delivered, error)

// For returns a loop for a subagent, which has its own model, tools and limits.
func (l *Loop) For(a Agent, s *selection.Selection, c *compact.Compactor) *Loop {
	other := *l
	other.agent, other.p.Selection, other.p.Compactor = a, s, c
	other.o.Strict = false
	return &other
}

// runAgent runs a subagent for a call. It calls the function numbered as soon as the subagent's task has its number.
func (b *batch) runAgent(ctx context.Context, call tools.Call, s tools.Subagent, numbered func()) tools.Result {
	now := b.loop.p.Selection
	by := Caller{Agent: b.loop.agent, Loop: b.loop, Task: b.x.task, Conv: b.x.conv, Used: &b.x.used, Tools: now.Tools(), Model: now.Model(), Started: numbered}
	return b.loop.p.RunAgent(ctx, by, call, s)
}
