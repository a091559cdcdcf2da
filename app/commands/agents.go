package commands

import (
	"context"
	"slices"
	"strings"

	"buddy/agent"
	"buddy/agent/subagents"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/extensions/subagent"
	"buddy/features/feature"
)

func init() {
	add(slash.Command{
		Name: "agents", Args: "[NAME|open NAME]", Brief: "list subagents", Help: "list the types of subagents, what each may do, and files that were skipped",
	}, overFiles(listAgents))
}

// listAgents lists the types of subagents.
func listAgents(ctx context.Context, s *Session) (*feature.FileList, error) {
	found, err := ask(ctx, s, func(r *agent.Runtime) subagents.Set { return agent.Subagents(ctx, r) })
	list := s.files("agents", show.List{
		Title: "Subagents", Columns: []string{"name", "from", "description", "limits"}, Empty: "No subagents found.",
		Usage: "Write @NAME in a prompt to give the work to that subagent. /agents NAME shows its definition.",
	})
	for _, def := range found.Agents {
		list.Add(agentRow(def), def.File)
	}
	list.AddProblems(found.Problems)
	return list, err
}

func agentRow(def subagent.Definition) show.Row {
	var limits []string
	if def.Model != "" {
		limits = append(limits, "model "+def.Model)
	}
	if def.Mode != "" {
		limits = append(limits, "mode "+string(def.Mode)+" or stricter")
	}
	if only := def.Only(); only != nil {
		limits = append(limits, "tools: "+strings.Join(slices.Sorted(slices.Values(only)), ", "))
	}
	more := append([]string{def.Description}, limits...)
	return show.Row{
		ID: def.Name, Cells: []string{def.Name, string(def.Origin), def.Description, strings.Join(limits, " · ")},
		More: append(append(more, def.File, ""), strings.Split(def.Prompt, "\n")...),
	}
}
