package policy

import (
	"errors"
	"path/filepath"
	"slices"

	"buddy/agent/action"
	"buddy/agent/executed"
	"buddy/agent/policy/shell"
)

// Rules of mode auto.
const (
	// InFence is the rule for a command that mode auto lets run in the workspace fence, and only there.
	InFence = "the fence"
	// OutsideFence is the rule for a command that would run outside of the fence in mode auto.
	OutsideFence = "outside the fence"
	// ChangedInside is the rule for a command outside of the fence that may execute a file which commands
	// inside have changed. It asks in every mode, whatever the rules allow, until a person has seen the change.
	ChangedInside = "changed inside the fence"
)

// CanFence returns why mode auto can't run commands of a target in the fence, with the next step; nil
// if it can. The first call may take some milliseconds.
func CanFence(p Policy, target string) error {
	if p = p.on(action.Action{Target: target}); p.Fence == nil {
		return errNoFence
	}
	return p.Fence()
}

var errNoFence = errors.New("the fence is for commands on this machine only; /approve edits asks about commands there")

// fenced reports whether commands run in the fence, in mode auto.
func fenced(p Policy) bool { return p.Fence != nil && p.Fence() == nil }

// Fences reports whether a command runs in the fence once a person has approved it: in mode auto, unless it
// asks to run outside.
func Fences(p Policy, a action.Action, mode action.Mode) bool {
	if mode != action.ModeAuto || a.Outside || !a.Kind.IsCommand() {
		return false
	}
	if len(a.Targets) == 0 {
		return fenced(p.on(a))
	}
	return slices.ContainsFunc(a.Targets, func(t action.TargetCwd) bool { return fenced(p.on(a.On(t))) })
}

// Folders returns the folders in which a command inside the fence writes: the workspace, then those that
// are treated like it.
func Folders(p Policy, a action.Action) []string {
	all := []action.Action{a}
	for _, t := range a.Targets {
		all = append(all, a.On(t))
	}
	for _, one := range slices.Backward(all) {
		if at := p.on(one); fenced(at) && at.Workspace != "" {
			return append([]string{at.Workspace}, at.Also...)
		}
	}
	return nil
}

// inAuto applies mode auto to the verdict v; base is the verdict without rules. Where there is no fence it
// asks like mode ask.
func inAuto(p Policy, a action.Action, report shell.Report, base, v action.Verdict) action.Verdict {
	switch {
	case !fenced(p):
		return v
	case a.Kind.IsCommand():
		return commandInAuto(p, a, report, base, v)
	case v == base && v.Decision == action.Ask && undoable(p, a):
		return action.Verdict{Decision: action.Allow, Reason: "mode auto allows changing files of the workspace", Rule: "mode auto"}
	}
	return v
}

// commandInAuto returns the verdict on a command in mode auto. Rules that allow lift no fence for
// what may run code: that code may have been written without a question.
func commandInAuto(p Policy, a action.Action, report shell.Report, base, v action.Verdict) action.Verdict {
	free, ruled := base.Decision == action.Allow, v != base
	switch {
	case free && v.Decision == action.Allow, ruled && v.Decision == action.Ask:
		return v
	case !a.Outside:
		return action.Verdict{Decision: action.Allow, Reason: "mode auto: it runs inside the fence", Rule: InFence}
	case v.Decision == action.Allow && !runsCode(report) && !strangeGit(p, report):
		return v
	}
	return action.Verdict{Decision: action.Ask, Reason: "it would run outside the fence: " + base.Reason, Rule: OutsideFence}
}

// undoable reports whether mode auto allows the change of a file by a tool: what mode edits allows, and
// deletions, which can be taken back as well.
func undoable(p Policy, a action.Action) bool {
	if a.Kind == action.FileDelete {
		a.Kind = action.FileWrite
	}
	return p.editable(a)
}

// runsCode reports whether a command may run programs or scripts of the workspace.
func runsCode(report shell.Report) bool {
	return len(report.Other) > 0 || report.Dynamic || slices.ContainsFunc(report.Commands, func(c shell.Command) bool {
		return !c.ReadOnly && (c.Effect == shell.RunsCode || c.Effect == shell.Unknown)
	})
}

// strangeGit reports whether a part of a command is git in a folder that is not compared after commands
// inside the fence, so that the settings there may name programs which nobody has seen.
func strangeGit(p Policy, report shell.Report) bool {
	compared := func(dir string) bool {
		if p.Resolve != nil {
			dir = p.Resolve(dir)
		}
		return slices.ContainsFunc(slices.Concat([]string{p.Workspace}, p.Also), func(root string) bool {
			rel, err := filepath.Rel(root, dir)
			return err == nil && filepath.IsLocal(rel) && !executed.InPackages(rel)
		})
	}
	return slices.ContainsFunc(report.Commands, func(c shell.Command) bool {
		return !c.ReadOnly && c.Name() == "git" && slices.ContainsFunc(c.Dirs, func(dir string) bool { return !compared(dir) })
	})
}

// guardInside requires approval for an allowed command outside of the fence that may execute what commands
// inside have changed.
func guardInside(p Policy, a action.Action, report shell.Report, v action.Verdict) action.Verdict {
	free := v.Rule == ReadOnly || v.Rule == LiteralCore || v.Rule == InFence
	if v.Decision != action.Allow || free || len(p.Inside) == 0 || !isCommand(a.Kind) || !runsCode(report) && !callsGit(report) {
		return v
	}
	return action.Verdict{
		Decision: action.Ask, Rule: ChangedInside,
		Reason: "it may run what commands inside the fence have changed: " + action.ListExecuted(p.Inside),
	}
}

// callsGit reports whether a part of a command is git, which runs hooks and what its settings name.
func callsGit(report shell.Report) bool {
	return slices.ContainsFunc(report.Commands, func(c shell.Command) bool { return c.Git != nil || c.Name() == "git" })
}
