package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// effectOf returns the most important effect of an action, for display in its approval dialog. It returns the zero
// Effect if the dialog's title and diff already show it.
func effectOf(p Policy, a action.Action, report shell.Report) action.Effect {
	switch a.Kind {
	case action.Shell, action.Git:
		return commandsEffect(p, report)
	case action.PaneKeys:
		return action.Effect{Subject: "the program in the pane", Verb: "gets", Object: "this text, whatever it does with it"}
	case action.FileRead, action.FileWrite, action.FileDelete:
		return fileEffect(p, a)
	case action.Network, action.Browser:
		return networkEffect(a)
	case action.Connect:
		return action.Effect{Verb: "lets", Object: "the command send what it reads in this folder to that host"}
	case action.EnterPlan:
		return action.Effect{Verb: "changes", Object: "nothing else until you approve a plan"}
	case action.PlanFile, action.Internal:
		return action.Effect{}
	default:
		return action.Effect{Subject: "buddy", Verb: "can't check", Object: "what this does"}
	}
}

// severity orders the effects of commands, worst last.
var severity = []shell.Effect{shell.Reads, shell.Unknown, shell.Writes, shell.RunsCode, shell.Network, shell.Remote, shell.Privileged, shell.Deletes}

// commandsEffect returns the effect of the worst command in a command line.
func commandsEffect(p Policy, report shell.Report) action.Effect {
	if report.Harm != "" {
		return action.Effect{Verb: report.Harm, Final: true}
	}
	var worst *shell.Command
	asked := 0
	for i, c := range report.Commands {
		if c.ReadOnly {
			continue
		}
		asked++
		if worst == nil || later(severity, ownEffect(c), ownEffect(*worst)) {
			worst = &report.Commands[i]
		}
	}
	switch {
	case worst == nil && len(report.Other) > 0:
		return action.Effect{Verb: report.Other[0]}
	case worst == nil:
		return action.Effect{}
	}
	e := commandEffect(p, *worst)
	if asked > 1 && e.Subject == "" {
		e.Subject = worst.Name()
	}
	if worst.Effect == shell.Privileged {
		e.Object = strings.TrimSpace(e.Object + " with elevated privileges")
	}
	return e
}

// ownEffect returns the effect of a command without the rights that its wrapper, such as sudo, adds.
func ownEffect(c shell.Command) shell.Effect {
	if c.Effect == shell.Privileged && deleting[c.Name()] {
		return shell.Deletes
	}
	return c.Effect
}

var deleting = map[string]bool{"rm": true, "rmdir": true, "unlink": true, "shred": true, "srm": true, "trash": true}

// final lists commands that can't be undone, in addition to those that delete something or change another machine.
var final = map[string]bool{"systemctl restart": true, "systemctl kill": true, "service restart": true, "git push": true, "docker push": true}

func commandEffect(p Policy, c shell.Command) action.Effect {
	names := operands(c)
	two := strings.TrimSpace(c.Name() + " " + strings.Join(names[:min(len(names), 1)], ""))
	undo := cmp.Or(undos[two], undos[c.Name()])
	if c.Git != nil {
		undo = undoGit(c.Git, undo)
	}
	e := action.Effect{Final: undo == "" && (final[two] || slices.Contains([]shell.Effect{shell.Deletes, shell.Remote}, ownEffect(c))) && !restores(p, c, names)}
	does := c.Does()
	switch {
	case deleting[c.Name()] && len(names) > 0:
		e.Verb, e.Object = "deletes", list(names)
		e.Count, e.Unit = counted(p, c, names), "file"
	case c.Effect == shell.Unknown && (does == shell.NotKnown || does == "" && c.Reason == ""):
		e.Subject, e.Verb, e.Object = "buddy", "doesn't know what", visible(cmp.Or(c.Name(), "this command"))+" does"
	case does == "":
		e.Verb = visible(c.Reason)
	default:
		e.Verb, e.Object, _ = strings.Cut(visible(does), " ")
	}
	return e
}

func operands(c shell.Command) []string {
	var all []string
	dashes := false
	for _, w := range c.Argv[min(len(c.Argv), 1):] {
		switch {
		case !dashes && w.Text == "--":
			dashes = true
		case dashes || !strings.HasPrefix(w.Text, "-") || w.Text == "-":
			all = append(all, w.Text)
		}
	}
	return all
}

// restores reports whether /undo brings back everything that a command deletes.
func restores(p Policy, c shell.Command, names []string) bool {
	paths := literalPaths(c, names)
	return p.Undoes != nil && deleting[c.Name()] && len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !p.Undoes(path) })
}

// literalPaths returns the absolute paths that a command's operands name. It returns none if a word is known only when
// the command runs.
func literalPaths(c shell.Command, names []string) []string {
	computed := slices.ContainsFunc(c.Argv, func(w shell.Arg) bool { return w.Dynamic || w.Pattern || w.Odd })
	if computed || len(c.Dirs) != 1 {
		return nil
	}
	paths := make([]string, len(names))
	for i, name := range names {
		if paths[i] = name; !filepath.IsAbs(name) {
			paths[i] = filepath.Join(c.Dirs[0], name)
		}
		if strings.HasPrefix(name, "~") || !filepath.IsAbs(paths[i]) {
			return nil
		}
	}
	return paths
}

// counted returns the number of files that a command deletes, or 0 if it is unknown or no folder is deleted.
func counted(p Policy, c shell.Command, names []string) int {
	paths := literalPaths(c, names)
	if p.Count == nil || len(paths) == 0 || len(names) > lossNames {
		return 0
	}
	files, folders := 0, false
	for _, path := range paths {
		n, folder, ok := p.Count(path)
		if !ok {
			return 0
		}
		files, folders = files+n, folders || folder
	}
	if !folders {
		return 0
	}
	return files
}

// fileEffect returns the effect of a file action, as far as the diff does not show it.
func fileEffect(p Policy, a action.Action) action.Effect {
	why, rule := delicateFile(a)
	secret := a.Kind == action.FileRead && keysOf(p, "").secret(a.Path) != ""
	switch {
	case secret:
		return action.Effect{Verb: "shows", Object: "the model a file that may hold secrets", Final: true}
	case a.Kind != action.FileRead && rule == executedRule:
		return action.Effect{Verb: visible(why)}
	case a.Kind != action.FileRead && why != "":
		return action.Effect{Verb: "changes", Object: "a file that may hold secrets"}
	case a.OtherNames > 0 || a.ReadOnly:
		e, _ := reach(a)
		return e
	case !p.inWorkspace(a.Path) && a.Kind == action.FileRead:
		return action.Effect{Verb: "reads", Object: "a file outside this folder"}
	case !p.inWorkspace(a.Path):
		return action.Effect{Verb: "changes", Object: "a file outside this folder"}
	}
	return action.Effect{}
}

// networkEffect returns the effect of a request that may change something or reaches a local host. For any other, it
// returns the zero Effect.
func networkEffect(a action.Action) action.Effect {
	host := visible(cmp.Or(a.Host, "another machine"))
	switch {
	case a.Method != "" && a.Method != "GET" && a.Method != "HEAD":
		return action.Effect{Verb: "sends", Object: fmt.Sprintf("data to %s and may change something there", host), Final: true}
	case a.Local:
		return action.Effect{Subject: host, Verb: "is", Object: "this machine or in your local network"}
	}
	return action.Effect{}
}

// because returns why an action needs approval if that is not due to its effect but to a rule or a fact about its
// target. Otherwise it returns "".
func because(p Policy, a action.Action, report shell.Report, v action.Verdict) string {
	if e, rule := reach(a); rule != "" && effectOf(p, a, report).Text() == e.Text() && v.Reason == e.Text() {
		return ""
	}
	if v.Rule == OutsideFence || v.Rule == ChangedUnseen || strings.HasSuffix(v.Rule, " mode") || v.Rule == p.base(a, report).Rule {
		return ""
	}
	for _, path := range a.Paths {
		one := a
		one.Path = path
		if v.Rule == p.base(one, report).Rule {
			return ""
		}
	}
	return v.Reason
}
