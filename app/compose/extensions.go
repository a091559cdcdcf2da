package compose

import (
	"context"
	"errors"
	"slices"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/app/project"
	"buddy/extensions"
	"buddy/extensions/subagent"
	"buddy/features/skills"
	"buddy/tools/file"
)

// Commands returns the skills and custom commands that the user may call, none before the session has started.
func (p *Program) Commands(ctx context.Context) []event.CustomCommand {
	if p.Live.runtime() == nil {
		return nil
	}
	return p.Skills.Commands(ctx)
}

// refreshExtensions makes the session read skills, custom commands and subagents again.
func (p *Program) refreshExtensions() {
	p.Skills.Refresh()
	p.Live.do((*agent.Runtime).RefreshAgents)
}

// ExtensionCount holds the number of extensions on this machine, and the problems found.
type ExtensionCount struct {
	Skills, Agents, Styles int // Skills includes custom commands
	Problems               []extensions.Problem
}

// FindExtensions counts the extensions that a session in a folder of this machine would have.
func FindExtensions(ctx context.Context, dir string) (ExtensionCount, error) {
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		return ExtensionCount{}, err
	}
	files := project.NewExtensions(there, true)
	found, failed := skills.Find(ctx, files)
	problems := found.Problems
	for _, s := range found.Skills {
		if s.Withheld != "" {
			problems = append(problems, extensions.Problem{Kind: s.Kind, File: s.File, Reason: "description hidden: " + s.Withheld, Used: true})
		}
	}
	agents, unread, err := files.Unnamed(ctx, extensions.Agent)
	failed = errors.Join(failed, err)
	defs, invalid := subagent.All(agents)
	problems = slices.Concat(problems, unread, invalid)
	styles, wrong, err := stylesIn(ctx, dir, nil)
	return ExtensionCount{len(found.Skills), len(defs), len(styles), append(problems, wrong...)}, errors.Join(failed, err)
}
