package ui

import (
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/app/fuzzy"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Command is something to type after a slash. Its run returns what is wrong with the
// arguments, for the status line.
type Command struct {
	Name string // without the slash
	Args string // for the help
	Help string
	run  func(u *UI, args string) error
}

// slashCommands lists what there is, in the order of the help.
var slashCommands = []Command{
	{"help", "", "keys and commands", func(u *UI, _ string) error { u.overlays.help = true; return nil }},
	{"status", "", "model, tools and counters of this session", sends(slash.Report(event.ReportStatus))},
	{"ps", "", "what runs and what waits", sends(slash.Report(event.ReportTasks))},
	{"bg", "PROMPT", "work on a prompt beside, on a fork of the conversation", background},
	{"kill", "[TASK]", "cancel a task, or the only one", sends(slash.Kill)},
	{"timeout", "DURATION [TASK]", "cancel a task, or the only one, when it takes longer", sends(slash.SetTimeout)},
	{"approve", "ask|strict|edits|plan|all|none|DURATION", "how to decide what needs approval", sends(slash.Approve)},
	{"context", "", "how full the model's context is", sends(slash.Report(event.ReportContext))},
	{"compact", "", "replace old exchanges by a summary, for the model", sends(slash.Compact)},
	{"pin", "[N]", "keep the last exchange, or the N-th last, when compacting", sends(slash.Pin(false))},
	{"unpin", "[N]", "no longer keep it", sends(slash.Pin(true))},
	{"target", "[NAME]", "work on another target; without a name, choose one from a list that says which can be reached", showTarget},
	{"model", "[NAME]", "talk to another model; without a name, choose one from a list", switchModel},
	{"effort", "none|minimal|low|medium|high|xhigh|max", "how much the model thinks, from its next request on", sends(slash.Effort)},
	{"login", "[NAME]", "keep the key of a provider, or log in to a profile", logInHere},
	{"logout", "[NAME]", "forget a key or a login", logOutHere},
	{"doctor", "", "check what buddy needs; asks the model for one word", doctorHere},
	{"session", "[list|new|resume ID|rename TITLE|search TEXT|fork [N]]", "the sessions of this folder: resume, fork, rename, delete, export, search; without a verb, choose from a list", session},
	{"clear", "", "begin a new conversation; this one stays saved", func(u *UI, _ string) error { return u.change("") }},
	{"find", "[TEXT]", "find text in the conversation", find},
	{"edit", "[TEXT]", "write the prompt in your editor", func(u *UI, text string) error { u.editFrom(text); return nil }},
	{"output", "[N]", "the whole output of the last call, or of the N-th last", showOutput},
	{"copy", "[code|all]", "copy the last answer, the last code block in it, or all that was said", copyAnswer},
	{"undo", "[N] [--force]", "put back the files that the agent's tools for files changed for the last prompt, or the last N that changed any; not what commands did", sends(slash.Undo)},
	{"diff", "", "all that the agent's tools for files changed in this session", showChanges},
	{"export", "[md|html|json] [FILE]", "write this session into a file, for others to read", exportSession},
	{"palette", "", "all commands and actions with their keys, to run one", func(u *UI, _ string) error { u.overlays.palette(); return nil }},
	{"init", "[WHAT ELSE]", "let the model write AGENTS.md, which tells it about this project", sends(slash.Init)},
	{"trust", "", "let the settings that came with this folder apply", trustHere},
	{"theme", "[NAME]", "other colours; without a name, choose from a list that shows them", theme},
	{"quit", "", "leave buddy", func(u *UI, _ string) error { u.quit(); return nil }},
}

// Commands lists what there is, in the order of the help.
func Commands() []Command { return slashCommands }

func commandHelp() []draw.CommandHelp {
	var all []draw.CommandHelp
	for _, c := range slashCommands {
		help := c.Help
		if c.Args != "" {
			help += " · " + c.Args
		}
		all = append(all, draw.CommandHelp{Name: "/" + c.Name, Help: help})
	}
	return all
}

// runCommand runs a line that begins with a slash and reports whether it was one. With a name
// that is none it goes back to the prompt, to be mended: nobody wants the model to read it.
func runCommand(u *UI, line string) bool {
	name, args, ok := slash.Split(line)
	if !ok {
		return false
	}
	for _, c := range slashCommands {
		if c.Name != name {
			continue
		}
		if err := c.run(u, args); err != nil {
			u.hint("", fmt.Sprintf("/%s: %v", name, err))
		}
		return true
	}
	u.hint("", fmt.Sprintf("unknown command /%s%s · %s lists them all · a blank in front sends it", markup.Shorten(name, 40), nearestCommand(name), u.keyName(keymap.ShowPalette)))
	u.v.prompt.SetText(line)
	return true
}

// sends is a command that is one for the runtime, and nothing else.
func sends(read func(args string) (event.Command, error)) func(*UI, string) error {
	return func(u *UI, args string) error {
		c, err := read(args)
		if err == nil {
			u.deps.Send(c)
		}
		return err
	}
}

func background(u *UI, args string) error {
	if args == "" {
		return fmt.Errorf("say what to do: /bg PROMPT")
	}
	u.send(event.Submit{Text: args, Background: true})
	return nil
}

// find goes to the conversation, which searches or asks what for.
func find(u *UI, args string) error {
	u.setFocus(layout.Conversation)
	u.v.conversation.Find(args)
	return nil
}

// session lists the sessions, changes to one or does something with them (J05, J06).
func session(u *UI, args string) error {
	if args == "" {
		u.browse()
		return nil
	}
	verb, rest, _ := strings.Cut(args, " ")
	return u.deps.Catalog.OnSession(u.seat(), strings.ToLower(verb), strings.TrimSpace(rest))
}

// change leaves for another session, unless a task would be lost (C14, J06).
func (u *UI) change(id string) error { return u.changeTo(id, slash.Spot{}) }

// changeTo is change to a place in the session.
func (u *UI) changeTo(id string, s slash.Spot) error {
	if t := u.state.Running(); t != nil {
		return fmt.Errorf("task #%d runs; cancel it first (/kill)", t.ID)
	}
	u.deps.Leave(slash.Next{Again: true, Resume: id, Spot: s})
	return nil
}

// seat is that of the person before the screen.
func (u *UI) seat() slash.Seat {
	return slash.Seat{
		Command: u.deps.Send, Say: u.deps.Catalog.Notice, Change: u.change, Beside: u.deps.Background,
		Current: func() string { return u.state.Info.Session },
		Info:    func() event.SessionCreated { return u.state.Info.Event },
		Failed:  func(what string, e error) { u.hint("", fmt.Sprintf("%s: %v", what, e)) },
	}
}

// nearestCommand suggests the command that was meant by a wrong name, if one is near enough.
func nearestCommand(wrong string) string {
	if len(wrong) > 64 { // no typing error, and the distance costs length times length
		return ""
	}
	names := make([]string, 0, len(slashCommands))
	for _, c := range slashCommands {
		names = append(names, c.Name)
	}
	for _, name := range names {
		if strings.HasPrefix(name, wrong) {
			return ", /" + name + "?"
		}
	}
	name := fuzzy.Nearest(wrong, names)
	if texts.Distance(wrong, name) > max(1, len(wrong)/2) {
		return ""
	}
	return ", /" + name + "?"
}
