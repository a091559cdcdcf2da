package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
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
	{"status", "", "model, tools and counters of this session", report(event.ReportStatus)},
	{"ps", "", "what runs and what waits", report(event.ReportTasks)},
	{"bg", "PROMPT", "work on a prompt beside, on a fork of the conversation", background},
	{"kill", "[TASK]", "cancel a task, or the only one", kill},
	{"timeout", "DURATION [TASK]", "cancel a task, or the only one, when it takes longer", setTimeout},
	{"approve", "ask|strict|edits|plan|all|none|DURATION", "how to decide what needs a yes", approve},
	{"context", "", "how full the model's context is", report(event.ReportContext)},
	{"compact", "", "replace old exchanges by a summary, for the model", compact},
	{"pin", "[N]", "keep the last exchange, or the N-th last, when compacting", pin(false)},
	{"unpin", "[N]", "no longer keep it", pin(true)},
	{"target", "", "where commands run, whether it can be reached, and how to watch", showTarget},
	{"model", "[PROFILE]", "talk to another model, or list them", switchModel},
	{"session", "[new|resume ID]", "list the sessions of this folder, begin or resume one", session},
	{"clear", "", "begin a new conversation; this one stays saved", func(u *ui, _ string) error { return u.change("") }},
	{"find", "[TEXT]", "find text in the conversation", find},
	{"edit", "", "write the prompt in your editor", func(u *ui, _ string) error { u.edit(); return nil }},
	{"output", "[N]", "the whole output of the last call, or of the N-th last", showOutput},
	{"copy", "[code]", "copy the last answer, or the last code block in it", copyAnswer},
	{"trust", "", "let the settings that came with this folder apply", trustHere},
	{"theme", "[NAME]", "other colours, or list them", theme},
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

// runCommand runs a line that begins with a slash and reports whether it was one. A line
// such as "/etc/hosts is what?" is not: a command is one word of letters.
func runCommand(u *ui, line string) bool {
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	if !strings.HasPrefix(line, "/") || strings.ContainsAny(name, "/.\n") {
		return false
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if other, ok := aliases[name]; ok {
		name = other
	}
	for _, c := range slashCommands {
		if c.name != name {
			continue
		}
		if err := c.run(u, strings.TrimSpace(args)); err != nil {
			u.hint("", fmt.Sprintf("/%s: %v", name, err))
		}
		return true
	}
	u.hint("", fmt.Sprintf("unknown command /%s · /help lists them all", name))
	u.v.prompt.SetText(line)
	return true
}

func report(what event.ReportKind) func(*ui, string) error {
	return func(u *ui, _ string) error {
		u.deps.send(event.Report{What: what})
		return nil
	}
}

func background(u *ui, args string) error {
	if args == "" {
		return fmt.Errorf("say what to do: /bg PROMPT")
	}
	u.send(event.Submit{Text: args, Background: true})
	return nil
}

func kill(u *ui, args string) error {
	id := 0
	if args != "" {
		var err error
		if id, err = taskNumber(args); err != nil {
			return err
		}
	}
	u.deps.send(event.Cancel{Task: id})
	return nil
}

func setTimeout(u *ui, args string) error {
	length, task, _ := strings.Cut(args, " ")
	d, err := tools.ParseDuration(length)
	if err != nil {
		return err
	}
	set := event.SetTimeout{Duration: d}
	if task = strings.TrimSpace(task); task != "" {
		if set.Task, err = taskNumber(task); err != nil {
			return err
		}
	}
	u.deps.send(set)
	return nil
}

func taskNumber(s string) (int, error) {
	id, err := strconv.Atoi(strings.TrimPrefix(s, "#"))
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("%q is not the number of a task (/ps lists them)", s)
	}
	return id, nil
}

func approve(u *ui, args string) error {
	mode, rest, _ := strings.Cut(args, " ")
	set := event.SetMode{Mode: action.Mode(mode)}
	if !slices.Contains(action.Modes, set.Mode) {
		set.Mode, rest = action.ModeAll, args
	}
	if rest != "" {
		d, err := tools.ParseDuration(rest)
		if err != nil {
			return fmt.Errorf("%q is not known (have: %s, or a duration such as 10m)", args, modes())
		}
		set.Duration = d
	}
	if args == "" {
		return fmt.Errorf("say how: %s, or a duration such as 10m", modes())
	}
	u.deps.send(set)
	return nil
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

// switchModel takes the name of a profile or its number in the list (I10).
func switchModel(u *ui, args string) error {
	names := u.deps.catalog.profiles
	if args == "" {
		text := "models:"
		for i, n := range names {
			text += fmt.Sprintf("\n%3d  %s", i+1, n)
		}
		u.deps.catalog.notice(text + "\n/model NAME or NUMBER changes to one of them")
		return nil
	}
	if i, err := strconv.Atoi(args); err == nil && i >= 1 && i <= len(names) {
		args = names[i-1]
	}
	u.deps.send(event.SwitchModel{Profile: args})
	return nil
}

// session lists the sessions or changes to one (J05, J06).
func session(u *ui, args string) error {
	verb, id, _ := strings.Cut(args, " ")
	switch verb {
	case "":
		text, err := u.deps.catalog.sessions()
		if err != nil {
			return err
		}
		u.deps.catalog.notice(text)
		return nil
	case "new":
		return u.change("")
	case "resume":
		found, err := u.deps.catalog.find(strings.TrimSpace(id))
		if err != nil {
			return err
		}
		if found == u.state.Info.Session {
			return fmt.Errorf("%s is this session", found)
		}
		return u.change(found)
	}
	return fmt.Errorf("%q is not known (have: new, resume ID, resume last)", verb)
}

// change leaves for another session, unless a task would be lost (C14, J06).
func (u *ui) change(id string) error {
	if t := u.state.Running(); t != nil {
		return fmt.Errorf("task #%d runs; cancel it first (/kill)", t.ID)
	}
	u.deps.leave(next{again: true, resume: id})
	return nil
}

// pin takes how far back the exchange is; 1 is the last.
func pin(off bool) func(*ui, string) error {
	return func(u *ui, args string) error {
		back := 1
		if args != "" {
			var err error
			if back, err = strconv.Atoi(args); err != nil || back < 1 {
				return fmt.Errorf("%q is not how far back the exchange is (1 is the last)", args)
			}
		}
		u.deps.send(event.Pin{Back: back, Off: off})
		return nil
	}
}

func compact(u *ui, _ string) error {
	u.deps.send(event.Compact{})
	return nil
}
