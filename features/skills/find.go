package skills

import (
	"context"
	"errors"
	"strings"

	"buddy/app/project"
	"buddy/app/slash"
	"buddy/extensions"
	"buddy/extensions/skill"
)

// isCommand reports whether a name belongs to a built-in command.
func isCommand(name string) bool {
	if name == "review" { // models load the skill by this name; typed, it is the command
		return false
	}
	_, ok := slash.Find(name)
	_, alias := slash.Aliases[name]
	return ok || alias
}

// Find reads the skills and custom commands of a session.
func Find(ctx context.Context, files *project.Extensions) (Set, error) {
	items, problems, err := files.Find(ctx, isCommand, extensions.Skill, extensions.Command)
	set := Set{Problems: problems}
	for _, it := range items {
		s := skill.New(it)
		set.Skills = append(set.Skills, s)
		if wrong := s.WrongPaths(); len(wrong) > 0 {
			set.Problems = append(set.Problems, extensions.Problem{Kind: s.Kind, File: s.File, Reason: "paths has no pattern of files: " + strings.Join(wrong, ", "), Used: true})
		}
	}
	files.LetPluginsAct(set.Skills)
	if files.Local {
		err = errors.Join(err, project.TrustSkills(set.Skills))
	}
	return set, err
}
