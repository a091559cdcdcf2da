package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/tools"
	"buddy/views"
)

// command is something to type after a slash. Its run returns what is wrong with the
// arguments, for the status line.
type command struct {
	name string
	args string // for the help
	help string
	run  func(u *ui, args string) error
}

// commands lists what there is, in the order of the help.
var slashCommands = []command{
	{"help", "", "keys and commands", func(u *ui, _ string) error { u.help = true; return nil }},
	{"status", "", "model, tools and counters of this session", sends(report(event.ReportStatus))},
	{"ps", "", "what runs and what waits", sends(report(event.ReportTasks))},
	{"bg", "PROMPT", "work on a prompt beside, on a fork of the conversation", background},
	{"kill", "[TASK]", "cancel a task, or the only one", sends(kill)},
	{"timeout", "DURATION [TASK]", "cancel a task, or the only one, when it takes longer", sends(setTimeout)},
	{"approve", "ask|strict|edits|plan|all|none|DURATION", "how to decide what needs a yes", sends(approve)},
	{"context", "", "how full the model's context is", sends(report(event.ReportContext))},
	{"compact", "", "replace old exchanges by a summary, for the model", sends(compact)},
	{"pin", "[N]", "keep the last exchange, or the N-th last, when compacting", sends(pin(false))},
	{"unpin", "[N]", "no longer keep it", sends(pin(true))},
	{"target", "[NAME]", "work on another target; without a name, choose one from a list that says which can be reached", showTarget},
	{"model", "[NAME]", "talk to another model; without a name, choose one from a list", switchModel},
	{"login", "[NAME]", "keep the key of a provider, or log in to a profile", logInHere},
	{"logout", "[NAME]", "forget a key or a login", logOutHere},
	{"doctor", "", "check what buddy needs; asks the model for one word", doctorHere},
	{"session", "[list|new|resume ID|rename TITLE|search TEXT|fork [N]]", "the sessions of this folder: resume, fork, rename, delete, export, search; without a verb, choose from a list", session},
	{"clear", "", "begin a new conversation; this one stays saved", func(u *ui, _ string) error { return u.change("") }},
	{"find", "[TEXT]", "find text in the conversation", find},
	{"edit", "", "write the prompt in your editor", func(u *ui, _ string) error { u.edit(); return nil }},
	{"output", "[N]", "the whole output of the last call, or of the N-th last", showOutput},
	{"copy", "[code|all]", "copy the last answer, the last code block in it, or all that was said", copyAnswer},
	{"undo", "[N] [--force]", "put back the files that the agent's tools for files changed for the last prompt, or the last N that changed any; not what commands did", undo},
	{"diff", "", "all that the agent's tools for files changed in this session", showChanges},
	{"export", "[md|html|json] [FILE]", "write this session into a file, for others to read", exportSession},
	{"palette", "", "all commands and actions with their keys, to run one", func(u *ui, _ string) error { u.over.palette(); return nil }},
	{"init", "[WHAT ELSE]", "let the model write AGENTS.md, which tells it about this project", sends(draftInstructions)},
	{"trust", "", "let the settings that came with this folder apply", trustHere},
	{"theme", "[NAME]", "other colours; without a name, choose from a list that shows them", theme},
	{"quit", "", "leave buddy", func(u *ui, _ string) error { u.quit(); return nil }},
}

// aliases are other names of commands (I05).
var aliases = map[string]string{"exit": "quit", "q": "quit", "": "help", "mode": "approve"}

func commandHelp() []views.CommandHelp {
	var all []views.CommandHelp
	for _, c := range slashCommands {
		help := c.help
		if c.args != "" {
			help += " · " + c.args
		}
		all = append(all, views.CommandHelp{Name: "/" + c.name, Help: help})
	}
	return all
}

// runCommand runs a line that begins with a slash and reports whether it was one. With a name
// that is none it goes back to the prompt, to be mended: nobody wants the model to read it.
func runCommand(u *ui, line string) bool {
	name, args, ok := splitCommand(line)
	if !ok {
		return false
	}
	for _, c := range slashCommands {
		if c.name != name {
			continue
		}
		if err := c.run(u, args); err != nil {
			u.hint("", fmt.Sprintf("/%s: %v", name, err))
		}
		return true
	}
	u.hint("", fmt.Sprintf("unknown command /%s%s · %s lists them all · a blank in front sends it", shorten(name, 40), u.over.nearest(name), u.keyName(keymap.ShowPalette)))
	u.v.prompt.SetText(line)
	return true
}

// splitCommand returns the command of a line and its arguments, unless it is none: the name is
// the first word, of letters, digits and dashes, so "/etc/hosts is what?" and "/* a comment"
// are no commands. What may end a sentence does not make it another word.
func splitCommand(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(line, "/")
	if !ok {
		return "", "", false
	}
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		rest, args = rest[:i], rest[i:]
	}
	word := strings.TrimRight(rest, "?!,;:")
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }) {
		return "", "", false
	}
	name = strings.ToLower(rest)
	if other, ok := aliases[name]; ok {
		name = other
	}
	return name, strings.TrimSpace(args), true
}

// sends is a command that is one for the runtime, and nothing else.
func sends(read func(args string) (event.Command, error)) func(*ui, string) error {
	return func(u *ui, args string) error {
		c, err := read(args)
		if err == nil {
			u.deps.send(c)
		}
		return err
	}
}

func report(what event.ReportKind) func(string) (event.Command, error) {
	return func(string) (event.Command, error) { return event.Report{What: what}, nil }
}

func background(u *ui, args string) error {
	if args == "" {
		return fmt.Errorf("say what to do: /bg PROMPT")
	}
	u.send(event.Submit{Text: args, Background: true})
	return nil
}

func kill(args string) (event.Command, error) {
	if args == "" {
		return event.Cancel{}, nil
	}
	id, err := taskNumber(args)
	return event.Cancel{Task: id}, err
}

func setTimeout(args string) (event.Command, error) {
	length, task, _ := strings.Cut(args, " ")
	d, err := tools.ParseDuration(length)
	if err != nil {
		return nil, err
	}
	set := event.SetTimeout{Duration: d}
	if task = strings.TrimSpace(task); task != "" {
		set.Task, err = taskNumber(task)
	}
	return set, err
}

func taskNumber(s string) (int, error) {
	id, err := strconv.Atoi(strings.TrimPrefix(s, "#"))
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("%q is not the number of a task (/ps lists them)", s)
	}
	return id, nil
}

func approve(args string) (event.Command, error) {
	mode, rest, _ := strings.Cut(args, " ")
	set := event.SetMode{Mode: action.Mode(mode)}
	if !slices.Contains(action.Modes, set.Mode) {
		set.Mode, rest = action.ModeAll, args
	}
	if rest != "" {
		d, err := tools.ParseDuration(rest)
		if err != nil {
			return nil, fmt.Errorf("%q is not known (have: %s, or a duration such as 10m)", args, modes())
		}
		set.Duration = d
	}
	if args == "" {
		return nil, fmt.Errorf("say how: %s, or a duration such as 10m", modes())
	}
	return set, nil
}

// modes names the modes of approvals.
func modes() string {
	var names []string
	for _, m := range action.Modes {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// find goes to the conversation, which searches or asks what for.
func find(u *ui, args string) error {
	u.setFocus(layout.Conversation)
	u.v.conversation.Find(args)
	return nil
}

// session lists the sessions, changes to one or does something with them (J05, J06).
func session(u *ui, args string) error {
	if args == "" {
		u.browse()
		return nil
	}
	verb, rest, _ := strings.Cut(args, " ")
	return u.deps.catalog.onSession(u, strings.ToLower(verb), strings.TrimSpace(rest))
}

// change leaves for another session, unless a task would be lost (C14, J06).
func (u *ui) change(id string) error { return u.changeTo(id, spot{}) }

// changeTo is change to a place in the session.
func (u *ui) changeTo(id string, s spot) error {
	if t := u.state.Running(); t != nil {
		return fmt.Errorf("task #%d runs; cancel it first (/kill)", t.ID)
	}
	u.deps.leave(next{again: true, resume: id, spot: s})
	return nil
}

// pin takes how far back the exchange is; 1 is the last.
func pin(off bool) func(string) (event.Command, error) {
	return func(args string) (event.Command, error) {
		back := 1
		if args != "" {
			var err error
			if back, err = strconv.Atoi(args); err != nil || back < 1 {
				return nil, fmt.Errorf("%q is not how far back the exchange is (1 is the last)", args)
			}
		}
		return event.Pin{Back: back, Off: off}, nil
	}
}

func compact(string) (event.Command, error) { return event.Compact{}, nil }
