package headless

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/views/markup"
)

// instead maps slash commands that exec can't run to the command lines that replace them.
var instead = map[string]string{
	"approve": "buddy exec --approve MODE", "plan": "buddy exec --approve plan", "goal": "buddy exec --check COMMAND or --verdict", "loop": "buddy exec --every INTERVAL", "timeout": "buddy exec --timeout",
	"model": "buddy exec --model NAME", "target": "buddy exec --ssh HOST or --container NAME", "session": "buddy exec --resume ID, and buddy sessions", "clear": "each buddy exec starts a session",
	"detach": "buddy exec --detach", "ps": "buddy ls", "kill": "buddy stop ID", "review": "buddy review", "findings": "buddy review", "export": "buddy sessions export ID", "permissions": "buddy policy",
	"login": "buddy login", "logout": "buddy logout", "config": "buddy config", "doctor": "buddy doctor", "skills": "buddy doctor", "agents": "buddy doctor", "hooks": "buddy doctor",
	"trust": "buddy trust", "mcp": "buddy mcp", "memory": "buddy memory", "remember": "buddy memory add TEXT", "find": "buddy sessions search TEXT", "workflow": "buddy workflow",
}

// wordsOnly returns an error if the prompt is a goal and starts with a slash command.
func (o Options) wordsOnly(prompt string) error {
	if _, _, ok := slash.Split(prompt); ok && o.goal() {
		return exit.Usage("a goal is plain text, and %s is a command (put a space in front to send it as text)", typed(prompt))
	}
	return nil
}

// typed returns the command of a prompt as it was typed.
func typed(prompt string) string { return markup.Shorten(strings.Fields(prompt)[0], 40) }

// extensions finds a session's custom commands and prompts of MCP servers, for prompts that start with a slash.
type extensions struct {
	commands func(context.Context) []event.CustomCommand
	prompt   func(ctx context.Context, words []string) (string, error) // returns the text of an MCP server's prompt; nil if there are none
}

// meant returns the runtime command for a prompt that starts with a slash, or the answer if the prompt needs no
// runtime. Any other command is returned unchanged.
func meant(ctx context.Context, first event.Command, from extensions) (c event.Command, answer string, err error) {
	if loop, ok := first.(event.StartLoop); ok {
		c, answer, err := meant(ctx, loop.Prompt, from)
		if prompt, ok := c.(event.Submit); ok {
			loop.Prompt, c = prompt, loop
		}
		return c, answer, err
	}
	submit, ok := first.(event.Submit)
	if !ok {
		return first, "", nil
	}
	name, args, ok := slash.Split(submit.Text)
	if !ok {
		return first, "", nil
	}
	own, known := slash.Find(name)
	switch {
	case strings.HasPrefix(name, "mcp__"):
		if from.prompt == nil {
			return nil, "", exit.Usage("%s: a prompt from an MCP server can't be combined with --detach", typed(submit.Text))
		}
		text, err := from.prompt(ctx, append([]string{name}, slash.Words(args)...))
		if err != nil {
			return nil, "", exit.Failure(fmt.Errorf("%s: %w", typed(submit.Text), err))
		}
		submit.Text = text
		return submit, "", nil
	case name == "help":
		return nil, helpText(from.commands(ctx)), nil
	case slices.Contains(slash.InExec, name):
		made, err := own.Events(args)
		if err != nil {
			return nil, "", exit.Usage("/%s: %v", name, err)
		}
		if len(made) == 0 {
			return nil, "", onlyRuns(args)
		}
		return made[0], "", nil
	}
	all := from.commands(ctx)
	if _, custom := slash.FindCustom(all, name); custom {
		return first, "", nil // the session adds the command's text to the prompt
	}
	switch other, there := instead[name]; {
	case there:
		return nil, "", exit.Usage("exec can't run %s, which needs a session on a screen; use instead: %s", typed(submit.Text), other)
	case known:
		return nil, "", exit.Usage("exec can't run %s: the command needs a session on a screen", typed(submit.Text))
	}
	return nil, "", exit.Usage("unknown command %s%s; buddy exec /help lists the commands; put a space in front to send it as text", typed(submit.Text), slash.DidYouMean(all, name))
}

// helpText lists the slash commands that work in exec.
func helpText(custom []event.CustomCommand) string {
	var b strings.Builder
	for _, name := range slash.InExec {
		c, _ := slash.Find(name)
		fmt.Fprintf(&b, "/%s  %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.Help)
	}
	for _, c := range slash.Typed(custom) {
		fmt.Fprintf(&b, "/%s  %s\n", c.Name, slash.CustomHelp(c))
	}
	return b.String() + "MCP servers' prompts are /mcp__SERVER__NAME. buddy help exec lists the flags.\n"
}

// listTime limits how long a host may take to list its commands.
const listTime = 10 * time.Second

// listed waits for the event with a session's custom commands. It gives up after listTime, because a session whose
// custom commands are all disabled sends no such event.
func listed(ctx context.Context, batches <-chan []event.Envelope) []event.CustomCommand {
	late := time.After(listTime)
	for {
		select {
		case batch, open := <-batches:
			if !open {
				return nil
			}
			for _, env := range batch {
				if p, ok := env.Payload.(event.CommandsListed); ok {
					return p.Commands
				}
			}
		case <-late:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}
