package turn

import (
	"context"
	"fmt"

	"buddy/agent/event"
	"buddy/agent/reminder"
	"buddy/agent/stream"
)

// commandTool is the tool that runs commands typed by a person.
const commandTool = "run_shell"

// RunTyped runs a command that a person typed, without approval. The model reads the command and its output with the
// next prompt.
func (l *Loop) RunTyped(ctx context.Context, x *Exchange, command string) (event.Outcome, error) {
	b, j := l.planOne(ctx, x, typedID+stream.NewID(), commandTool, map[string]any{"command": command, "why": "typed by the user"})
	defer b.cancel(nil)
	if j.err != nil {
		return event.Failed, fmt.Errorf("the command was not run: %w", j.err)
	}
	j.typed = true
	if why := b.loop.p.Approvals.Denied(j.call.Planned); why != "" {
		b.publish(event.Warning{Text: "the agent is not allowed to run this: " + why + "; it runs because you typed it", Code: "typed"})
	}
	b.request(j)
	b.alone(j)
	x.tellOnce(0, reminder.TypedShell, "The user ran this command in the shared pane; do nothing about it unless the user asks:\n"+
		command+"\nOutput:\n"+j.result.Result)
	if ctx.Err() != nil {
		return event.Cancelled, nil
	}
	return event.Completed, nil
}
