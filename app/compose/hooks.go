package compose

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/agent/hooks"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/app/project"
	"buddy/app/slash"
)

// ChildrenDir returns the folder with records of the processes that sessions start on this machine.
func ChildrenDir() string { return filepath.Join(xdg.StateHome, "buddy", "children") }

// hooks returns the runner for the user's hooks and the trusted hooks of the project and plugins; nil if the settings
// disable hooks.
func (p *Program) hooks(judge policy.Policy, secrets *redact.Redactor) *hooks.Runner {
	if !p.Config.Hooks.Enabled {
		return nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		p.limits = append(p.limits, "hooks are off: "+err.Error())
		return nil
	}
	if p.Target == slash.ThisMachine {
		cwd = p.Env.Dir
	}
	found := p.Project().Hooks()
	noteHookProblems(&p.Setup, &found, cwd)
	return hooks.New(hooks.Options{
		Handlers: found.Handlers, Problems: found.Problems, Policy: judge, Session: p.ID, Transcript: p.Store.File(p.ID), Cwd: cwd, Project: cwd,
		State: ChildrenDir(), OutDir: filepath.Join(p.Store.OutDir(p.ID), "hooks"), Redact: secrets, Trusted: found.Trusted, Hold: starter{p}.holdHook, Env: starter{p}.startEnv(),
	})
}

// noteHookProblems adds notices about problems of hooks that run in cwd.
func noteHookProblems(s *Setup, f *project.Hooks, cwd string) {
	s.limits = append(s.limits, f.Failed...)
	for _, h := range f.Handlers {
		if file := h.Missing(cwd, cwd); file != "" {
			s.note(fmt.Sprintf("hook %s (%s): %s does not exist", h.Name(), h.Event, file))
		}
	}
	for _, problem := range f.Problems {
		switch text := "hook skipped: " + problem.String(); {
		case problem.Guard:
			s.limits = append(s.limits, text)
		case !problem.Quiet:
			s.note(text)
		}
	}
}
