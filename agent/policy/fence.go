package policy

import (
	"errors"
	"fmt"
	"slices"

	"buddy/agent/action"
)

// Names of rules for auto mode.
const (
	// InFence is the rule for a command that auto mode runs in the workspace sandbox.
	InFence = "sandbox"
	// OutsideFence is the rule for a command that would run outside the sandbox in auto mode.
	OutsideFence = "outside the sandbox"
	// ChangedUnseen is the rule for a command that runs outside the sandbox after the workspace was changed without
	// asking. Whatever other rules allow, such commands need approval until the user has seen the list of changes and
	// approved one of them.
	ChangedUnseen = "changed without asking"
	// FenceHosts is the rule for hosts that a command in the sandbox wants to reach. Only rules added in the session
	// can allow such a host: host rules in the settings are meant for other tools. For the sandbox, the settings have
	// allow_hosts in [sandbox].
	FenceHosts = "hosts in the sandbox"
)

// CanFence returns nil if auto mode can run commands of a target in the sandbox, otherwise an error with the reason and
// the next step. The first call may take some milliseconds.
func CanFence(p Policy, target string) error {
	if p = p.on(action.Action{Target: target}); p.Fence == nil {
		return errNoFence
	}
	return p.Fence()
}

var errNoFence = errors.New("the sandbox works on this machine only; on other targets use edits mode (/approve edits), where buddy asks before it runs commands")

func fenced(p Policy) bool { return p.Fence != nil && p.Fence() == nil }

// Fences reports whether an approved command runs in the sandbox: in auto mode, unless it asks to run outside.
func Fences(p Policy, a action.Action, mode action.Mode) bool {
	if mode != action.ModeAuto || a.Outside || !a.Kind.IsCommand() {
		return false
	}
	if len(a.Targets) == 0 {
		return fenced(p.on(a))
	}
	return slices.ContainsFunc(a.Targets, func(t action.TargetCwd) bool { return fenced(p.on(a.On(t))) })
}

// inAuto applies auto mode to the verdict v; base is the verdict without rules. Without a sandbox, auto mode asks the
// user, just as ask mode does.
func inAuto(p Policy, a action.Action, base, v action.Verdict) action.Verdict {
	switch {
	case !fenced(p):
		return v
	case a.Kind.IsCommand():
		return commandInAuto(a, base, v)
	case v == base && v.Decision == action.Ask && undoable(p, a):
		return action.Verdict{Decision: action.Allow, Reason: "auto mode allows changes to files in the workspace", Rule: modeRule(action.ModeAuto)}
	}
	return v
}

func commandInAuto(a action.Action, base, v action.Verdict) action.Verdict {
	free, ruled := base.Decision == action.Allow, v != base
	switch {
	case free && v.Decision == action.Allow, ruled && v.Decision == action.Ask:
		return v
	case !a.Outside:
		return action.Verdict{Decision: action.Allow, Reason: "auto mode: it runs in the sandbox", Rule: InFence}
	case v.Decision == action.Allow:
		return v
	}
	return action.Verdict{Decision: action.Ask, Reason: "it would run outside the sandbox: " + base.Reason, Rule: OutsideFence}
}

// SimilarAll returns the rules that "allow similar this session" would add for an action: the rule of Similar, or one
// rule per host if there are several hosts.
func SimilarAll(p Policy, a action.Action, mode action.Mode) (all []action.Rule, ok bool) {
	parts := []action.Action{a}
	if len(a.Hosts) > 1 {
		parts = nil
		for _, host := range a.Hosts {
			parts = append(parts, a.To(host))
		}
	}
	for _, one := range parts {
		r, ok := p.Similar(one, mode)
		if !ok {
			return nil, false
		}
		all = append(all, r)
	}
	return all, true
}

// offer returns a description of the rules that "allow similar" would add, or "" if there are none.
func offer(p Policy, a action.Action, mode action.Mode) string {
	all, ok := SimilarAll(p, a, mode)
	switch {
	case !ok:
		return ""
	case len(all) > 1:
		return fmt.Sprintf("don't ask again for these %d hosts this session", len(all))
	case len(all[0].Host) > action.ShortHost:
		return "don't ask again for this host this session"
	}
	return "don't ask again for " + visible(all[0].Host) + " this session"
}

// connectContext describes the risk of letting a command connect to a host.
func connectContext(c *action.ApprovalContext) {
	note(c, action.Medium, "", "approval covers all http and https connections of this command to the host")
	c.Reversible = false
}

// undoable reports whether auto mode allows a file tool's change: every change that edits mode allows, and deletions,
// because buddy can undo them too.
func undoable(p Policy, a action.Action) bool {
	if a.Kind == action.FileDelete {
		a.Kind = action.FileWrite
	}
	return p.editable(a)
}

// Unseen reports whether the user must see the list of unseen changes before approving a command, because the command
// would run outside the sandbox after the workspace was changed without asking. It returns false in all mode, which the
// user chooses instead of the sandbox.
func Unseen(p Policy, a action.Action, mode action.Mode) bool {
	return mode != action.ModeAll && leaves(p, a, mode) && PlaceOf(p, a).Marked(mode == action.ModeAuto)
}

// leaves reports whether an approved command could execute changed files of the workspace, because it runs outside the
// sandbox, on this machine or on a target that may have the workspace.
func leaves(p Policy, a action.Action, mode action.Mode) bool {
	if len(a.Targets) > 0 {
		return slices.ContainsFunc(a.Targets, func(t action.TargetCwd) bool { return leaves(p, a.On(t), mode) })
	}
	p = p.on(a)
	fences := a.Kind.IsCommand() && !a.Outside && (p.Boxed || mode == action.ModeAuto && fenced(p))
	return isCommand(a.Kind) && !fences && !p.elsewhere
}

// Elsewhere reports whether an action runs on another machine, which does not have the workspace.
func Elsewhere(p Policy, a action.Action) bool { return p.on(a).elsewhere }

func guardUnseen(p Policy, a action.Action, mode action.Mode, v action.Verdict) action.Verdict {
	held := v.Rule == ReadOnly || v.Rule == LiteralCore || v.Rule == InFence
	if v.Decision != action.Allow || held || !Unseen(p, a, mode) {
		return v
	}
	v = action.Verdict{Decision: action.Ask, Rule: ChangedUnseen, Reason: "it would run outside the sandbox, and files were changed without your approval after you last approved such a command"}
	if mode == action.ModeNone {
		v.Decision = action.Deny
	}
	return v
}
