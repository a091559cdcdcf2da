package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/stream"
)

// commandTool runs the commands that a person types.
const commandTool = "run_shell"

// typed runs a command that a person typed after a "!". Nobody is asked, because a person
// said it; the model reads the command and what it printed with the next prompt.
func (r *Runtime) typed(s event.Submit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	command := strings.TrimSpace(strings.TrimPrefix(s.Text, "!"))
	if command == "" {
		r.reject("there is no command after the !")
		return
	}
	if t := r.main.task; t != nil {
		r.reject("the command was not run, because task #%d runs", t.id)
		return
	}
	if err := r.stream.ReadOnly(); err != nil {
		r.reject("the command was not run, because it can't be recorded: %v", err)
		return
	}
	r.ids.prompt++
	p := event.PromptSubmitted{ID: r.ids.prompt, Text: s.Text, Kind: event.Typed}
	r.startTask(r.main, event.MainTask, []event.PromptSubmitted{p}, func(ctx context.Context, t *task) (event.Outcome, error) {
		return r.runTyped(ctx, t, command)
	})
}

// runTyped runs a command and tells the model.
func (r *Runtime) runTyped(ctx context.Context, t *task, command string) (event.Outcome, error) {
	args, err := json.Marshal(map[string]any{
		"command": command, "why": "typed by the user",
	})
	if err != nil {
		return event.Failed, err
	}
	b := r.newBatch(ctx, t, 0)
	defer b.cancel(nil)
	j := b.plan(model.ToolCall{ID: "user_" + stream.NewID(), Name: commandTool, Arguments: string(args)})
	if j.err != nil {
		return event.Failed, fmt.Errorf("the command was not run: %w", j.err)
	}
	j.typed = true
	if v := r.opts.Policy.Judge(j.call.Planned, action.ModeAsk); v.Decision == action.Deny {
		r.emit(t.id, 0, event.Warning{Text: "the agent may not run this: " + v.Reason + "; it runs because you typed it", Code: "typed"})
	}
	b.request(j)
	b.alone(j)
	told := event.ReminderAttached{Kinds: []string{"shell"}, Text: "<system-reminder>The user ran this command in the shared pane; nothing has to be done about it unless the user asks:\n" +
		command + "\nWhat it gave:\n" + j.result + "</system-reminder>"}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attach(t.talk, t.id, 0, told)
	if ctx.Err() != nil {
		return event.Cancelled, nil
	}
	return event.Completed, nil
}
