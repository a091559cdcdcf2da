// Package policy decides what may run without asking. It judges an Action, which says
// what will really happen, never the text that asked for it, and gives its reason.
//
//	p := policy.Policy{Workspace: "/home/ann/shop"}
//	v := p.Judge(act, action.ModeAsk) // v.Decision, v.Reason
//
// What it does not know it asks about.
package policy

import (
	"path/filepath"

	"buddy/agent/action"
)

// Policy holds what verdicts depend on. It is read-only and safe for concurrent use.
type Policy struct {
	// Workspace is the folder, symbolic links resolved, in which ordinary files may be
	// read without asking.
	Workspace string
}

// Judge says what is to happen with a.
func (p Policy) Judge(a action.Action, mode action.Mode) action.Verdict {
	v := p.ask(a)
	if v.Decision != action.Ask {
		return v
	}
	switch mode {
	case action.ModeAll:
		return action.Verdict{Decision: action.Allow, Reason: "mode all allows everything", Rule: "mode all"}
	case action.ModeNone:
		return action.Verdict{Decision: action.Deny, Reason: "mode none denies what would need an approval: " + v.Reason, Rule: "mode none"}
	default:
		return v
	}
}

// ask is the verdict of mode ask.
func (p Policy) ask(a action.Action) action.Verdict {
	switch a.Kind {
	case action.FileRead:
		if secret := Secret(a.Path); secret != "" {
			return action.Verdict{Decision: action.Ask, Reason: secret + " may hold secrets", Rule: "secret files"}
		}
		if !p.inWorkspace(a.Path) {
			return action.Verdict{Decision: action.Ask, Reason: "outside the workspace " + p.Workspace, Rule: "workspace"}
		}
		return action.Verdict{Decision: action.Allow, Reason: "reads a file of the workspace", Rule: "workspace"}
	case action.Shell:
		return action.Verdict{Decision: action.Ask, Reason: "every shell command is asked about", Rule: "shell"}
	case action.FileWrite:
		return action.Verdict{Decision: action.Ask, Reason: "changes a file", Rule: "file write"}
	default:
		return action.Verdict{Decision: action.Ask, Reason: "not known to be harmless", Rule: "unknown action"}
	}
}

func (p Policy) inWorkspace(path string) bool {
	if p.Workspace == "" || !filepath.IsAbs(path) {
		return false
	}
	rel, err := filepath.Rel(p.Workspace, path)
	return err == nil && filepath.IsLocal(rel)
}
