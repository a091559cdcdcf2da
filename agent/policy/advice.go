package policy

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// mutations are the effects of commands that change something.
var mutations = []shell.Effect{shell.Writes, shell.Deletes, shell.Remote}

// advise sets whether an action changes something and whether it runs with more rights, from
// the action itself and from what the model declared.
func advise(c *action.ApprovalContext, a action.Action, report shell.Report) {
	c.Mutation = a.Mutation || a.Kind == action.FileWrite || a.Kind == action.FileDelete
	c.Privesc = a.Privesc
	for _, cmd := range report.Commands {
		c.Mutation = c.Mutation || !cmd.ReadOnly && slices.Contains(mutations, cmd.Effect)
		c.Privesc = c.Privesc || cmd.Effect == shell.Privileged
	}
}
