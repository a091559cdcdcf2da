package policy

import (
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// Grantable reports whether a program of the user, such as a hook, may approve an action in the user's place. It may
// do so only if the action needs approval because no rule or table covers it. The user must decide if a rule or a
// mode asks, and about production, secrets, files that other programs execute, elevated privileges, changes to git
// history, and commands that would leave the sandbox after unseen changes.
func (p Policy) Grantable(a action.Action, mode action.Mode) bool {
	if mode != action.ModeAsk && mode != action.ModeEdits && mode != action.ModeAuto || a.Privesc || isDelicate(a) || Unseen(p, a, mode) {
		return false
	}
	v := p.Judge(a, mode)
	ordinary := []string{"shell", "workspace", "file write", "file delete", "network", "mcp", "unknown action"}
	if v.Decision != action.Ask || !slices.Contains(ordinary, v.Rule) || p.Judge(a, action.ModeAll).Decision != action.Allow {
		return false
	}
	return !isCommand(a.Kind) || !p.namesDelicate(p.Analyse(a.Command, a.Cwd))
}

// namesDelicate reports whether a command may touch a file with secrets, or one that other programs execute: one of its
// words names such a file or is computed when the command runs, or the command has elevated privileges.
func (p Policy) namesDelicate(report shell.Report) bool {
	touches := func(arg shell.Arg) bool {
		why, _ := delicate(arg.Text)
		return why != "" || arg.Dynamic
	}
	names := func(arg shell.Arg) bool { // a plain word, as in go build, is rarely a file name
		return (arg.Dynamic || strings.ContainsAny(arg.Text, "./")) && touches(arg)
	}
	return report.Dynamic || slices.ContainsFunc(report.Files, touches) || slices.ContainsFunc(report.Commands, func(c shell.Command) bool {
		return c.Effect == shell.Privileged || slices.ContainsFunc(c.Argv, names)
	})
}
