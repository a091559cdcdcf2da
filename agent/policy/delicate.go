package policy

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/autorun"
)

// executedRule is the rule for changing a file that another program executes.
const executedRule = "executed files"

// delicate returns why changing a file needs approval even where file changes are allowed, and the name of the rule
// that requires it. Both are "" if the file is ordinary.
func delicate(name string) (why, rule string) {
	if s := Secret(name); s != "" {
		return s + " may hold secrets", "delicate files"
	}
	if s := autorun.Reason(name); s != "" {
		return s, executedRule
	}
	return "", ""
}

// delicateFile calls delicate for the real name of a's file and for the symbolic links that led to it.
func delicateFile(a action.Action) (why, rule string) {
	for _, name := range slices.Concat([]string{a.Path}, a.Links) {
		if why, rule = delicate(name); why != "" {
			return why, rule
		}
	}
	return "", ""
}

// changeReason returns why a change or deletion of a file needs approval, and the name of the rule that requires it.
func changeReason(a action.Action) (why, rule string) {
	if why, rule = delicateFile(a); why != "" {
		return why, rule
	}
	if a.Kind == action.FileDelete {
		return "deletes a file", "file delete"
	}
	return "changes a file", "file write"
}

// isDelicate reports whether a's file may hold secrets, or whether a changes a file that another program executes.
// Merely reading such an executable file does not count.
func isDelicate(a action.Action) bool {
	why, rule := delicateFile(a)
	return why != "" && (a.Kind != action.FileRead || rule != executedRule)
}

// editable reports whether edits mode allows a write to a file.
func (p Policy) editable(a action.Action) bool {
	return a.Kind == action.FileWrite && p.inWorkspace(a.Path) && a.Path != p.Workspace && !slices.Contains(p.Also, a.Path) && !isDelicate(a) && !a.Privesc
}
