package compose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/skills"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/extensions/subagent"
	"buddy/tools/file"
)

// isCommand reports whether a name is one of buddy's own commands.
func isCommand(name string) bool {
	if name == "review" { // models load the skill by this name; who types it gets the command all the same
		return false
	}
	_, ok := slash.Find(name)
	_, alias := slash.Aliases[name]
	return ok || alias
}

// skillOptions returns how the session finds its skills.
func (p *Program) skillOptions() skills.Options {
	o := skills.Options{Read: p.readSkills, Below: p.files.LookBelow, IsFile: p.files.IsFile, Off: p.Config.Skills.Off, Fill: skill.Facts{Project: p.Env.Dir, Session: p.ID}}
	if !p.files.Local {
		o.NoCommands = "the project is on " + p.Dest.Name
	}
	return o
}

// readSkills reads the skills and the custom commands.
func (p *Program) readSkills(ctx context.Context) (skills.Set, error) {
	items, problems, err := p.files.Find(ctx, isCommand, extensions.Skill, extensions.Command)
	set := skills.Set{Problems: problems}
	for _, it := range items {
		s := skill.New(it)
		set.Skills, set.Problems = append(set.Skills, s), append(set.Problems, unfollowed(s)...)
	}
	p.files.LetPluginsAct(set.Skills)
	if p.files.Local {
		err = errors.Join(err, project.TrustSkills(set.Skills))
	}
	return set, err
}

// unfollowed says which settings of a skill do not do what they say.
func unfollowed(s skill.Skill) (all []extensions.Problem) {
	say := func(format string, args ...any) {
		all = append(all, extensions.Problem{Kind: s.Kind, File: s.File, Reason: fmt.Sprintf(format, args...), Used: true})
	}
	if wrong := s.WrongPaths(); len(wrong) > 0 {
		say("paths has no pattern of files: %s", strings.Join(wrong, ", "))
	}
	return all
}

// Commands returns the skills and custom commands that the person may call, once they are read;
// none before the session is there.
func (p *Program) Commands(ctx context.Context) []event.CustomCommand {
	rt := p.Live.runtime()
	if rt == nil {
		return nil
	}
	return rt.Commands(ctx)
}

// ExtensionCount says how many extensions there are on this machine, and what was left out.
type ExtensionCount struct {
	Skills, Agents, Styles int // skills with commands
	Problems               []extensions.Problem
}

// FindExtensions counts the extensions that a session in a folder of this machine would have.
func FindExtensions(ctx context.Context, dir string) (ExtensionCount, error) {
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		return ExtensionCount{}, err
	}
	files := project.NewExtensions(there, true)
	items, problems, failed := files.Find(ctx, isCommand, extensions.Skill, extensions.Command)
	for _, it := range items {
		s := skill.New(it)
		problems = append(problems, unfollowed(s)...)
		if s.Withheld != "" {
			problems = append(problems, extensions.Problem{Kind: s.Kind, File: s.File, Reason: "description hidden: " + s.Withheld, Used: true})
		}
	}
	agents, unread, err := files.Unnamed(ctx, extensions.Agent)
	failed = errors.Join(failed, err)
	defs, left := subagent.All(agents)
	problems = slices.Concat(problems, unread, left)
	styles, wrong, err := stylesIn(ctx, dir, nil)
	return ExtensionCount{len(items), len(defs), len(styles), append(problems, wrong...)}, errors.Join(failed, err)
}
