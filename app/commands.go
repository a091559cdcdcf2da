package app

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
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
	{"kill", "[TASK]", "cancel a task, or the only one", kill},
	{"approve", "ask|all|none|DURATION", "how to decide what needs a yes", approve},
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

func kill(u *ui, args string) error {
	id := 0
	if args != "" {
		var err error
		if id, err = strconv.Atoi(strings.TrimPrefix(args, "#")); err != nil || id <= 0 {
			return fmt.Errorf("%q is not the number of a task (/ps lists them)", args)
		}
	}
	u.deps.send(event.Cancel{Task: id})
	return nil
}

func approve(u *ui, args string) error {
	mode, rest, _ := strings.Cut(args, " ")
	set := event.SetMode{Mode: action.Mode(mode)}
	switch set.Mode {
	case action.ModeAsk, action.ModeAll, action.ModeNone:
	default:
		set.Mode, rest = action.ModeAll, args
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not known (have: ask, all, none, or a duration such as 10m)", args)
		}
		set.Duration = d
	}
	if args == "" {
		return fmt.Errorf("say how: ask, all, none, or a duration such as 10m")
	}
	u.deps.send(set)
	return nil
}
