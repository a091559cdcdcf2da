package workflow

import (
	"context"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/extensions/workflow"
)

// commandHint is a command that models forget, or write in a way that asks or waits.
type commandHint struct {
	workflow.Suggestion
	text string
	mac  bool // only where commands run on a Mac
	unix bool // only elsewhere
}

// commandHints lists the commands. Of several that fit, the first wins.
var commandHints = []commandHint{
	{Suggestion: logs, text: "`journalctl -u UNIT -n 200 --no-pager` or `docker logs --tail 200 NAME`", unix: true},
	{Suggestion: logs, text: "`log show --last 1h --predicate 'process == \"NAME\"'`", mac: true},
	{
		Suggestion: workflow.NewSuggestion("archive", "unpack|extract|untar|unzip|inside|list|look archive|tarball|zip|.zip|.gz|.tgz|.tar|.xz|.zst|.jar"),
		text:       "list archives before you unpack them: `tar -tf FILE`, `unzip -l FILE`",
	},
	{
		Suggestion: workflow.NewSuggestion("clipboard", "my|the|from|to|into|paste|copy clipboard|pasteboard"),
		text:       "`pbpaste` prints the clipboard, `pbcopy` fills it", mac: true,
	},
	{
		Suggestion: workflow.NewSuggestion("open", "open|show browser|finder|preview|app|application", "reveal finder|folder|file"),
		text:       "`open FILE` shows a file in its program, `open -R FILE` in Finder", mac: true,
	},
}

var logs = workflow.NewSuggestion("logs", "service|daemon|unit|container|systemd|journal|nginx|postgres|docker log|logs|journal|journald", "service|daemon|unit|container crash|crashing|failing|restarting")

// maxHint limits the hints for one prompt with their tags, in bytes.
const maxHint = 200

// commandFor returns the name and text of the command that fits a prompt, or "".
func commandFor(prompt string, mac bool) (name, text string) {
	for _, c := range commandHints {
		if c.mac && !mac || c.unix && mac {
			continue
		}
		if len(workflow.Fitting([]workflow.Suggestion{c.Suggestion}, prompt)) > 0 {
			return c.Name, c.text
		}
	}
	return "", ""
}

// hint returns the text for the model about a prompt, "" for none, and the names in it. Lines that would make the text
// too long are left out.
func hint(found []workflow.Workflow, command, text string) (said string, names []string) {
	const commands, workflows = "May help: ", "May help, only the user can run it: /workflow "
	var lines []string
	add := func(name, line string) {
		if len(reminder.Wrap(strings.Join(append(lines, line), "\n"))) <= maxHint {
			lines, names = append(lines, line), append(names, name)
		}
	}
	if text != "" {
		add(command, commands+text)
	}
	for _, w := range found {
		add(w.Name, workflows+w.Needs())
	}
	return strings.Join(lines, "\n"), names
}

// Brief suggests workflows that fit a prompt. The model gets the suggestions that are found in time, with its first
// request. The person sees each workflow once, perhaps during the answer.
func (p *Part) Brief(ctx context.Context, b turn.Briefing) {
	if p.Fitting == nil || b.Subagent() {
		return
	}
	wanted := b.First() && !b.Short() && !b.Off(reminder.Hints)
	for _, prompt := range b.Prompts() {
		if prompt.Kind == event.Typed {
			continue
		}
		found := make(chan []workflow.Workflow, 1)
		p.session.Work.Go(func() {
			all := p.Fitting(prompt.Text)
			found <- all
			if len(all) > 0 && !p.Quiet {
				p.suggest(&all[0])
			}
		})
		if wanted && p.tell(ctx, b, prompt.Text, found) {
			wanted = false // one hint per exchange
		}
	}
}

// tell adds the hints about a prompt for the model, and reports whether there are any. Hints that equal the last ones
// are left out.
func (p *Part) tell(ctx context.Context, b turn.Briefing, prompt string, found chan []workflow.Workflow) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var all []workflow.Workflow
	select {
	case all = <-found:
	case <-ctx.Done():
	}
	text, names := hint(all, "", "")
	if name, command := commandFor(prompt, p.Mac != nil && p.Mac()); name != "" && b.Has("run_shell") {
		text, names = hint(all, name, command)
	}
	if text != "" {
		b.TellState(reminder.Hints, strings.Join(names, ","), text)
	}
	return text != ""
}

// suggest names a workflow to the person, once.
func (p *Part) suggest(w *workflow.Workflow) {
	if _, known := p.suggested.LoadOrStore(w.Name, true); !known {
		p.note("a workflow may help: /workflow " + w.Usage())
	}
}
