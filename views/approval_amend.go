package views

import (
	"encoding/json"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
)

// maxExplained is how many rows a note may have when all is explained.
const maxExplained = 6

// explanation is what else is known of the action, as notes.
func (a *Approval) explanation() [][2]string {
	c := a.asked.Context
	undo := c.Undo
	if undo == "" && !c.Reversible {
		undo = "not possible"
	}
	return [][2]string{
		{"does", strings.Join(c.Consequences, "; ")},
		{"undo", undo},
		{"else", strings.Join(c.Alternatives, "; ")},
	}
}

// amend lets the person change the command, or the arguments of another tool.
func (a *Approval) amend() {
	if a.args == "" {
		return
	}
	text := a.args
	if a.asked.Action.Kind == action.Shell {
		text = a.asked.Action.Command
	}
	a.typing, a.amends = NewEditor(), true
	a.typing.Insert(text)
}

// run approves what was typed, this once.
func (a *Approval) run(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	args := text
	if a.asked.Action.Kind == action.Shell {
		var all map[string]any
		var out strings.Builder
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false) // people read it
		if json.Unmarshal([]byte(a.args), &all) != nil {
			return
		}
		all["command"] = text
		if enc.Encode(all) != nil {
			return
		}
		args = strings.TrimSpace(out.String())
	}
	a.send(event.Approve{ID: a.asked.ID, Decision: event.Edit, Args: args})
}
