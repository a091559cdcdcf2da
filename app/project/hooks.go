package project

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
	"buddy/config"
	"buddy/owners"
)

const hookKind = "hook"

// personHooks returns the path of the user's own hooks file.
func personHooks() string { return filepath.Join(xdg.ConfigHome, "buddy", "hooks.json") }

// Hooks holds the current hooks of the user, the project and plugins.
type Hooks struct {
	hooks.Set
	Trusted func(hooks.Handler) (hooks.Handler, error) // see hooks.Options
	Failed  []string                                   // errors of reading hooks
}

// Hooks reads all hooks.
func (s *Source) Hooks() Hooks {
	found := Hooks{Set: PersonHooks(s.Config.Hooks.Also)}
	s.projectHooks(&found)
	if err := s.addPluginHooks(&found.Set); err != nil {
		found.Failed = append(found.Failed, "plugins' hooks are off: "+err.Error())
	}
	return found
}

// personal reports whether a hooks file named in the settings is the user's, and returns its path. A relative path
// names a file of the project.
func personal(file string) (path string, ok bool) {
	if rest, home := strings.CutPrefix(file, "~/"); home {
		return filepath.Join(xdg.Home, rest), true
	}
	return file, filepath.IsAbs(file)
}

// PersonHooks reads the user's hooks, from hooks.json and from the user's files in also.
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

// unread explains why a file is not used, without its name.
func unread(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return "buddy can't read the file: " + p.Err.Error()
	}
	return err.Error()
}

// alsoHooks returns the additional hooks files in the settings that are the project's, for [Parts].
func alsoHooks(c config.Config) []string {
	if !c.Hooks.Enabled {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Hooks.Also), func(file string) bool { _, mine := personal(file); return mine })
}

// projectHooks adds the trusted hooks of the project and, for the others, problems that explain why they do not run. It
// also sets the check that is made before each run of a hook of the project or a plugin.
func (s *Source) projectHooks(set *Hooks) {
	plugins := &pluginTrust{source: s, known: make(map[string]trustedPlugin)}
	set.Trusted = func(h hooks.Handler) (hooks.Handler, error) { return h, plugins.check(h.Origin) }
	if s.Away != "" {
		set.Problems = append(set.Problems, hooks.Problem{File: ".buddy/hooks.json", Reason: "not run: the project is on " + s.Away, Quiet: true})
		return
	}
	checks, problems, err := s.check()
	if err != nil {
		set.Failed = append(set.Failed, "the project's hooks are off: "+err.Error())
		return
	}
	for _, one := range problems {
		if one.File != ".mcp.json" {
			set.Problems = append(set.Problems, hooks.Problem{File: one.File, Reason: one.Reason, Quiet: true}) // the others have notices of their own
		}
	}
	parts := map[string]Part{}
	for _, c := range checks {
		if c.Kind != hookKind {
			continue
		}
		file := filepath.Join(c.Dir, c.File)
		if !c.State.Trusted {
			set.Problems = append(set.Problems, hooks.Problem{File: file, Reason: c.untrusted(c.Name, TrustFirst), Quiet: true})
			continue
		}
		parts[c.Dir+"\x00"+c.Name] = c.Part
		part := hooks.ParsePart([]byte(c.Definition), hooks.Origin{Source: hooks.Project, File: file, Root: c.Dir, Part: c.Name})
		set.Handlers = append(set.Handlers, part.Handlers...) // problems holds their errors
	}
	set.Trusted = func(h hooks.Handler) (hooks.Handler, error) {
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

// hookMoments maps events to descriptions of when their hooks run. Hooks of other events never run.
var hookMoments = map[hooks.Event]string{
	"SessionStart": "runs when a session starts", "SessionEnd": "runs when a session ends", "UserPromptSubmit": "runs when you send a prompt",
	"PreToolUse": "runs before a tool is used", "PermissionRequest": "runs before you are asked", "PostToolUse": "runs after a tool was used",
	"PostToolUseFailure": "runs after a tool failed", "SubagentStart": "runs when a subagent starts", "SubagentStop": "runs when a subagent is done",
	"Stop": "runs when the model is done", "StopFailure": "runs when an answer failed", "PreCompact": "runs before the conversation is compacted",
	"PostCompact": "runs after the conversation was compacted", "Notification": "runs when you are notified",
}

// hookParts returns the hooks of .buddy/hooks.json.
func hookParts(dir string) Found { return hooksIn(dir, hookFile) }

const hookFile = ".buddy/hooks.json"

// hooksIn returns the hooks of a file. A part is named EVENT or EVENT:MATCHER; if the name is taken, #2 and so on
// follow.
func hooksIn(dir, file string) (found Found) {
	text, err := config.ReadProjectFile(dir, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found
	case err != nil:
		found.leaveOut(file, "%v", err)
		return found
	}
	all, problems := hooks.Entries(text, file)
	found.leaveOutHooks(file, problems)
	taken := map[string]int{}
	for _, e := range all {
		definition := map[string]any{"event": e.Event, "matcher": e.Matcher, "hook": decoded(e.Hook)}
		set := hooks.ParsePart([]byte(canonical(definition)), hooks.Origin{Source: hooks.Project})
		found.leaveOutHooks(file, set.Problems)
		for _, h := range set.Handlers { // one or none
			p := hookPart(h)
			p.File = file
			if file != hookFile {
				p.Name += "@" + file
			}
			if taken[p.Name]++; taken[p.Name] > 1 {
				p.Name = fmt.Sprintf("%s#%d", p.Name, taken[p.Name])
			}
			found.add(dir, p, definition, definition["hook"])
		}
	}
	return found
}

// leaveOutHooks adds problems of hooks.
func (f *Found) leaveOutHooks(file string, problems []hooks.Problem) {
	for _, p := range problems {
		f.Problems = append(f.Problems, Problem{File: file, Reason: p.Reason, Quiet: p.Quiet, Limits: p.Guard})
	}
}

// hookPart returns the part of a hook, without its file and definition.
func hookPart(h hooks.Handler) Part {
	p := Part{Runs: h.What(), When: hookMoments[h.Event]}
	p.Kind, p.Name = "hook", string(h.Event)
	if h.Matcher != "" && h.Matcher != "*" {
		p.Name += ":" + h.Matcher
		p.When += fmt.Sprintf(", for %q", h.Matcher)
	}
	if h.Lost != "" {
		p.Runs, p.When = "nothing, because buddy can't read it: "+h.Lost, "makes buddy ask about each call that the hook might apply to"
	}
	return p
}
