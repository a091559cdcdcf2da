package policy

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// mutations lists the command effects that change something.
var mutations = []shell.Effect{shell.Writes, shell.Deletes, shell.Remote}

// advise sets c.Mutation and c.Privesc from the model's own statements in the action, the kind of the action, and the
// commands in report.
func advise(c *action.ApprovalContext, a action.Action, report shell.Report) {
	c.Mutation = a.Mutation || a.Kind == action.FileWrite || a.Kind == action.FileDelete
	c.Privesc = a.Privesc
	for _, cmd := range report.Commands {
		c.Mutation = c.Mutation || !cmd.ReadOnly && slices.Contains(mutations, cmd.Effect)
		c.Privesc = c.Privesc || cmd.Effect == shell.Privileged
	}
}
