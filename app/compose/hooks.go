package compose

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"buddy/agent/hooks"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/app/slash"
	"buddy/config"
	"buddy/owners"
)

// hookKind is the kind of parts that are hooks.
const hookKind = "hook"

// ChildrenDir returns the folder where the processes are noted that sessions start on this machine.
func ChildrenDir() string { return filepath.Join(xdg.StateHome, "buddy", "children") }

// personHooks returns the path of the person's own file of hooks.
func personHooks() string { return filepath.Join(xdg.ConfigHome, "buddy", "hooks.json") }

// hooks returns what runs the hooks of the person and those of the project and of plugins that the
// person trusts; nil where the settings want none.
func (p *Program) hooks(judge policy.Policy, secrets *redact.Redactor) *hooks.Runner {
	if !p.Config.Hooks.Enabled {
		return nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		p.limits = append(p.limits, "no hook runs: "+err.Error())
		return nil
	}
	if p.Target == slash.ThisMachine {
		cwd = p.Env.Dir
	}
	found := p.findHooks()
	found.say(&p.Setup, cwd)
	return hooks.New(hooks.Options{
		Handlers: found.Handlers, Problems: found.Problems, Policy: judge, Session: p.ID, Transcript: p.Store.File(p.ID), Cwd: cwd, Project: cwd,
		State: ChildrenDir(), OutDir: filepath.Join(p.Store.OutDir(p.ID), "hooks"), Redact: secrets, Trusted: found.trusted, Hold: starter{p}.holdHook, Env: starter{p}.startEnv(),
	})
}

// foundHooks are the hooks that the person's files, the project's and plugins have now.
type foundHooks struct {
	hooks.Set
	trusted func(hooks.Handler) (hooks.Handler, error) // see hooks.Options
	failed  []string                                   // what could not be read
}

// findHooks reads all hooks.
func (s *Setup) findHooks() foundHooks {
	found := foundHooks{Set: PersonHooks(s.Config.Hooks.Also)}
	s.projectHooks(&found)
	if err := s.addPluginHooks(&found.Set); err != nil {
		found.failed = append(found.failed, "no hook of a plugin runs: "+err.Error())
	}
	return found
}

// say says what is wrong with the hooks of a session that runs them in a folder.
func (f *foundHooks) say(s *Setup, cwd string) {
	s.limits = append(s.limits, f.failed...)
	for _, h := range f.Handlers {
		if file := h.Missing(cwd, cwd); file != "" {
			s.note(fmt.Sprintf("hook %s (%s): %s does not exist", h.Name(), h.Event, file))
		}
	}
	for _, problem := range f.Problems {
		switch text := "hook left out: " + problem.String(); {
		case problem.Guard:
			s.limits = append(s.limits, text)
		case !problem.Quiet:
			s.note(text)
		}
	}
}

// personal reports whether a file named in the settings is the person's: those of the project are
// relative to it.
func personal(file string) (path string, ok bool) {
	if rest, home := strings.CutPrefix(file, "~/"); home {
		return filepath.Join(xdg.Home, rest), true
	}
	return file, filepath.IsAbs(file)
}

// PersonHooks reads the hooks of the person, in hooks.json and in the person's files among also.
func PersonHooks(also []string) (set hooks.Set) {
	files := []string{personHooks()}
	for _, name := range also {
		if path, ok := personal(name); ok {
			files = append(files, path)
		}
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = owners.CheckOwn(file)
		}
		origin := hooks.Origin{Source: hooks.Person, File: file}
		switch {
		case err == nil:
			set.Add(hooks.Parse(text, origin))
		case !errors.Is(err, fs.ErrNotExist):
			set.Add(hooks.Unread(origin, unread(err)))
		case i > 0:
			set.Problems = append(set.Problems, hooks.Problem{File: file, Reason: unread(err)})
		}
	}
	return set
}

// unread says why a file is not used, without its name.
func unread(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return "buddy can't read the file: " + p.Err.Error()
	}
	return err.Error()
}

// alsoHooks returns the files of the project that the settings name beside its own file of hooks,
// as ProjectParts takes them.
func alsoHooks(c config.Config) []string {
	if !c.Hooks.Enabled {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Hooks.Also), func(file string) bool { _, mine := personal(file); return mine })
}

// projectHooks adds the hooks of the project that are trusted, and says of the others why they do not
// run; and what reports why a hook of the project or of a plugin that was trusted must not run any more.
func (s *Setup) projectHooks(set *foundHooks) {
	plugins := &pluginTrust{setup: s, known: make(map[string]trustedPlugin)}
	set.trusted = func(h hooks.Handler) (hooks.Handler, error) { return h, plugins.check(h.Origin) }
	if s.Target != slash.ThisMachine {
		set.Problems = append(set.Problems, hooks.Problem{File: ".buddy/hooks.json", Reason: "not run: the project is on " + s.Target, Quiet: true})
		return
	}
	checks, problems, err := s.checkParts()
	if err != nil {
		set.failed = append(set.failed, "no hook of the project runs: "+err.Error())
		return
	}
	for _, one := range problems {
		if one.File != ".mcp.json" {
			set.Problems = append(set.Problems, hooks.Problem{File: one.File, Reason: one.Reason, Quiet: true}) // a notice of its own says the others
		}
	}
	parts := map[string]ProjectPart{}
	for _, c := range checks {
		if c.Kind != hookKind {
			continue
		}
		file := filepath.Join(c.Dir, c.File)
		if !c.State.Trusted {
			set.Problems = append(set.Problems, hooks.Problem{File: file, Reason: fmt.Sprintf("%s is %s (/trust)", c.Name, c.state()), Quiet: true})
			continue
		}
		parts[c.Dir+"\x00"+c.Name] = c.ProjectPart
		part := hooks.ParsePart([]byte(c.Definition), hooks.Origin{Source: hooks.Project, File: file, Root: c.Dir, Part: c.Name})
		set.Handlers = append(set.Handlers, part.Handlers...) // what is wrong with them is among problems
	}
	set.trusted = func(h hooks.Handler) (hooks.Handler, error) {
		part, ok := parts[h.Origin.Root+"\x00"+h.Origin.Part]
		if !ok {
			return h, plugins.check(h.Origin)
		}
		var err error
		h.Copies, err = part.copied(func(c *config.Copies) (err error) {
			if h.Direct {
				h.Command, h.Args, err = program(c.Args(append([]string{h.Command}, h.Args...)))
			} else {
				h.Command, err = c.Line(h.Command)
			}
			return err
		})
		return h, err
	}
}
