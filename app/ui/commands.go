package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/draw"
	"buddy/views/markup"
)

// own holds the commands that this screen runs itself, because they act on its contents.
var own map[string]func(u *UI, args string) error

func init() { // not an initializer, which would be a cycle: an answer may run these commands
	own = map[string]func(u *UI, args string) error{
		"help":       func(u *UI, _ string) error { u.overlays.help = true; return nil },
		"find":       find,
		"edit":       func(u *UI, text string) error { u.editFrom(text); return nil },
		"output":     showOutput,
		"copy":       copyAnswer,
		"palette":    func(u *UI, _ string) error { u.overlays.palette(); return nil },
		"theme":      theme,
		"statusline": showLineReport,
		"session":    onSessions, "dashboard": func(u *UI, _ string) error { openBoard(u); return nil },
	}
}

func run(u *UI, c slash.Command, args string) error {
	if do := own[c.Name]; do != nil {
		return do(u, args)
	}
	if c.Answers && !c.Sends(args) {
		if u.following.on() && strings.HasPrefix(c.Name, "mcp__") {
			return errMainOnly
		}
		runWords(u, append([]string{c.Name}, slash.Words(args)...))
		return nil
	}
	all, err := c.Events(args)
	if err == nil {
		for _, e := range all {
			if s, ok := e.(event.Submit); ok && s.Background {
				u.send(s)
				continue
			}
			Send(u, e)
		}
	}
	return err
}

// Ranks of commands in the completion list. The most used commands have lower ranks.
const (
	ownCommand    = 100 + iota
	sameAsBefore  // whose alias is among the most used
	customCommand // of the user, the project or a server
	otherName
)

// offeredCommands lists the commands that the prompt completes, with short help. The most used commands are first,
// aliases last.
func offeredCommands(custom []event.CustomCommand) []draw.CommandHelp {
	all := commandHelp(custom)
	rank := make(map[string]int)
	for i, c := range slash.Commands {
		all[i].Help, all[i].Args = cmp.Or(c.Brief, c.Help), c.Args
		rank[all[i].Name] = cmp.Or(c.Use, ownCommand)
	}
	for _, name := range slash.AliasNames() {
		to, _, _ := strings.Cut(slash.Aliases[name], " ")
		c, _ := slash.Find(to)
		all = append(all, draw.CommandHelp{Name: "/" + name, Help: cmp.Or(c.Brief, c.Help)})
		if rank["/"+name] = otherName; c.Use > 0 {
			rank["/"+name], rank["/"+c.Name] = c.Use, sameAsBefore
		}
	}
	slices.SortStableFunc(all, func(a, b draw.CommandHelp) int {
		return cmp.Compare(cmp.Or(rank[a.Name], customCommand), cmp.Or(rank[b.Name], customCommand))
	})
	return all
}

// commandHelp lists buddy's commands, then custom commands.
func commandHelp(custom []event.CustomCommand) []draw.CommandHelp {
	var all []draw.CommandHelp
	for _, c := range slash.Commands {
		all = append(all, draw.CommandHelp{Name: "/" + c.Name, Help: helpOf(c), Completes: c.Complete != nil, Means: c.Means})
	}
	for _, c := range slash.Typed(custom) {
		all = append(all, draw.CommandHelp{Name: "/" + c.Name, Help: slash.CustomHelp(c)})
	}
	return all
}

// offer updates the commands that the prompt completes, and the open lists that change by themselves.
func offer(u *UI, ch state.Changed) {
	if ch&state.Commands != 0 {
		custom := slices.Concat(u.state.Info.Commands, u.state.Info.Prompts)
		u.v.help.SetCommands(commandHelp(custom))
		u.v.prompt.SetCommands(offeredCommands(custom))
	}
	if ch&(state.Servers|state.Tasks|state.Queue) != 0 {
		u.overlays.refresh()
	}
}

// helpOf returns a command's help and arguments.
func helpOf(c slash.Command) string { return strings.TrimSuffix(c.Help+" · "+c.Args, " · ") }

// runCommand runs a line that is a slash command, and returns false if it is none. A line with an unknown command is
// put back into the prompt for correction instead of being sent to the model.
func runCommand(u *UI, line string) bool {
	name, args, ok := slash.Split(line)
	if !ok {
		return false
	}
	if c, ok := slash.Find(name); ok {
		if err := run(u, c, args); err != nil {
			u.hint("", fmt.Sprintf("/%s: %v", name, err))
		}
		return true
	}
	if _, ok := slash.FindCustom(u.state.Info.Commands, name); ok {
		u.dock.stayAway()
		u.send(event.Submit{Text: line}) // the session adds the command's text to the prompt
		return true
	}
	u.hint("", fmt.Sprintf("Unknown command /%s%s · %s lists all · put a space in front to send it as text", markup.Shorten(name, 40), slash.DidYouMean(u.state.Info.Commands, name), u.deps.Keys.Name(keymap.ShowPalette)))
	u.v.prompt.SetText(line)
	return true
}

// onSessions opens the list of saved sessions, or runs the verb in args.
func onSessions(u *UI, args string) error {
	if args == "" {
		browse(u)
		return nil
	}
	runWords(u, append([]string{"session"}, slash.Words(args)...))
	return nil
}

// find focuses the conversation and searches it for args. If args is "", it asks for the text.
func find(u *UI, args string) error {
	u.arranged.setFocus(layout.Conversation)
	u.v.conversation.Find(args)
	return nil
}

// change switches to another session, at a position in it. Running tasks of this session keep running.
func change(s *state.State, leave func(slash.Next), id string, to slash.Spot) {
	leave(slash.Next{Again: true, Resume: id, Spot: to, Detach: len(unfinished(s)) > 0})
}
