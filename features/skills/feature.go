package skills

import (
	"context"
	"fmt"
	"path"

	"buddy/app/project"
	"buddy/app/slash"
	"buddy/config"
	"buddy/extensions/skill"
	"buddy/features/feature"
)

// Feature has the command /skills. [Of] makes the part of a session.
var Feature = &feature.Feature{Commands: []feature.Command{{
	Command: slash.Command{
		Name: "skills", Means: []string{"plugins"}, Args: "[NAME|off NAME|on NAME|open NAME]", Brief: "skills and custom commands",
		Help: "list skills and custom commands with their costs, and those left out with the reasons; switch one off or on for this session",
	},
	Run: run,
}}}

// values is the section [skills].
type values struct{ Off []string }

var settings = config.Own("skills", "Skills and custom commands (docs/extensions.md).", values{}, config.Field[values]{
	Name: "off", Short: "globs of names",
	Doc: "Skills and custom commands that neither you nor the model can use, such as `[\"git:*\", \"old-*\"]`. `/skills` lists all of them.",
	At:  func(v *values) any { return &v.Off },
	Check: func(v string) error {
		if _, err := path.Match(v, ""); err != nil || v == "" {
			return fmt.Errorf("%q is not a glob pattern", v)
		}
		return nil
	},
})

// Of returns the skills of a session.
func Of(c *config.Config, files *project.Extensions, facts skill.Facts) *Book {
	return New(Options{
		Read:  func(ctx context.Context) (Set, error) { return Find(ctx, files) },
		Below: files.LookBelow, IsFile: files.IsFile, Off: settings.In(c).Off, Fill: facts, Away: !files.Local,
	})
}
