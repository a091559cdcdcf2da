package compose

import (
	"context"
	"fmt"

	"buddy/agent"
	"buddy/agent/model"
	"buddy/agent/prompt"
	"buddy/agent/subagents"
	"buddy/config"
	"buddy/extensions"
	"buddy/extensions/subagent"
)

// agents returns how the session finds its subagents, and how many may work.
func (p *Program) agents(facts prompt.Facts) agent.Agents {
	c := p.Config.Agents
	return agent.Agents{
		Read: p.readAgents,
		System: func(text string) (string, error) {
			own := facts
			own.Instead, own.Style, own.Tools = text, "", true
			return prompt.System(own)
		},
		Model: p.agentModel,
		Depth: c.Depth, AtOnce: c.AtOnce, Most: c.Session, Turns: c.Turns, Wake: c.Wake,
	}
}

// agentModel returns the model that an agent's definition names, nil when it is not there.
func (p *Program) agentModel(name string) model.Model {
	profile, ok := p.agentProfile(name)
	if !ok {
		return nil
	}
	m, err := p.dependable(profile)
	if err != nil {
		return nil
	}
	return m
}

// agentProfile returns the profile that an agent's definition names; ok is false when it can't be
// used.
func (p *Program) agentProfile(name string) (config.Profile, bool) {
	if name == subagent.SmallModel {
		name = p.Config.Agent.SmallModel
	}
	profile, ok := p.Config.Profile(name)
	return profile, ok && profile.Problem() == ""
}

// readAgents reads the definitions of subagents.
func (p *Program) readAgents(ctx context.Context) (subagents.Set, error) {
	items, problems, err := p.files.findAgents(ctx)
	set := subagents.Set{}
	var left []extensions.Problem
	set.Agents, left = subagent.All(items)
	for i, def := range set.Agents {
		if _, ok := p.agentProfile(def.Model); def.Model == "" || ok {
			continue
		}
		if set.Agents[i].Model = ""; def.Model != subagent.SmallModel {
			left = append(left, extensions.Problem{Kind: extensions.Agent, File: def.File, Used: true, Reason: fmt.Sprintf("model: there is no usable profile %q, so it has the model of who calls it", def.Model)})
		}
	}
	set.Problems = append(problems, left...)
	return set, err
}
