package compose

import (
	"context"
	"fmt"

	"buddy/agent"
	"buddy/agent/model"
	"buddy/agent/prompt"
	"buddy/agent/redact"
	"buddy/agent/subagents"
	"buddy/app/project"
	"buddy/config"
	"buddy/extensions"
	"buddy/extensions/subagent"
	"buddy/features/review"
)

// agents returns the session's source of subagents and their limits.
func (p *Program) agents(facts prompt.Facts, secret *redact.Redactor) agent.Agents {
	own := agentFiles{p.Config, p.files, p.dependable}
	return agent.Agents{
		Read: own.read,
		System: func(text string) string {
			theirs := facts
			theirs.Instead, theirs.Style, theirs.Tools = text, "", true
			return prompt.System(theirs)
		},
		Model: own.model, Limits: p.Config.Agents, Isolate: isolator{p}.isolate,
		Review: review.Reviewer{Folder: review.On(p.Targets), OutDir: p.Store.OutDir(p.ID), Redact: secret, Publish: p.Live.Publish}.Review,
	}
}

// agentFiles reads the definitions of subagents and resolves the models they name.
type agentFiles struct {
	config  config.Config
	files   *project.Extensions
	connect func(config.Profile) (model.Model, error)
}

// model returns the model that an agent's definition names, nil if it can't be used.
func (a agentFiles) model(name string) model.Model {
	profile, ok := a.profile(name)
	if !ok {
		return nil
	}
	m, err := a.connect(profile)
	if err != nil {
		return nil
	}
	return m
}

// profile returns the profile that an agent's definition names; ok is false if it can't be used.
func (a agentFiles) profile(name string) (config.Profile, bool) {
	if name == subagent.SmallModel {
		name = a.config.Agent.SmallModel
	}
	profile, ok := a.config.Profile(name)
	return profile, ok && profile.Problem() == ""
}

func (a agentFiles) read(ctx context.Context) (subagents.Set, error) {
	items, problems, err := a.files.Unnamed(ctx, extensions.Agent)
	set := subagents.Set{}
	var invalid []extensions.Problem
	set.Agents, invalid = subagent.All(items)
	for i, def := range set.Agents {
		if _, ok := a.profile(def.Model); def.Model == "" || ok {
			continue
		}
		if set.Agents[i].Model = ""; def.Model != subagent.SmallModel {
			invalid = append(invalid, extensions.Problem{Kind: extensions.Agent, File: def.File, Used: true, Reason: fmt.Sprintf("model: profile %q can't be used, so the subagent uses its caller's model", def.Model)})
		}
	}
	set.Problems = append(problems, invalid...)
	return set, err
}
