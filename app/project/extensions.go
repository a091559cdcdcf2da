package project

import (
	"context"
	"errors"
	"strings"
	"time"

	"buddy/agent/policy"
	"buddy/config"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/tools/file"
)

// TrustSkills marks the project's skills that are trusted and unchanged, so that they may run commands.
func TrustSkills(all []skill.Skill) error {
	var failed error
	for i := range all {
		part, ok := skillPart(all[i])
		if !ok {
			continue
		}
		var err error
		all[i].Acts, all[i].Changed, err = TrustStore().PartTrusted(all[i].Base, part)
		failed = errors.Join(failed, err)
	}
	return failed
}

// skillPart returns the part to trust before a project's skill may run commands, and false if the skill needs no trust.
func skillPart(s skill.Skill) (config.Part, bool) {
	if s.Origin != extensions.Project || !s.WantsTrust() {
		return config.Part{}, false
	}
	return config.Part{Kind: s.Kind.One(), Name: s.Part, Definition: s.Source, Files: config.FilesNamed(s.Base, s.CommandLines()...)}, true
}

// readTime limits reading the extensions of a folder.
const readTime = 5 * time.Second

// extensionParts returns the skills, commands and styles of a folder that run or grant something.
func extensionParts(dir string) (found Found) {
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		found.leaveOut(dir, "%v", err)
		return found
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	for _, kind := range []extensions.Kind{extensions.Skill, extensions.Command, extensions.Style} {
		all, err := extensions.Read(ctx, kind, extensions.Source{Origin: extensions.Project, Files: there, Dirs: extensions.ProjectDirs([]string{dir}), Inside: dir})
		if err != nil {
			found.leaveOut(dir, "%v", err)
		}
		for _, it := range all.Items {
			if p, ok := extensionPart(it); ok {
				found.Parts = append(found.Parts, p)
			}
		}
	}
	return found
}

// extensionPart returns the part to trust before an extension is used, and false if the extension needs no trust.
func extensionPart(it extensions.Item) (Part, bool) {
	p := Part{File: strings.TrimPrefix(it.File, it.Base+"/")}
	if it.Kind == extensions.Style {
		p.Part, p.Runs, p.When = StylePart(it.Part, it.Source), "changes how answers are written", "applies when you choose it as your style"
		return p, true
	}
	s := skill.New(it)
	part, ok := skillPart(s)
	if !ok {
		return p, false
	}
	p.Part, p.When = part, "applies when you call "+s.Call()+", or the model loads it"
	runs := s.CommandLines()
	if len(s.Allowed) > 0 {
		runs = append(runs, "allows until your next prompt: "+strings.Join(s.Allowed, ", "))
	}
	if s.Model != "" {
		runs = append(runs, "lets this model answer until your next prompt: "+s.Model)
	}
	p.Runs = strings.Join(runs, "\n")
	return p, true
}

// StylePart returns the part to trust before a project's style is used.
func StylePart(name, source string) config.Part {
	return config.Part{Kind: extensions.Style.One(), Name: name, Definition: source}
}
